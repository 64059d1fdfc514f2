package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/internal/findings"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

// scenarioJudge runs scenarios on a target.
type scenarioJudge struct {
	target    target.Target
	name      string // of the target, as --target takes it
	called    invocation
	slow      bool // what waits for minutes too
	scenarios []*conformance.Scenario
	register  *conformance.Register // failures that Muster's authors know of; may be nil
	parallel  int                   // scenarios at a time

	// profile opens the target once more with the settings of a broker profile; nil where it is what it is.
	profile func(context.Context, string) (*opened, error)
}

func (j *scenarioJudge) run(ctx context.Context, s *session) error {
	var rules []string
	for _, r := range classic.Rules() {
		rules = append(rules, r.ID)
	}
	s.tell(func(v *verdict.Verdict) { v.Cover(rules, nil) })
	count := &tally{progress: s.progress, of: len(j.scenarios)}
	var all conformance.Report
	return sideBySide(ctx, j.sets(), func(ctx context.Context, set conformance.ProfileSet) error {
		return j.judgeSet(ctx, s, count, set, func(report conformance.Report) {
			s.tell(func(v *verdict.Verdict) {
				all.Results = append(all.Results, report.Results...)
				v.Cover(rules, all.Covered())
				for _, r := range report.Remarks {
					v.Warn("%s", r)
				}
			})
		})
	})
}

// sets are the scenarios by what they need of a broker; all together where the target is what it is.
func (j *scenarioJudge) sets() []conformance.ProfileSet {
	if j.profile == nil {
		return []conformance.ProfileSet{{Profile: conformance.DefaultProfile, Scenarios: j.scenarios}}
	}
	return conformance.ByProfile(j.scenarios)
}

// brokersAtOnce is how many brokers of ours are judged side by side: most of a scenario is waiting, but to start a broker takes a
// processor for seconds, and the others' timers must not notice.
const brokersAtOnce = 2

// sideBySide judges the sets, a few at a time. One that fails does not cut the others short that are at work, whose brokers may be well, but
// no other begins after it.
func sideBySide(ctx context.Context, sets []conformance.ProfileSet, judge func(context.Context, conformance.ProfileSet) error) error {
	errs := make([]error, len(sets))
	slots := make(chan struct{}, brokersAtOnce)
	var failed atomic.Bool
	var all sync.WaitGroup
	for i, set := range sets {
		slots <- struct{}{}
		if failed.Load() || ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if errs[i] = caught(func() error { return judge(ctx, set) }); errs[i] != nil {
				failed.Store(true)
			}
		})
	}
	all.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// judgeSet runs the scenarios of one broker profile, on a target of their own where they need other settings.
func (j *scenarioJudge) judgeSet(ctx context.Context, s *session, count *tally, set conformance.ProfileSet, report func(conformance.Report)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := &scenarioWatch{judge: j, target: j.target, session: s, count: count, ctx: ctx, cancel: cancel}
	if set.Profile == conformance.DefaultProfile {
		return j.runSet(ctx, watch, set, report)
	}
	other, err := j.profile(ctx, set.Profile)
	if err != nil {
		return fmt.Errorf("opening %s with profile %s: %w", j.name, set.Profile, err)
	}
	watch.target = other
	err = j.runSet(ctx, watch, set, report)
	s.close(other, err != nil || watch.open)
	if err != nil {
		return fmt.Errorf("%s with profile %s: %w", j.name, set.Profile, err)
	}
	return nil
}

func (j *scenarioJudge) runSet(ctx context.Context, watch *scenarioWatch, set conformance.ProfileSet, report func(conformance.Report)) error {
	suite := conformance.Suite{Scenarios: set.Scenarios, Parallel: j.parallel, Slow: j.slow, OutDir: watch.session.out}
	result, err := suite.Run(ctx, watch.target, watch)
	if err != nil {
		return err
	}
	report(result)
	return watch.resolve()
}

func (j *scenarioJudge) finding(f *conformance.Failure) verdict.Finding {
	return findings.Of(f, j.register, j.called.scenario(f))
}
