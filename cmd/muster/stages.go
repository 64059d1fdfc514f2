package main

import (
	"context"
	"errors"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/wire"
	"github.com/muster-kafka/muster/internal/verdict"
)

// judge opens the target and lets its judges at it. With scenarios, only those are judged. Its error is one of usage; a target that
// cannot be opened is a verdict.
func (s *session) judge(ctx context.Context, o openOptions, scenarios []*conformance.Scenario, dryRun bool) error {
	spec, err := parseTarget(o.name)
	if err != nil {
		return err
	}
	if err := o.securedOnly(spec); err != nil {
		return err
	}
	whole := scenarios == nil
	if whole {
		if scenarios, err = conformance.Scenarios(); err != nil {
			return unavailable(err)
		}
	}
	o.lookOnly = dryRun
	s.called.open = o
	v := s.verdict
	v.ComparedWith = spec.comparedWith(o)
	v.Scenarios, v.Rules = &verdict.ScenarioCounts{}, &verdict.RuleCounts{}
	opened, err := spec.open(ctx, o, s.progress, s.seed)
	if err != nil {
		return s.notOpened(ctx, err, dryRun)
	}
	defer func() { s.close(opened, len(v.Reasons) > 0) }()
	if spec.kind != addressTarget {
		v.Own()
	}
	register, _, err := conformance.Registered(o.name)
	if err != nil {
		return unavailable(err)
	}
	work := &scenarioJudge{target: opened, name: o.name, slow: s.slow, called: s.called, scenarios: scenarios, register: register, parallel: opened.parallel()}
	if spec.profiled() {
		work.profile = spec.profiles(o, s.progress, s.seed)
	}
	caps := opened.Capabilities()
	if dryRun && len(caps.Topics) == 0 {
		caps.Topics = map[string]string{"t": "t"} // it will be made
	}
	ahead := work.estimate(caps)
	s.progress.say("%s on %s: %d to run, %d to skip, about %v", counted(len(scenarios), "scenario"), opened.Name(), ahead.run, len(ahead.skipped), about(ahead.takes))
	if whole && spec.kind == implTarget {
		s.progress.say("besides: exploration of the specification, random walks for %v, linearizability for %v, about %v in all",
			rounded(s.budget/4), rounded(s.budget/2), about(exploring+s.budget/4+s.budget/2))
	}
	concurrent, lacks := spec.concurrent(opened, s.budget)
	if whole && concurrent != nil {
		s.progress.say("after them a campaign for %v: many clients at once (docs/campaign.md)", rounded(concurrent.Budget))
	}
	if dryRun {
		s.progress.say("dry run: nothing was judged")
		return unavailable(verdict.WriteSkips(s.stdout, ahead.skipped))
	}
	if _, stranger := opened.raw.(*wire.Target); stranger && len(opened.Capabilities().Topics) == 0 {
		v.CannotTell("scenarios that commit offsets were skipped: there is no topic for the run, see the warnings")
	}
	judgeScenarios := judge{verdict.Scenarios, work.run}
	stages := []stage{{judgeScenarios}}
	if whole && spec.kind == implTarget {
		v.Random, v.Exploration, v.Linearizability = &verdict.RandomCounts{}, &verdict.ExplorationCounts{Runs: []verdict.ExplorationRun{}}, &verdict.LinearizabilityCounts{}
		// Linearizability is about real time: it has the machine for itself.
		stages = []stage{
			{judgeScenarios, {verdict.Exploration, exploreModel}},
			{{verdict.Random, walkImpl}},
			{{verdict.Linearizability, linearizeImpl}},
		}
	}
	if whole && lacks != "" {
		v.Warn("no campaign was made, so that nothing is said of many clients at once: %s", lacks)
	}
	if whole && concurrent != nil {
		v.Linearizability = &verdict.LinearizabilityCounts{}
		stages = append(stages, stage{{verdict.Linearizability, func(ctx context.Context, s *session) error {
			defer atEase()()
			return s.campaign(ctx, opened.raw, *concurrent, spec.kind == addressTarget)
		}}})
	}
	s.run(ctx, stages)
	return nil
}

// notOpened turns the error of opening a target into a verdict, unless it is one of usage or nothing was to be judged.
func (s *session) notOpened(ctx context.Context, err error, dryRun bool) error {
	var coded *codedError
	switch {
	case errors.As(err, &coded):
		return err
	case dryRun:
		return unavailable(err)
	case ctx.Err() != nil:
		s.verdict.CannotTell("interrupted before anything was judged")
	default:
		s.verdict.TargetFailed("%v", err)
	}
	return nil
}

// close ends the target. What it could not clean up is told, and a broker's log is kept where it failed.
func (s *session) close(o *opened, failed bool) {
	if keeper, ok := o.raw.(interface{ KeepLog() (string, error) }); ok && failed {
		if log, err := keeper.KeepLog(); err == nil {
			s.tell(func(v *verdict.Verdict) { v.Warn("the broker's log: %s", log) })
		}
	}
	var gone bool
	s.tell(func(v *verdict.Verdict) {
		if t, ok := o.raw.(*wire.Target); ok {
			for _, doubt := range t.Doubts() {
				v.Warn("%s", doubt)
			}
		}
		gone = v.TargetHasFailed()
	})
	if err := o.end(gone, s.called.open.config); err != nil {
		s.tell(func(v *verdict.Verdict) { v.Warn("%v", err) })
	}
}

// parallel is how many scenarios run on the target at a time. A stranger is sent few requests a second. Where sessions are short, many
// scenarios at a time would use that up and wait for each other while their members' time runs out.
func (o *opened) parallel() int {
	const short = 0.5
	if _, stranger := o.raw.(*wire.Target); stranger && o.Capabilities().Scale < short {
		return 2
	}
	if o.Capabilities().Fleeting {
		return 32 // each group is a process of its own, which mostly waits
	}
	return 8
}
