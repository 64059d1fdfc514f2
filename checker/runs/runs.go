// Package runs is the catalogue of explorations: of the specification alone (package explore), with its clients (package clients), and of a
// coordinator beside the specification (package joint). Each run has a name, belongs to a set that says what is expensive in it, and knows its own size and what it reaches when nothing is wrong.
package runs

import (
	"context"
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/checker/clients"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/model/classic"
)

// Run is one exploration.
type Run struct {
	Name    string // unique
	Set     string
	For     string // what it is for
	Members int    // ids that the coordinator may have in memory, or clients where these are more
	When    When

	// One of the three says what is explored.
	Group   *explore.Group
	Clients *clients.Run
	Joint   *joint.Run

	bench func(*joint.Hooks, joint.Settings) joint.Bench // of a joint run
	asked Asked

	// altered: the run has been given another profile, other properties, other events or broken rules, so what is known of it does not count.
	altered    bool
	properties func(string) bool // which properties are judged; nil is all
}

// When says on which occasion a run is made. Those of every verdict are made by the tests too.
type When uint8

const (
	Night   When = iota // make explore
	Judges              // make test-judges
	Test                // make test
	Verdict             // muster verify
)

// Outcome is how a run ended.
type Outcome struct {
	explore.Report // without what is refuted
	Run            Run
	Healing        clients.Healing
	Refuted        []explore.Violation // beliefs that do not hold, where the run looks for them: no faults
	Reached        Reached
	Missing        []string // what a complete run has not reached though it used to: it shows less than it claims
	Surprise       string   // how the size of a complete run differs from what is known of it
	Left           *Left    // from where it can go on, if it is not complete; nil for a joint run, which has to be made anew

	// Of a joint run: the traces of findings as scenarios that stand on their own, and why there are none, by property.
	Scenarios map[string]string
	Untimed   map[string]error
}

// Beside is a joint run with the coordinator that is explored.
func (r Run) Beside(bench func(*joint.Hooks, joint.Settings) joint.Bench) Run {
	r.bench = bench
	return r
}

// Ok says whether everything was searched, nothing found broken, and as much reached as ever.
func (o Outcome) Ok() bool { return o.Report.Ok() && len(o.Missing) == 0 && o.Surprise == "" }

// Left is a run that was left before its end.
type Left struct {
	Search  *explore.Rest
	Healing clients.Healing
	Reached Reached
}

// Explore makes the run; from is nil, or where it was left.
func (r Run) Explore(ctx context.Context, o explore.Options, from *Left) Outcome {
	var tallies []*tally
	before, left := Reached{}, Reached{}
	healing := clients.Healing{}
	if from != nil {
		o.From, before, healing = from.Search, from.Reached, from.Healing
	}
	sum := func() Reached {
		all := []Reached{before}
		for _, t := range tallies {
			all = append(all, t.reached())
		}
		return union(all...)
	}
	level := o.Level
	o.Level = func() {
		left = sum()
		if level != nil {
			level()
		}
	}
	tell := func() *tally {
		tallies = append(tallies, newTally())
		return tallies[len(tallies)-1]
	}
	out := Outcome{Run: r}
	var leftHealing clients.Healing
	switch {
	case r.Group != nil:
		g := *r.Group
		g.Watch = func() func(*classic.State, *classic.Event, *classic.Transition) { return tell().transition }
		out.Report = explore.Run(ctx, r.Name, r.judging(g.Machine), o)
	case r.Joint != nil:
		j := *r.Joint
		j.Watch = func() func(*classic.State, *classic.Event, *classic.Transition) { return tell().transition }
		out.Scenarios, out.Untimed = map[string]string{}, map[string]error{}
		j.Scenario = func(of explore.Finding, text string, err error) {
			out.Scenarios[of.Property], out.Untimed[of.Property] = text, err
		}
		out.Report = explore.Run(ctx, r.Name, r.judging(j.Machines(r.bench)), o)
	default:
		c := *r.Clients
		c.Name, c.Judging = r.Name, r.judging
		c.Watch = func() func(clients.Happening) { return tell().happening }
		out.Report, out.Healing, leftHealing = c.Continue(ctx, o, healing)
	}
	out.Reached = sum()
	out.separate()
	if out.Rest != nil && r.Joint == nil {
		out.Left = &Left{out.Rest, leftHealing, left}
	}
	if known, ok := r.Known(); ok && out.Complete {
		out.Missing = known.Reached.minus(out.Reached)
		if size := out.Size(); size != known.Size {
			out.Surprise = fmt.Sprintf("%s; known of it are %s", size, known.Size)
		}
	}
	return out
}

// separate takes the beliefs that do not hold out of the violations.
func (o *Outcome) separate() {
	if o.Run.Clients == nil {
		return
	}
	all := o.Violations
	o.Violations = nil
	for _, v := range all {
		if clients.Refutes(v.Property) {
			o.Refuted = append(o.Refuted, v)
		} else {
			o.Violations = append(o.Violations, v)
		}
	}
}

// judging has machines report the properties that are asked for, and no others.
func (r Run) judging(newMachine func() explore.Machine) func() explore.Machine {
	if r.properties == nil {
		return newMachine
	}
	return explore.Asking(newMachine, r.properties)
}

// Size tells the outcome in numbers, as goldens have it.
func (o Outcome) Size() string {
	line := fmt.Sprintf("%d states, %d transitions, depth %d", o.States, o.Transitions, o.Depth)
	if o.Run.Clients == nil || !o.Run.Clients.Converge {
		return line
	}
	line += fmt.Sprintf("; together in %d steps, Empty in %d", o.Healing.Steps, o.Healing.EmptySteps)
	var rules []classic.RuleID
	for rule := range o.Healing.Exempt {
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	for _, rule := range rules {
		line += fmt.Sprintf("; from %d states somebody may be kept out by %s", o.Healing.Exempt[rule], rule)
	}
	return line
}
