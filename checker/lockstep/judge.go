package lockstep

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// request hands a request to the machine and judges what comes out, group by group.
func (w *walk) request(e gen.Event) *Violation {
	w.stats.Steps++
	w.stats.Requests++
	w.tickets++
	ticket := w.tickets
	parts := observe.AppendParts(w.scratch.parts[:0], e.Request)
	w.scratch.parts = parts
	if _, list := e.Request.(*kmsg.ListGroupsRequest); list {
		for _, g := range slices.Sorted(maps.Keys(w.sets)) {
			parts = append(parts, observe.Part{Group: g, Message: e.Request})
		}
	}
	own := w.sent.add()
	own.ticket, own.event = ticket, e
	if len(parts) > 0 {
		own.group = parts[0].Group
	}
	before := w.armed
	tearer, can := w.machine.(checker.Tearer)
	if e.Torn = e.Torn && can; e.Torn {
		tearer.Tear(e.Kept)
	}
	if v := w.survives(own.group, func() {
		w.machine.Request(checker.Request{Ticket: ticket, Message: e.Request, Version: e.Version, ClientID: e.ClientID, Verified: e.Verified})
	}); v != nil {
		return v
	}
	effects := w.drain()
	torn := e.Torn && tearer.Torn()
	if torn {
		e.Act = gen.Restart
	}
	if v := w.watched(e, effects); v != nil {
		return v
	}
	if w.blind {
		w.forget(effects)
		return nil
	}
	if torn {
		return w.torn(e, ticket, parts, effects)
	}
	if e.TooLong || e.Unoffered {
		return w.refused(e, ticket, effects, before)
	}
	at := observe.At(w.machine.Now())
	if find, ok := e.Request.(*kmsg.FindCoordinatorRequest); ok {
		return w.coordinator(ticket, find, e.Version, effects)
	}
	for _, p := range parts {
		r := w.asked(e, ticket, p, effects)
		v := w.judge(p.Group, effects, e.FailWrites, func(b *observe.Branch, yield func(observe.Outcome) bool) error {
			return w.world.Apply(b, r, at, yield)
		})
		if v != nil || w.stats.Inconclusive != "" {
			return v
		}
	}
	return w.elsewhere(parts, effects)
}

// asked is a part of an event's request as the specification takes it.
func (w *walk) asked(e gen.Event, ticket checker.Ticket, p observe.Part, effects checker.Effects) observe.Request {
	return observe.Request{
		Ticket: ticket, Message: p.Message, Version: e.Version, ClientID: e.ClientID,
		Minted: w.minted(e, ticket, p.Group, effects), WriteFails: e.FailWrites, Verified: e.Verified,
	}
}

// survives makes a panic of the machine a violation.
func (w *walk) survives(group string, step func()) (v *Violation) {
	defer func() {
		if p := recover(); p != nil {
			v = w.violation(group, &difference{what: "panic", expected: "an answer", got: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}, 0)
		}
	}()
	step()
	return nil
}

// coordinator judges an answer to FindCoordinator, which is about no group's state.
func (w *walk) coordinator(ticket checker.Ticket, find *kmsg.FindCoordinatorRequest, version int16, effects checker.Effects) *Violation {
	defer w.forget(effects)
	rule, group := classic.FindCoordinatorGroup, find.CoordinatorKey
	if version >= 4 {
		rule = classic.FindCoordinatorBatch
	}
	expected := observe.Coordinator(find, version, 0, "host", 0)
	if version > 0 && find.CoordinatorType > transactionKey {
		expected = noCoordinator(find, version)
	}
	d := &difference{what: "answer", expected: w.answer(ticket, expected), rules: []classic.RuleID{rule}}
	if len(effects.Answers) != 1 || effects.Answers[0].Ticket != ticket || len(effects.Dropped) > 0 || len(effects.Records) > 0 {
		d.got = "no such answer, or more than that"
		return w.violation(group, d, 0)
	}
	if err := observe.Match(expected, effects.Answers[0].Message); err != nil {
		d.got = err.Error()
		return w.violation(group, d, 0)
	}
	w.stats.Rules[rule]++
	return nil
}

// fire fires a timer and judges what comes out.
func (w *walk) fire(t checker.Timer, fails bool) *Violation {
	w.stats.Steps++
	w.stats.Fired++
	if v := w.survives(t.Group, func() { w.machine.Fire(t) }); v != nil {
		return v
	}
	effects := w.drain()
	if v := w.watched(gen.Event{FailWrites: fails}, effects); v != nil {
		return v
	}
	if w.blind {
		w.forget(effects)
		return nil
	}
	at := observe.At(w.machine.Now())
	v := w.judge(t.Group, effects, fails, func(b *observe.Branch, yield func(observe.Outcome) bool) error {
		for _, own := range b.Timers() {
			if own.Kind == t.Kind && own.Member == t.Member {
				own.WriteFails = fails
				w.world.Fire(b, own, at, yield)
			}
		}
		return nil
	})
	if v != nil || w.stats.Inconclusive != "" {
		return v
	}
	return w.elsewhere([]observe.Part{{Group: t.Group}}, effects)
}

// minted is the member id that a JoinGroup was given: the answer says it, or else the timer that runs for a member nobody knew.
func (w *walk) minted(e gen.Event, ticket checker.Ticket, group string, effects checker.Effects) string {
	join, ok := e.Request.(*kmsg.JoinGroupRequest)
	if !ok || join.MemberID != "" {
		return ""
	}
	for _, a := range effects.Answers {
		if resp, ok := a.Message.(*kmsg.JoinGroupResponse); ok && a.Ticket == ticket {
			return resp.MemberID
		}
	}
	for _, t := range w.armed {
		if t.Group == group && t.Kind == classic.SessionTimer && !w.set(group)[0].Has(t.Member) {
			return t.Member
		}
	}
	return ""
}

// drain takes what has come out of a step, and tells the clients and the trace.
func (w *walk) drain() checker.Effects {
	effects := w.machine.Drain()
	w.armed, w.marked = w.machine.Timers(), effects.Marked
	for _, a := range effects.Answers {
		s := w.sent.of(a.Ticket)
		if s == nil {
			continue
		}
		w.gen.Arrived(s.event, a.Message)
		if !s.abandoned && !w.astray(s.event, a.Message) {
			w.gen.Answered(s.event, a.Message)
			if w.answered != nil {
				w.answered(s.event.Client, a.Message)
			}
		}
		w.say(a.Ticket, a.Message)
	}
	return effects
}

// set are the branches that explain a group so far.
func (w *walk) set(group string) []*observe.Branch {
	if w.sets[group] == nil {
		w.sets[group] = []*observe.Branch{w.world.NewBranch(group).Served(w.serving)}
	}
	return w.sets[group]
}

// elsewhere finds effects on groups that the step was not about.
func (w *walk) elsewhere(parts []observe.Part, effects checker.Effects) *Violation {
	about := func(group string) bool {
		return slices.ContainsFunc(parts, func(p observe.Part) bool { return p.Group == group })
	}
	defer w.forget(effects)
	stray := func(group, got string) *Violation {
		return w.violation(group, &difference{what: "effects", expected: "nothing", got: got}, 0)
	}
	for i, a := range effects.Answers {
		s := w.sent.of(a.Ticket)
		twice := slices.ContainsFunc(effects.Answers[:i], func(b checker.Answer) bool { return b.Ticket == a.Ticket })
		switch {
		case s == nil || twice:
			return stray("?", fmt.Sprintf("an answer to request %d, which is answered already or was never sent", a.Ticket))
		case !about(s.group):
			return stray(s.group, w.answer(a.Ticket, a.Message))
		}
	}
	for _, t := range effects.Dropped {
		if group := w.sent.group(t); w.sent.of(t) == nil || !about(group) {
			return stray(group, fmt.Sprintf("request %d is dropped", t))
		}
	}
	for _, r := range effects.Records {
		if !about(r.Group) {
			return stray(r.Group, "a record: "+recordNames([]classic.RecordKind{r.Kind}))
		}
	}
	return nil
}

// forget drops the requests that have ended.
func (w *walk) forget(effects checker.Effects) {
	for _, a := range effects.Answers {
		w.sent.end(a.Ticket)
	}
	for _, t := range effects.Dropped {
		if s := w.sent.of(t); s != nil && !s.abandoned {
			w.gen.Dropped(s.event)
		}
		w.sent.end(t)
	}
}

func (w *walk) violation(group string, d *difference, others int) *Violation {
	return &Violation{
		What: d.what, API: d.api, Step: w.stats.Steps, Group: group, Rules: d.telling(), Expected: d.expected, Got: d.got, Others: max(0, others),
		Trace: slices.Clone(w.trace), events: w.events,
	}
}

func isList(req kmsg.Request) bool {
	_, ok := req.(*kmsg.ListGroupsRequest)
	return ok
}
