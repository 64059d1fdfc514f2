package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

// batch is how many sequences are walked before the clock is looked at.
const batch = 100

// walkImpl walks the reference coordinator at random in lock-step with the specification, for a quarter of the budget.
func walkImpl(ctx context.Context, s *session) error {
	began := time.Now()
	for seed := s.seed; ; seed++ {
		inconsistent := &inconsistencies{}
		machine, options := embedded.Walk(seed)
		options.Checks, options.Steps, options.Heal = batch, 80, true
		report := lockstep.Rapid(func() checker.Machine {
			return watched{embedded.NewMachineWith(machine), inconsistent}
		}, options)
		s.tell(func(v *verdict.Verdict) { tellWalk(v, s.out, s.called, seed, report, inconsistent.first) })
		if report.Err != nil {
			return fmt.Errorf("the walker itself: %w", report.Err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if report.Violation != nil || inconsistent.first != nil || time.Since(began) > s.budget/4 {
			s.tell(func(v *verdict.Verdict) {
				v.Case(verdict.Case{Judge: verdict.Random, Name: "impl in lock-step with the specification", Took: time.Since(began)})
			})
			return nil
		}
		s.progress.step("random walks: seed %d, %v", seed, time.Since(began).Round(time.Second))
	}
}

func tellWalk(v *verdict.Verdict, out string, called invocation, seed uint64, r lockstep.Report, inconsistent error) {
	v.Random.Sequences += r.Sequences
	v.Random.Steps += r.Steps
	if r.Capacity > 0 {
		v.CannotTell("random walks: %d sequences of seed %d outgrew the specification's slots", r.Capacity, seed)
	}
	replay := called.walk(seed)
	if inconsistent != nil {
		v.Find(verdict.Finding{Judge: verdict.Random, Scenario: fmt.Sprintf("seed %d", seed), Text: inconsistent.Error(), Replay: replay})
	}
	if r.Violation == nil {
		return
	}
	found := verdict.Finding{Judge: verdict.Random, Scenario: fmt.Sprintf("seed %d", seed), Text: r.Violation.String(), Replay: replay}
	if rules := r.Violation.Rules; len(rules) > 0 {
		found.Rule, found.Class = rules[0].Rule().ID, strictest(rules).String()
	}
	if path, err := saveWalk(out, seed, found.Text); err == nil {
		found.Scenario = path
	} else {
		v.Warn("the failing walk could not be saved: %v", err)
	}
	v.Find(found)
}

// strictest is the strictest class of the rules: a divergence breaks all that was predicted.
func strictest(rules []classic.RuleID) classic.Class {
	class := classic.Quirk
	for _, id := range rules {
		class = min(class, id.Rule().Class)
	}
	return class
}

func saveWalk(out string, seed uint64, text string) (string, error) {
	path := filepath.Join(out, fmt.Sprintf("walk-%d.txt", seed))
	return path, errors.Join(os.MkdirAll(out, 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// inconsistencies keeps the first of what coordinators say of themselves.
type inconsistencies struct{ first error }

// watched is a coordinator whose own complaints count.
type watched struct {
	*embedded.Machine
	seen *inconsistencies
}

var _ checker.Broker = watched{}

func (w watched) Drain() checker.Effects {
	for _, err := range w.Reported() {
		var inconsistent *core.InconsistencyError
		if w.seen.first == nil && errors.As(err, &inconsistent) {
			w.seen.first = err
		}
	}
	return w.Machine.Drain()
}
