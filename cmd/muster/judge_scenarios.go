package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

// scenarioJudge runs scenarios on a target.
type scenarioJudge struct {
	target    target.Target
	name      string // of the target, as --target takes it
	scenarios []*conformance.Scenario
	register  *conformance.Register // failures that Muster's authors know of; may be nil
	parallel  int                   // scenarios at a time
}

func (j *scenarioJudge) run(ctx context.Context, s *session) error {
	s.tell(func(v *verdict.Verdict) { v.Rules.Total = len(classic.Rules()) })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := &scenarioWatch{judge: j, session: s, ctx: ctx, cancel: cancel}
	report, err := conformance.Suite{Scenarios: j.scenarios, Parallel: j.parallel, OutDir: outDir}.Run(ctx, j.target, watch)
	if err != nil {
		return err
	}
	s.tell(func(v *verdict.Verdict) { v.Rules.Covered = len(report.Covered()) })
	return watch.resolve()
}

// reachable reports whether the target still takes connections.
func (j *scenarioJudge) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := j.target.Dial(ctx, "muster")
	if err != nil {
		return err
	}
	return conn.Close()
}

// scenarioWatch hands results in as they come.
type scenarioWatch struct {
	judge   *scenarioJudge
	session *session
	ctx     context.Context
	cancel  func() // ends the run
	done    int

	// doubtful are results that a target which died explains as well as one that is wrong; gone is set when it turns out to be dead.
	doubtful []conformance.Result
	gone     error
}

func (w *scenarioWatch) Started(string) {}

func (w *scenarioWatch) Done(r conformance.Result) {
	w.done++
	w.session.progress.step("scenarios: %d of %d, %s", w.done, len(w.judge.scenarios), r.Scenario)
	if r.Status != conformance.Broken && !cutOff(r.Failure) {
		w.session.tell(func(v *verdict.Verdict) { w.tell(v, r) })
		return
	}
	w.doubtful = append(w.doubtful, r)
	if w.ctx.Err() != nil {
		return
	}
	if err := w.judge.reachable(w.ctx); err != nil && w.ctx.Err() == nil {
		w.gone = fmt.Errorf("the target has gone: %w", err)
		w.cancel()
	}
}

// cutOff reports whether a connection was closed where the text has an answer.
func cutOff(f *conformance.Failure) bool {
	if f == nil {
		return false
	}
	const closed = "CONNECTION_CLOSED"
	return strings.Contains(strings.Join(f.Got, "\n"), closed) && !strings.Contains(strings.Join(f.Expected, "\n"), closed)
}

// resolve decides the doubtful results: where the target is still there, a closed connection is its answer.
func (w *scenarioWatch) resolve() error {
	ended := w.gone
	if ended == nil {
		ended = w.ctx.Err() // interrupted
	}
	w.session.tell(func(v *verdict.Verdict) {
		for _, r := range w.doubtful {
			if ended != nil {
				v.Case(verdict.Case{Judge: verdict.Scenarios, Name: r.Scenario, Took: r.Duration, Skipped: "not at its end when the run ended"})
				continue
			}
			w.tell(v, r)
		}
	})
	return ended
}

func (w *scenarioWatch) tell(v *verdict.Verdict, r conformance.Result) {
	c := verdict.Case{Judge: verdict.Scenarios, Name: r.Scenario, Took: r.Duration}
	switch r.Status {
	case conformance.Skip:
		c.Skipped = r.Reason
	case conformance.Broken:
		c.Skipped = "could not be run to its end"
		v.CannotTell("scenario %s could not be run to its end: %s", r.Scenario, r.Reason)
	}
	v.Case(c)
	if f := r.Failure; f != nil {
		v.Find(w.judge.finding(f))
	}
	for _, group := range r.Leftover {
		v.Warn("group %s of scenario %s could not be removed", group, r.Scenario)
	}
}

func (j *scenarioJudge) finding(f *conformance.Failure) verdict.Finding {
	found := verdict.Finding{
		Judge: verdict.Scenarios, Class: f.Class, Scenario: f.Scenario, Suffers: f.Suffers(), Text: f.Text,
		Replay: fmt.Sprintf("muster run %s --target %s", f.Scenario, j.name),
	}
	if j.register != nil {
		_, found.Registered = j.register.Find(f)
	}
	if len(f.Rules) > 0 {
		found.Rule = f.Rules[0]
	}
	return found
}
