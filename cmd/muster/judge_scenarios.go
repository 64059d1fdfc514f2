package main

import (
	"context"
	"fmt"
	"slices"
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := &scenarioWatch{judge: j, target: j.target, session: s, ctx: ctx, cancel: cancel}
	sets := []conformance.ProfileSet{{Profile: conformance.DefaultProfile, Scenarios: j.scenarios}}
	if j.profile != nil {
		sets = conformance.ByProfile(j.scenarios)
	}
	var all conformance.Report
	for _, set := range sets {
		report, err := j.judgeSet(ctx, s, watch, set)
		if err != nil {
			return err
		}
		all.Results = append(all.Results, report.Results...)
		s.tell(func(v *verdict.Verdict) {
			v.Cover(rules, all.Covered())
			for _, r := range report.Remarks {
				v.Warn("%s", r)
			}
		})
		if ended := watch.resolve(); ended != nil {
			return ended
		}
	}
	return nil
}

// judgeSet runs the scenarios of one broker profile, on a target of their own where they need other settings.
func (j *scenarioJudge) judgeSet(ctx context.Context, s *session, watch *scenarioWatch, set conformance.ProfileSet) (conformance.Report, error) {
	suite := conformance.Suite{Scenarios: set.Scenarios, Parallel: j.parallel, Slow: j.slow, OutDir: outDir}
	watch.target = j.target
	if set.Profile == conformance.DefaultProfile {
		return suite.Run(ctx, j.target, watch)
	}
	other, err := j.profile(ctx, set.Profile)
	if err != nil {
		return conformance.Report{}, fmt.Errorf("opening %s with profile %s: %w", j.name, set.Profile, err)
	}
	defer s.close(other)
	watch.target = other
	return suite.Run(ctx, other, watch)
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

// scenarioWatch hands results in as they come.
type scenarioWatch struct {
	judge   *scenarioJudge
	target  target.Target // the one at work
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
				v.Case(verdict.Case{Judge: verdict.Scenarios, Name: r.Scenario, Took: r.Duration, Skipped: "not at its end when the run ended"})
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
		c.Skipped = "could not be run to its end"
		v.CannotTell("scenario %s could not be run to its end: %s", r.Scenario, r.Reason)
	}
	v.Case(c)
	for _, f := range r.Failures() {
		v.Find(w.judge.finding(f))
	}
	if r.Unsteady != nil {
		v.Wavered(r.Scenario, noted(r.Unsteady))
	}
	for _, group := range r.Leftover {
		v.Warn("group %s of scenario %s could not be removed", group, r.Scenario)
	}
}

// noted is the failure's text with what the texts do not say.
func noted(f *conformance.Failure) string {
	if f.Note == "" {
		return f.Text
	}
	return strings.TrimRight(f.Text, "\n") + "\n\n" + f.Note + "\n"
}

func (j *scenarioJudge) finding(f *conformance.Failure) verdict.Finding {
	found := verdict.Finding{
		Judge: verdict.Scenarios, Class: f.Class, Scenario: f.Scenario, Suffers: f.Suffers(), Text: noted(f),
		Replay: j.called.scenario(f),
	}
	if j.register != nil {
		_, found.Registered = j.register.Find(f)
	}
	if len(f.Rules) > 0 {
		found.Rule = f.Rules[0]
	}
	return found
}
