package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/runs"
	"github.com/muster-kafka/muster/internal/verdict"
)

// exploreModel goes through every state of the specification that two and three members can reach, and of the reference coordinator beside it.
func exploreModel(ctx context.Context, s *session) error {
	complete := true
	for _, r := range beside(runs.At(runs.Verdict)) {
		out := r.Explore(ctx, explore.Options{Workers: 1, Progress: func(p explore.Progress) {
			s.progress.step("exploration: %s, %d states", p.Name, p.States)
		}}, nil)
		complete = complete && out.Complete
		s.tell(func(v *verdict.Verdict) {
			tellExploration(v, out, func(explore.Violation) (string, string) { return "", "" })
			if !out.Complete {
				v.CannotTell("exploration, %s: %s", out.Name, out.Reason)
			}
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.tell(func(v *verdict.Verdict) { v.Exploration.Complete = complete })
	return nil
}

// tellExploration hands in what a run has come to. scenario does a violation as a scenario: it returns the file and the command that runs it, or
// why there is none.
func tellExploration(v *verdict.Verdict, out runs.Outcome, scenario func(explore.Violation) (file, says string)) {
	e := v.Exploration
	e.States += int(out.States)
	e.Transitions += int(out.Transitions)
	e.Complete = e.Complete && out.Complete
	e.Runs = append(e.Runs, verdict.ExplorationRun{
		Name: out.Name, States: int(out.States), Transitions: int(out.Transitions), Depth: out.Depth, Complete: out.Complete,
		Frontier: out.Frontier, Reason: out.Reason, Broken: len(out.Violations), Missing: len(out.Missing), Surprise: out.Surprise != "", DurationS: verdict.Seconds(out.Elapsed),
	})
	v.Case(verdict.Case{Judge: verdict.Exploration, Name: out.Name, Took: out.Elapsed})
	for _, violation := range out.Violations {
		f := verdict.Finding{Judge: verdict.Exploration, Rule: violation.Rule, Scenario: out.Name, Text: violation.String(), Replay: replayed(out.Run)}
		switch file, says := scenario(violation); {
		case file != "":
			f.Text += "scenario: " + file + "\n"
			f.Replay = says
		case says != "":
			f.Text += says + "\n"
		}
		v.Find(f)
	}
	if out.Surprise != "" {
		v.Find(verdict.Finding{
			Judge: verdict.Exploration, Scenario: out.Name, Replay: replayed(out.Run),
			Text: fmt.Sprintf("the run has another size than it should: %s. Where the specification has changed on purpose, go test ./checker/runs -update writes it down.\n", out.Surprise),
		})
	}
	if len(out.Missing) > 0 {
		v.Find(verdict.Finding{
			Judge: verdict.Exploration, Scenario: out.Name, Replay: replayed(out.Run),
			Text: fmt.Sprintf("vacuous: the run does not reach what it is for. Never reached, though it used to be:\n%s\n", strings.Join(out.Missing, "\n")),
		})
	}
}

// replayed is the command that makes a run again.
func replayed(r runs.Run) string {
	a := r.Asked()
	var b strings.Builder
	fmt.Fprintf(&b, "muster explore --run %s", quoted(a.Run))
	if a.Members > 0 {
		fmt.Fprintf(&b, " --members %d", a.Members)
	}
	for _, f := range []struct{ name, value string }{{"profile", a.Profile}, {"broken", a.Broken}} {
		if f.value != "" {
			fmt.Fprintf(&b, " --%s %s", f.name, quoted(f.value))
		}
	}
	for _, p := range a.Properties {
		fmt.Fprintf(&b, " --property %s", quoted(p))
	}
	for _, k := range a.Without {
		fmt.Fprintf(&b, " --without %s", quoted(k))
	}
	return b.String()
}
