package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/checker/runs"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/model/classic"
)

// judge is one judge of a part; it tells what it found, or nothing. It is given so much of the processor, some ten times of what it takes where there
// is nothing to be found: a mutant with which it takes more hangs, which is noticed.
type judge struct {
	name  string
	limit time.Duration
	find  func(context.Context) string

	erratic bool // it does not do the same each time, so that one run does not tell what another will meet
}

// judges are the judges of each part, the cheapest first. The tests of the part itself are none.
var judges = map[Part][]judge{
	Core: {
		{name: "lock-step", limit: 5 * time.Second, find: func(context.Context) string { return walks(0, 4, 40, 60, false) }},
		{name: "scenarios", limit: 5 * time.Second, find: func(ctx context.Context) string { return scenarios(ctx, "impl") }},
		{name: "healing", limit: 5 * time.Second, find: func(context.Context) string { return walks(0, 4, 40, 60, true) }},
		{name: "monitors", limit: 5 * time.Second, find: func(context.Context) string { return watched() }},
		{name: edges, limit: 15 * time.Second, find: func(context.Context) string { return walksAtTheEdges(0, 8, 40, 80) }},
		{name: "plays", limit: 5 * time.Second, find: func(context.Context) string { return plays() }},
		{name: foreign, limit: 10 * time.Second, find: func(context.Context) string { return walksFromForeignLogs(0, 12, 40, 25) }},
		{name: "beats", limit: 10 * time.Second, find: func(context.Context) string { return walksOfBeats(0, 8, 20, 60) }},
		{name: "slow log", limit: 15 * time.Second, find: func(context.Context) string { return walksOnASlowLog(0, 8, 30, 60) }},
		{name: "scenarios over TCP", limit: 15 * time.Second, find: overTCP, erratic: true},
		{name: "longer walks", limit: 15 * time.Second, find: func(context.Context) string { return walks(0, 24, 40, 100, false) }},
		{name: "exploration", limit: 20 * time.Second, find: besideEachOther},
	},
	Model: {
		{name: "scenarios", limit: 5 * time.Second, find: func(ctx context.Context) string { return scenarios(ctx, "model", "model:reference", "model:3.9.2") }},
		{name: "lock-step", limit: 5 * time.Second, find: func(context.Context) string { return walks(0, 4, 40, 60, false) }},
		{name: "scenarios of old releases", limit: 10 * time.Second, find: func(ctx context.Context) string { return scenarios(ctx, oldReleases...) }},
		{name: "recorded histories", limit: 5 * time.Second, find: recorded, erratic: true},
		{name: "recorded logs", limit: 10 * time.Second, find: logs},
		{name: edges, limit: 15 * time.Second, find: func(context.Context) string { return walksAtTheEdges(0, 8, 40, 80) }},
		{name: foreign, limit: 10 * time.Second, find: func(context.Context) string { return walksFromForeignLogs(0, 12, 40, 25) }},
		{name: "longer walks", limit: 15 * time.Second, find: func(context.Context) string { return walks(0, 24, 40, 100, false) }},
		{name: byItself, limit: 40 * time.Second, find: alone},
		{name: "exploration", limit: 20 * time.Second, find: besideEachOther},
	},
}

// oldReleases are further ones that the specification describes.
var oldReleases = []string{"model:4.0.2", "model:4.4.0", "model:3.9.2+java", "model:3.3.2", "model:3.2.3", "model:2.8.2", "model:2.4.1"}

// unspoken are scenarios that the specification is not put through as any release: they are about how an answer is written, which is not its own.
var unspoken = map[string]bool{"static-old-leader": true}

// walks walks the coordinator beside the specification.
func walks(from, to uint64, checks, steps int, heal bool) string {
	return walksOf(from, to, checks, steps, func(seed uint64) (embedded.Options, lockstep.Options) {
		settings, o := embedded.Walk(seed)
		o.Heal = heal
		return settings, o
	}, walk)
}

// walksOf makes walks of one kind, from one seed after the other, until one finds something.
func walksOf(from, to uint64, checks, steps int, kind func(seed uint64) (embedded.Options, lockstep.Options), walk func(embedded.Options, lockstep.Options) string) string {
	for seed := from; seed < to; seed++ {
		settings, o := kind(seed)
		o.Checks, o.Steps, o.AsFound = checks, steps, true
		if found := walk(settings, o); found != "" {
			return found
		}
	}
	return ""
}

// edges is the judge of walksAtTheEdges.
const edges = "walks at the edges"

// walksAtTheEdges walks where clients and logs do what they seldom do.
func walksAtTheEdges(from, to uint64, checks, steps int) string {
	return walksOf(from, to, checks, steps, embedded.WalkEdges, walk)
}

// foreign is the judge of walksFromForeignLogs.
const foreign = "foreign logs"

// walksFromForeignLogs walks from what other brokers and older releases have written.
func walksFromForeignLogs(from, to uint64, checks, steps int) string {
	return walksOf(from, to, checks, steps, embedded.WalkForeign, walk)
}

// walksOfBeats walks where heartbeats go the way that a server has for them.
func walksOfBeats(from, to uint64, checks, steps int) string {
	return walksOf(from, to, checks, steps, embedded.WalkEdges, func(settings embedded.Options, o lockstep.Options) string {
		return walkOn(settings, o, func(s embedded.Options) checker.Machine { return embedded.NewBeating(s) })
	})
}

// plays plays step by step what walks do not come to.
func plays() string {
	if err := embedded.Plays(); err != nil {
		return err.Error()
	}
	return ""
}

// walksOnASlowLog walks while writes are open, or take too long.
func walksOnASlowLog(from, to uint64, checks, steps int) string {
	return walksOf(from, to, checks, steps, embedded.WalkSlow, func(settings embedded.Options, o lockstep.Options) string {
		return walkOn(settings, o, func(s embedded.Options) checker.Machine { return embedded.NewSlow(s) })
	})
}

func walk(settings embedded.Options, o lockstep.Options) string {
	return walkOn(settings, o, func(s embedded.Options) checker.Machine { return embedded.NewMachineWith(s) })
}

func walkOn(settings embedded.Options, o lockstep.Options, machine func(embedded.Options) checker.Machine) string {
	faults := 0
	settings.Report = func(err error) {
		if isFault(err) {
			faults++
		}
	}
	r := lockstep.Rapid(func() checker.Machine { return machine(settings) }, o)
	switch {
	case r.Violation != nil:
		return r.Violation.Error()
	case r.Err != nil:
		return r.Err.Error()
	case faults > 0:
		return "the coordinator reports an inconsistency"
	}
	return ""
}

// watched has monitors look on while there are more members than the specification has room for.
func watched() string {
	for seed := range uint64(2) {
		settings, o := embedded.Walk(4*(2*seed) + 1)
		o.Setup.Groups, o.Setup.Clients, o.Setup.Instances = 1+int(seed%2), 12, 4
		o.Checks, o.Steps, o.Watch, o.Blind, o.Heal, o.AsFound = 4, 200, monitor.All(), true, true, true
		if found := walk(settings, o); found != "" {
			return found
		}
	}
	return ""
}

// scenarios plays all scenarios on targets, each with the settings that it asks for.
func scenarios(ctx context.Context, names ...string) string {
	for _, name := range names {
		all, err := conformance.Scenarios()
		if err != nil {
			return err.Error()
		}
		for _, set := range conformance.ByProfile(all) {
			if found := played(ctx, name, set); found != "" {
				return found
			}
		}
	}
	return ""
}

func played(ctx context.Context, name string, set conformance.ProfileSet) string {
	faults := 0
	tg, err := opened(name, set.Profile, func(err error) {
		if isFault(err) {
			faults++
		}
	})
	if err != nil {
		return err.Error()
	}
	defer tg.Close()
	for _, s := range set.Scenarios {
		if name != "impl" && unspoken[s.Name] {
			continue
		}
		rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Exact: true, Slow: true, Hasty: true, OutDir: os.DevNull}.Run(ctx, tg, nil)
		if err != nil {
			return err.Error()
		}
		if r := rep.Results[0]; r.Status != conformance.Pass && r.Status != conformance.Skip {
			return fmt.Sprintf("%s on %s: %s", s.Name, name, r.Status)
		}
		if faults > 0 {
			return s.Name + ": the coordinator reports an inconsistency"
		}
	}
	return ""
}

// patience is how long a scenario may let pass to be played over TCP: those that wait for timers take real time, and have been played without.
const patience = 300 * time.Millisecond

// timed are scenarios that are played over TCP all the same, one for each kind of timer: a server has its own way to run them.
var timed = []string{"session-expires", "join-timeout-expels", "sync-timer-expels"}

// overTCP plays scenarios on the coordinator behind a socket, where answers have to be what their version says. On a machine that is busy one may fail for
// nothing: it has to fail three times.
func overTCP(ctx context.Context) string {
	tg, err := embedded.NewTCP(ctx, embedded.Options{})
	if err != nil {
		return "the target cannot be opened: " + err.Error()
	}
	defer tg.Close()
	all, err := conformance.Scenarios()
	if err != nil {
		return err.Error()
	}
	var quick, slow []*conformance.Scenario
	for _, s := range conformance.ByProfile(all)[0].Scenarios {
		switch {
		case slices.Contains(timed, s.Name):
			slow = append(slow, s)
		case s.Estimate(tg.Capabilities()) <= patience:
			quick = append(quick, s)
		}
	}
	quick = append(slow, quick...) // what takes longest begins
	for range 3 {
		rep, err := conformance.Suite{Scenarios: quick, Exact: true, Parallel: 32, OutDir: os.DevNull}.Run(ctx, tg, nil)
		if err != nil {
			return err.Error()
		}
		var failed []*conformance.Scenario
		for i, r := range rep.Results {
			late := r.Status == conformance.Broken && slices.Contains(timed, r.Scenario) // by a machine that is busy
			if r.Status != conformance.Pass && r.Status != conformance.Skip && !late {
				failed = append(failed, quick[i])
			}
		}
		if quick = failed; len(quick) == 0 {
			return ""
		}
	}
	return quick[0].Name + " over TCP"
}

// breaking says whether a scenario notices that the specification breaks a rule.
func breaking(ctx context.Context, name string, rule classic.RuleID) (bool, error) {
	all, err := conformance.Scenarios()
	if err != nil {
		return false, err
	}
	for _, set := range conformance.ByProfile(all) {
		tg, err := model.New(model.Options{Name: name, Profile: set.Profile, Broken: []classic.RuleID{rule}}, nil)
		if err != nil {
			return false, err
		}
		for _, s := range set.Scenarios {
			if unspoken[s.Name] || !slices.Contains(s.File.Rules, rule.String()) {
				continue
			}
			rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Exact: true, Slow: true, Hasty: true, OutDir: os.DevNull}.Run(ctx, tg, nil)
			if err != nil {
				return false, err
			}
			if rep.Results[0].Status == conformance.Fail {
				return true, nil
			}
		}
		if err := tg.Close(); err != nil {
			return false, err
		}
	}
	return false, nil
}

func opened(name, profile string, report func(error)) (target.Target, error) {
	if name != "impl" {
		return model.New(model.Options{Name: name, Profile: profile}, nil)
	}
	o, err := embedded.Profile(profile)
	if err != nil {
		return nil, err
	}
	o.Report = report
	return embedded.New(o)
}

// besideEachOther looks at every joint state of the coordinator and the specification, for two members.
func besideEachOther(ctx context.Context) string {
	found, err := runs.Find("joint-core", 2)
	if err != nil || len(found) != 1 {
		return fmt.Sprint(found, err)
	}
	return explored(ctx, found[0].Beside(embedded.JointBench))
}

// alone explores the specification alone: what must hold in every state, and whether there are as many states as ever, which tells of one that
// is needless but harmless.
func alone(ctx context.Context) string {
	for _, r := range runs.At(runs.Verdict) {
		if r.Joint != nil {
			continue
		}
		if found := explored(ctx, r); found != "" {
			return found
		}
	}
	return ""
}

// explored makes a run until something is found, or there are more states than there should be.
func explored(ctx context.Context, r runs.Run) string {
	known, ok := r.Known()
	if !ok {
		return "nothing is known of " + r.Name
	}
	out := r.Explore(ctx, explore.Options{Workers: 1, StopAtViolation: true, MaxStates: int(known.States) + 1}, nil)
	switch {
	case len(out.Violations) > 0:
		return fmt.Sprintf("%s: %s", r.Name, out.Violations[0].Property)
	case !out.Complete:
		return fmt.Sprintf("%s%s: not at an end: %s", bySize, r.Name, out.Report.String())
	case !out.Ok():
		return fmt.Sprintf("%s%s: %s, not reached: %v", bySize, r.Name, out.Surprise, out.Missing)
	}
	return ""
}

// byItself is the judge that explores the specification alone; what it finds by counting states is told as of bySizes.
const byItself, bySizes = "exploration of the specification", "sizes of explorations"

// bySize marks what only the numbers of an exploration tell; it has a column of its own.
const bySize = "size: "

// recorded judges what real brokers did once more.
func recorded(ctx context.Context) string {
	files, err := filepath.Glob(filepath.Join(histories, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return fmt.Sprintf("no histories in %s: %v", histories, err)
	}
	for _, file := range files {
		v, _, err := linearize.CheckFile(ctx, file, linearize.Limits{})
		if err != nil {
			return err.Error()
		}
		if v.Result != linearize.Legal {
			return fmt.Sprintf("%s: %v", filepath.Base(file), v.Result)
		}
	}
	return ""
}

// histories are those of the judge of histories, from the folder of this package.
const histories = "../../checker/linearize/testdata/kafka"

func isFault(err error) bool {
	var inconsistent *core.InconsistencyError
	return errors.As(err, &inconsistent)
}
