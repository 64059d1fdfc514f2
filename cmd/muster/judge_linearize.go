package main

import (
	"context"
	"fmt"
	"time"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/internal/verdict"
)

// linearizeImpl records eight clients at work on the reference coordinator over TCP and judges what they saw. It makes as many runs as
// fit into half of the budget, one at least.
func linearizeImpl(ctx context.Context, s *session) error {
	t, err := embedded.NewTCP(ctx, embedded.Options{Seed: s.seed})
	if err != nil {
		return err
	}
	defer t.Close()
	opts := linearize.Options{
		Seed: s.seed, Groups: 2, Clients: 8, Runs: 1, Duration: min(s.budget/4, 5*time.Second), Out: outDir,
		Limits: linearize.Limits{Timeout: max(s.budget, 30*time.Second)},
	}
	began := time.Now()
	for run := 1; ; run++ {
		s.progress.step("linearizability: run %d", run)
		report, err := linearize.Judge(ctx, t, opts)
		s.tell(func(v *verdict.Verdict) { tellLinearizability(v, opts.Seed, report) })
		if err != nil {
			return err
		}
		if report.Illegal > 0 || time.Since(began)+report.Elapsed > s.budget/2 {
			return nil
		}
		opts.Seed++
	}
}

func tellLinearizability(v *verdict.Verdict, seed uint64, r linearize.Report) {
	l := v.Linearizability
	l.Histories += r.Histories
	l.Operations += r.Operations
	l.Illegal += r.Illegal
	l.Unknown += r.Unknown
	v.Case(verdict.Case{Judge: verdict.Linearizability, Name: fmt.Sprintf("seed %d", seed), Took: r.Elapsed})
	for _, f := range r.Failures {
		v.Find(verdict.Finding{
			Judge: verdict.Linearizability, Rule: f.Rule, Class: f.Class, Suffers: f.Suffers, Scenario: f.File, Text: f.Text, Replay: f.Replay,
		})
	}
	for _, reason := range r.Reasons {
		v.CannotTell("linearizability: %s", reason)
	}
}
