package coverage

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
)

// Visit is what a scenario visits on a release.
type Visit struct {
	Scenario *conformance.Scenario
	Skipped  string // why the release cannot be asked
	Fails    string // why the specification does not give its text
	OnBroker bool   // a broker of the release can be asked: it has been seen to give the text
	Counts   Counts
}

// Visits runs scenarios on the specification of a release, in virtual time, and notes which cells each visits. Where the specification
// may act in several ways and more than one gives the scenario's text, nobody knows which a broker has chosen: only what all of them visit
// counts.
func Visits(ctx context.Context, release string, scenarios []*conformance.Scenario) (all []Visit, err error) {
	failures, err := os.MkdirTemp("", "coverage") // which the runner keeps, and nobody needs here
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(failures)) }()
	for _, set := range conformance.ByProfile(scenarios) {
		tg, err := model.New(model.Options{Name: "model:" + release, Profile: set.Profile}, nil)
		if err != nil {
			return nil, err
		}
		for _, sc := range set.Scenarios {
			w := &watched{Target: tg}
			tg.Watch(w.step)
			rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{sc}, OutDir: failures}.Run(ctx, w, nil)
			if err != nil {
				return nil, err
			}
			v := Visit{Scenario: sc}
			switch res := rep.Results[0]; {
			case res.Status == conformance.Skip:
				v.Skipped = res.Reason
			case res.Status != conformance.Pass || w.kept == nil:
				v.Fails = res.Reason
				if res.Failure != nil {
					v.Fails = res.Failure.String()
				}
			default:
				v.Counts, v.OnBroker = *w.kept, onBroker(sc, tg.Capabilities())
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// watched is the model as a target, listened to.
type watched struct {
	*model.Target
	now, kept *Counts // of the run under way; what all runs that gave the text have in common
}

func (w *watched) step(s *observe.Step) { w.now.Step(s) }

// Reset begins a run.
func (w *watched) Reset(choose func(n int) int) {
	w.now = &Counts{}
	w.Target.Reset(choose)
}

// Ended ends a run.
func (w *watched) Ended(whole bool) {
	switch {
	case !whole:
	case w.kept == nil:
		w.kept = w.now
	default:
		w.kept.keep(w.now)
	}
}

// keep leaves what another has seen as well.
func (c *Counts) keep(o *Counts) {
	for rule := range c.cells {
		for state := range c.cells[rule] {
			for outcome, n := range c.cells[rule][state] {
				c.cells[rule][state][outcome] = min(n, o.cells[rule][state][outcome])
			}
		}
	}
	for from := range c.Moves {
		for to, n := range c.Moves[from] {
			c.Moves[from][to] = min(n, o.Moves[from][to])
		}
	}
}

// onBroker says whether a broker like the model can be asked as well. What waits for minutes is asked when it is recorded, and by whoever says
// --slow. What can only be made to happen in process counts for nothing here.
func onBroker(sc *conformance.Scenario, caps target.Capabilities) bool {
	caps.Virtual = false
	caps.Faults = slices.DeleteFunc(target.Faults(), func(f target.Fault) bool { return f == target.Load })
	return sc.Unaskable(caps) == ""
}
