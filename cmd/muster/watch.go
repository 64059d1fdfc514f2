package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/internal/verdict"
)

// tally counts the scenarios that are through, whichever broker they ran on.
type tally struct {
	progress *progress
	of       int

	mu sync.Mutex
	n  int
}

func (t *tally) done(scenario string) {
	t.mu.Lock() // until it is told, so that the count never goes back on the screen
	defer t.mu.Unlock()
	t.n++
	t.progress.step("scenarios: %d of %d, %s", t.n, t.of, scenario)
}

// scenarioWatch hands the results of one set in as they come.
type scenarioWatch struct {
	judge   *scenarioJudge
	target  target.Target
	session *session
	count   *tally // of all sets
	ctx     context.Context
	cancel  func() // ends the set

	// doubtful are results that a target which died explains as well as one that is wrong; gone is set when it turns out to be dead.
	doubtful []conformance.Result
	gone     error
	open     bool // a scenario could not be run to its end
}

func (w *scenarioWatch) Started(string) {}

func (w *scenarioWatch) Done(r conformance.Result) {
	w.count.done(r.Scenario)
	if r.Status != conformance.Broken && !slices.ContainsFunc(r.Failures(), cutOff) {
		w.session.tell(func(v *verdict.Verdict) { w.tell(v, r) })
		return
	}
	w.doubtful = append(w.doubtful, r)
	if w.ctx.Err() != nil {
		return
	}
	if err := w.reachable(w.ctx); err != nil && w.ctx.Err() == nil {
		w.gone = fmt.Errorf("the target has gone: %w", err)
		w.cancel()
	}
}

// reachable reports whether the target still takes connections.
func (w *scenarioWatch) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := w.target.Dial(ctx, "muster")
	if err != nil {
		return err
	}
	return conn.Close()
}

// cutOff reports whether a connection was closed where the text has an answer.
func cutOff(f *conformance.Failure) bool {
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
				v.Case(verdict.Case{Judge: verdict.Scenarios, Name: r.Scenario, Took: r.Duration, Unjudged: "not at its end when the run ended"})
				continue
			}
			w.tell(v, r)
		}
	})
	w.doubtful = nil
	return ended
}

func (w *scenarioWatch) tell(v *verdict.Verdict, r conformance.Result) {
	c := verdict.Case{Judge: verdict.Scenarios, Name: r.Scenario, Took: r.Duration}
	switch r.Status {
	case conformance.Skip:
		c.Skipped = r.Reason
	case conformance.Broken:
		told := "could not be run to its end"
		if r.Unsteady != nil {
			told = "could not be judged"
		}
		c.Unjudged, w.open = r.Reason, true
		v.CannotTell("scenario %s %s: %s", r.Scenario, told, r.Reason)
	}
	v.Case(c)
	for _, f := range r.Failures() {
		v.Find(w.judge.finding(f))
	}
	if r.Unsteady != nil && r.Status != conformance.Broken { // what is broken could not be judged, which is told
		v.Wavered(w.judge.finding(r.Unsteady), r.Unsteady.Stalled)
	}
	for _, group := range r.Leftover {
		v.Warn("group %s of scenario %s could not be removed", group, r.Scenario)
	}
}
