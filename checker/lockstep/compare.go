package lockstep

import (
	"cmp"
	"slices"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// observed is what the machine did to one group in one step.
type observed struct {
	answers []checker.Answer // by ticket
	dropped []checker.Ticket
	records []classic.RecordKind
	timers  []timer
	fails   bool // writes of this step fail
}

// scratch is room for what is compared, used again and again.
type scratch struct {
	observed observed
	dropped  []checker.Ticket
	records  []classic.RecordKind
	timers   []timer
	parts    []observe.Part
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

// seen is good until it is asked for again.
func (w *walk) seen(group string, effects checker.Effects) *observed {
	o := &w.scratch.observed
	*o = observed{answers: o.answers[:0], dropped: o.dropped[:0], records: o.records[:0], timers: o.timers[:0]}
	for _, a := range effects.Answers {
		if s := w.sent.of(a.Ticket); s != nil && (s.group == group || isList(s.event.Request)) {
			a.Message = observe.Only(a.Message, group)
			o.answers = append(o.answers, a)
		}
	}
	if len(o.answers) > 1 {
		slices.SortStableFunc(o.answers, func(a, b checker.Answer) int { return cmp.Compare(a.Ticket, b.Ticket) })
	}
	for _, t := range effects.Dropped {
		if w.sent.group(t) == group {
			o.dropped = append(o.dropped, t)
		}
	}
	slices.Sort(o.dropped)
	for _, r := range effects.Records {
		if r.Group == group {
			o.records = addRecord(o.records, r.Kind)
		}
	}
	for i := range w.armed {
		if t := &w.armed[i]; t.Group == group {
			o.timers = append(o.timers, timer{t.Kind, t.Member, t.Deadline.UnixNano()})
		}
	}
	slices.SortFunc(o.timers, timer.compare)
	return o
}

// addRecord adds a kind of record, unless it is that of the one before.
func addRecord(kinds []classic.RecordKind, k classic.RecordKind) []classic.RecordKind {
	if k == classic.SomeTombstones { // all that there are, or some: a machine cannot tell
		k = classic.OffsetTombstones
	}
	if n := len(kinds); n > 0 && kinds[n-1] == k {
		return kinds
	}
	return append(kinds, k)
}

// difference is how a prediction fails; the deeper, the more of it was right.
type difference struct {
	depth         int
	what, api     string
	expected, got string
	rules         []classic.RuleID
	timer         []classic.RuleID // the rule of the one timer that differs, if there is one
}

func (o *observed) compare(w *walk, p *observe.Outcome) *difference {
	differs := func(depth int, what, expected, got string) *difference {
		return &difference{depth: depth, what: what, expected: expected, got: got, rules: slices.Clone(p.Rules)}
	}
	answer := func(depth int, what string, t checker.Ticket, expected, got string) *difference {
		d := differs(depth, what, expected, got)
		d.api = w.api(t)
		return d
	}
	for i := range p.Answers {
		a := &p.Answers[i]
		at, ok := o.answer(a.Ticket)
		if !ok {
			return answer(0, "no answer", a.Ticket, w.answer(a.Ticket, a.Message), "none")
		}
		if err := observe.MatchFailing(a.Message, o.answers[at].Message, w.logError); err != nil {
			return answer(1, "answer", a.Ticket, w.answer(a.Ticket, a.Message), w.answer(a.Ticket, o.answers[at].Message)+" ("+err.Error()+")")
		}
	}
	if len(o.answers) > len(p.Answers) || len(p.Answers) > 1 {
		for _, a := range o.answers {
			if !slices.ContainsFunc(p.Answers, func(b observe.Answer) bool { return b.Ticket == a.Ticket }) {
				return answer(1, "answer", a.Ticket, w.name(a.Ticket)+" is not answered", w.answer(a.Ticket, a.Message))
			}
		}
	}
	dropped := append(w.scratch.dropped[:0], p.Dropped...)
	slices.Sort(dropped)
	w.scratch.dropped = dropped
	if !slices.Equal(dropped, o.dropped) {
		return differs(2, "dropped", w.requests(dropped), w.requests(o.dropped))
	}
	records := w.scratch.records[:0]
	for _, r := range p.Records {
		records = addRecord(records, r.Kind)
	}
	w.scratch.records = records
	// A write that fails may count as one or not.
	if !slices.Equal(records, o.records) && (!o.fails || len(o.records) > 0) {
		return differs(3, "records", recordNames(records), recordNames(o.records))
	}
	timers := w.scratch.timers[:0]
	p.Branch.EachTimer(func(t observe.Timer) bool {
		timers = append(timers, timer{t.Kind, t.Member, t.Window.Latest})
		return true
	})
	slices.SortFunc(timers, timer.compare)
	w.scratch.timers = timers
	if !slices.Equal(timers, o.timers) {
		d := differs(4, "timers", w.timers(timers), w.timers(o.timers))
		d.timer = ofTimers(timers, o.timers)
		return d
	}
	return nil
}

// answer is where the answer to a request is; of two the last.
func (o *observed) answer(t checker.Ticket) (int, bool) {
	for i := len(o.answers) - 1; i >= 0; i-- {
		if o.answers[i].Ticket == t {
			return i, true
		}
	}
	return 0, false
}
