package main

import (
	"context"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/internal/verdict"
)

// exploreModel goes through every state of the specification that two and three members can reach.
func exploreModel(ctx context.Context, s *session) error {
	complete := true
	for _, group := range explore.Groups() {
		report := explore.Run(ctx, group.Name, group.Machine, explore.Options{Workers: 1, Progress: func(p explore.Progress) {
			s.progress.step("exploration: %s, %d states", p.Name, p.States)
		}})
		complete = complete && report.Complete
		s.tell(func(v *verdict.Verdict) { tellExploration(v, report) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.tell(func(v *verdict.Verdict) { v.Exploration.Complete = complete })
	return nil
}

func tellExploration(v *verdict.Verdict, r explore.Report) {
	v.Exploration.States += int(r.States)
	v.Exploration.Transitions += int(r.Transitions)
	v.Case(verdict.Case{Judge: verdict.Exploration, Name: r.Name, Took: r.Elapsed})
	if !r.Complete {
		v.CannotTell("exploration, %s: %s", r.Name, r.Reason)
	}
	for _, violation := range r.Violations {
		v.Find(verdict.Finding{
			Judge: verdict.Exploration, Rule: violation.Rule, Scenario: r.Name, Text: violation.String(),
			Replay: "go test ./checker/explore -run TestExplore -v",
		})
	}
}
