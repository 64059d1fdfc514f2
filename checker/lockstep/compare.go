package lockstep

import (
	"cmp"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// observed is what the machine did to one group in one step.
type observed struct {
	answers map[checker.Ticket]kmsg.Response
	dropped []checker.Ticket
	records []classic.RecordKind
	timers  []timer
	fails   bool // writes of this step fail
}

// timer is an armed timer, comparable.
type timer struct {
	kind     classic.TimerKind
	member   string
	deadline int64
}

func (t timer) compare(o timer) int {
	return cmp.Or(cmp.Compare(t.kind, o.kind), cmp.Compare(t.member, o.member), cmp.Compare(t.deadline, o.deadline))
}

func (w *walk) seen(group string, effects checker.Effects) observed {
	o := observed{answers: map[checker.Ticket]kmsg.Response{}}
	for _, a := range effects.Answers {
		if s := w.sent[a.Ticket]; s.group == group || isList(s.event.Request) {
			o.answers[a.Ticket] = observe.Only(a.Message, group)
		}
	}
	for _, t := range effects.Dropped {
		if w.sent[t].group == group {
			o.dropped = append(o.dropped, t)
		}
	}
	slices.Sort(o.dropped)
	for _, r := range effects.Records {
		if r.Group == group {
			if r.Kind == classic.SomeTombstones {
				r.Kind = classic.OffsetTombstones
			}
			o.records = append(o.records, r.Kind)
		}
	}
	o.records = slices.Compact(o.records)
	for _, t := range w.armed {
		if t.Group == group {
			o.timers = append(o.timers, timer{t.Kind, t.Member, t.Deadline.UnixNano()})
		}
	}
	slices.SortFunc(o.timers, timer.compare)
	return o
}

// difference is how a prediction fails; the deeper, the more of it was right.
type difference struct {
	depth         int
	what, api     string
	expected, got string
	rules         []classic.RuleID
	timer         []classic.RuleID // the rule of the one timer that differs, if there is one
}

func (o observed) compare(w *walk, p observe.Outcome) *difference {
	differs := func(depth int, what, expected, got string) *difference {
		return &difference{depth: depth, what: what, expected: expected, got: got, rules: p.Rules}
	}
	answer := func(depth int, what string, t checker.Ticket, expected, got string) *difference {
		d := differs(depth, what, expected, got)
		d.api = w.api(t)
		return d
	}
	predicted := map[checker.Ticket]bool{}
	for _, a := range p.Answers {
		predicted[a.Ticket] = true
		actual, ok := o.answers[a.Ticket]
		if !ok {
			return answer(0, "no answer", a.Ticket, w.answer(a.Ticket, a.Message), "none")
		}
		if err := observe.Match(a.Message, actual); err != nil {
			return answer(1, "answer", a.Ticket, w.answer(a.Ticket, a.Message), w.answer(a.Ticket, actual)+" ("+err.Error()+")")
		}
	}
	for _, t := range slices.Sorted(maps.Keys(o.answers)) {
		if !predicted[t] {
			return answer(1, "answer", t, w.name(t)+" is not answered", w.answer(t, o.answers[t]))
		}
	}
	dropped := slices.Sorted(slices.Values(p.Dropped))
	if !slices.Equal(dropped, o.dropped) {
		return differs(2, "dropped", w.requests(dropped), w.requests(o.dropped))
	}
	var records []classic.RecordKind
	for _, r := range p.Records {
		if r.Kind == classic.SomeTombstones { // all that there are, or some: a machine cannot tell
			r.Kind = classic.OffsetTombstones
		}
		records = append(records, r.Kind)
	}
	records = slices.Compact(records)
	// A write that fails may count as one or not.
	if !slices.Equal(records, o.records) && (!o.fails || len(o.records) > 0) {
		return differs(3, "records", recordNames(records), recordNames(o.records))
	}
	var timers []timer
	for _, t := range p.Branch.Timers() {
		timers = append(timers, timer{t.Kind, t.Member, t.Window.Latest})
	}
	slices.SortFunc(timers, timer.compare)
	if !slices.Equal(timers, o.timers) {
		d := differs(4, "timers", w.timers(timers), w.timers(o.timers))
		d.timer = ofTimers(timers, o.timers)
		return d
	}
	return nil
}
