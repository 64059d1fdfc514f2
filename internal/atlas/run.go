// Package atlas runs every scenario on every Kafka release and writes down where the behaviour of the classic protocol changed, in
// which release and why (docs/atlas.md). What changed is in the scenarios: a block has a text for each range of releases. Why it
// changed is in explanations.txt, written by hand. A cell without an explanation, or with another text than that of its release, is
// an error.
package atlas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// Options say what to run.
type Options struct {
	Releases  []string
	Scenarios []*conformance.Scenario

	// Open starts a broker of the release, of a profile that scenarios name ("" is the default one).
	Open func(ctx context.Context, release, profile string) (target.Target, error)

	// Brokers is how many brokers run at a time, Parallel how many scenarios on each; 0 means 2, and 8 or, where a profile has few
	// scenarios, twice as many: most of them wait.
	Brokers, Parallel int

	// OutDir is where failures are kept, as conformance.Suite has it.
	OutDir string

	// Reuse is an earlier run: the cells of scenarios that have not changed since and passed are taken from it. May be nil.
	Reuse *Run

	// Say is told what happened, a line at a time.
	Say func(format string, args ...any)
}

// Run is what was seen.
type Run struct {
	Cells []Cell
	Took  time.Duration
}

// Cell is one scenario on one release.
type Cell struct {
	Release, Scenario string
	Text              string // digest of the scenario's text
	Status            conformance.Status
	Reason            string // why it was not asked, or could not be run
	Lacks             conformance.Lack
	Failure           string // the block that differs, for a person
	Unsteady          bool   // it failed at first and passed when it was run again alone, or more slowly
}

// stands says whether the cell would come out so again: it passed, or the release has no such version, or the scenario is a slow one. Other
// reasons why a scenario was not asked are those of the run, such as a topic that could not be created.
func (c Cell) stands() bool {
	return c.Status == conformance.Pass || c.Status == conformance.Skip && (c.Lacks.API != "" || c.Lacks.Time)
}

// Find returns the cell.
func (r *Run) Find(release, scenario string) (Cell, bool) {
	for _, c := range r.Cells {
		if c.Release == release && c.Scenario == scenario {
			return c, true
		}
	}
	return Cell{}, false
}

// Do runs all scenarios on all releases. Its error says that a broker could not be had; failures are in the cells.
func (o Options) Do(ctx context.Context) (*Run, error) {
	began := time.Now()
	var mu sync.Mutex
	run := &Run{}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(max(1, cmpOr(o.Brokers, 2)))
	for _, release := range o.Releases {
		all.Go(func() error {
			cells, err := o.release(ctx, release)
			if err != nil {
				return fmt.Errorf("release %s: %w", release, err)
			}
			mu.Lock()
			defer mu.Unlock()
			run.Cells = append(run.Cells, cells...)
			return nil
		})
	}
	err := all.Wait()
	slices.SortFunc(run.Cells, func(a, b Cell) int {
		if n := slices.Index(o.Releases, a.Release) - slices.Index(o.Releases, b.Release); n != 0 {
			return n
		}
		return strings.Compare(a.Scenario, b.Scenario)
	})
	run.Took = time.Since(began)
	return run, err
}

func cmpOr(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// release runs all scenarios on one release: a broker for each profile, one after the other.
func (o Options) release(ctx context.Context, release string) ([]Cell, error) {
	var cells []Cell
	profiles := map[string][]*conformance.Scenario{}
	for _, sc := range o.Scenarios {
		if o.Reuse != nil {
			if c, ok := o.Reuse.Find(release, sc.Name); ok && c.Text == textDigest(sc) && c.stands() {
				cells = append(cells, c)
				continue
			}
		}
		profiles[sc.File.Profile] = append(profiles[sc.File.Profile], sc)
	}
	names := make([]string, 0, len(profiles))
	for name := range profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fresh, err := o.profile(ctx, release, name, profiles[name])
		if err != nil {
			return nil, err
		}
		cells = append(cells, fresh...)
	}
	return cells, nil
}

func (o Options) profile(ctx context.Context, release, profile string, scenarios []*conformance.Scenario) (cells []Cell, err error) {
	began := time.Now()
	tg, err := o.Open(ctx, release, profile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tg.Close()) }()
	opened := time.Since(began)
	parallel := 28
	if len(scenarios) <= 2*parallel+8 {
		parallel *= 2
	}
	suite := conformance.Suite{Scenarios: scenarios, Parallel: cmpOr(o.Parallel, parallel), OutDir: o.OutDir}
	report, err := suite.Run(ctx, tg, nil)
	if err != nil {
		return nil, err
	}
	count := map[conformance.Status]int{}
	for i, res := range report.Results {
		c := cell(release, scenarios[i], res)
		if c.Status == conformance.Fail || c.Status == conformance.Broken {
			// Two brokers and their scenarios may be more than a machine can do in time: what counts is what it gives alone.
			alone := conformance.Suite{Scenarios: scenarios[i : i+1], Parallel: 1, OutDir: o.OutDir}
			again, err := alone.Run(ctx, tg, nil)
			if err != nil {
				return nil, err
			}
			c = cell(release, scenarios[i], again.Results[0])
			c.Unsteady = true
		}
		if c.Unsteady && c.Status == conformance.Pass {
			o.Say("%s: %s failed at first and passed when it was run again", release, c.Scenario)
		}
		count[c.Status]++
		cells = append(cells, c)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	o.Say("%s: open in %.1f s, %d scenarios in %.0f s: %d as its text says, %d not asked, %d otherwise", release, opened.Seconds(), len(cells),
		(time.Since(began) - opened).Seconds(), count[conformance.Pass], count[conformance.Skip], count[conformance.Fail]+count[conformance.Broken])
	return cells, nil
}

func cell(release string, sc *conformance.Scenario, res conformance.Result) Cell {
	c := Cell{Release: release, Scenario: sc.Name, Text: textDigest(sc), Status: res.Status, Reason: res.Reason, Lacks: res.Lacks, Unsteady: res.Unsteady != nil}
	if res.Failure != nil {
		c.Failure = res.Failure.String()
	}
	return c
}
