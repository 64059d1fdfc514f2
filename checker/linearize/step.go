package linearize

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// judge steps the explanations of one group over the operations of one partition.
type judge struct {
	world     *observe.World
	partition *partition
	capacity  int  // explanations in one set
	forks     bool // see Limits
	apart     bool
	scala     bool  // see scala.go
	later     bool  // see writing.go
	cleanup   int64 // see cleanup.go

	mu     sync.Mutex
	gaveUp error // why nothing can be said; see giveUp
	left   error // why some explanations were not followed; see leaveOut

	exercised exercised

	trace func(refusal) // told each time an explanation is refused; nil while nobody asks
}

// refusal is why an explanation cannot go on with an operation.
type refusal struct {
	explanation *explanation
	call        *call // whose answer does not fit; nil where it is about a timer
	predicted   kmsg.Response
	rules       []classic.RuleID
	reason      string
}

// dropped is the reason where Kafka never answers, and something was.
const dropped = "the request was given up without an answer, yet one came"

// heldUp is the reason where a JoinGroup was answered although ids were pending, and all members have joined.
const heldUp = "no answer was due yet: an id that was handed out has not joined"

var errCapacity = errors.New("capacity")

// giveUp remembers the first reason for which the verdict must be Unknown, whatever the search says.
func (j *judge) giveUp(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.gaveUp == nil {
		j.gaveUp = err
	}
}

// leaveOut remembers that an explanation was not followed, as the model has no room for it. What the others explain is explained; but
// nothing is proven where they explain nothing.
func (j *judge) leaveOut() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.left = fmt.Errorf("%w: group %q needs more member slots or symbols than the model has", errCapacity, j.partition.group)
}

func (j *judge) leftOut() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.left
}

func (j *judge) abandoned() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.gaveUp
}

func (j *judge) initial() *state {
	var s set
	s.add(explanation{branch: j.world.NewBranch(j.partition.group)})
	return s.state()
}

// step is what porcupine calls: all explanations that remain after the operation, in any of the ways in which timers may have fired
// before it.
func (j *judge) step(ctx context.Context, before *state, op *operation) *state {
	next := set{apart: j.apart}
	for i := range before.explanations {
		for e := range j.settle(ctx, &before.explanations[i], op) {
			if ctx.Err() != nil || j.abandoned() != nil {
				return nil
			}
			j.place(&e, op, &next)
			if len(next.list) > j.capacity {
				j.giveUp(fmt.Errorf("%w: more than %d explanations at once for group %q", errCapacity, j.capacity, j.partition.group))
				return nil
			}
		}
	}
	if len(next.list) == 0 {
		return nil
	}
	return next.state()
}

// place puts the operation after an explanation whose timers have fired.
func (j *judge) place(e *explanation, op *operation, next *set) {
	now := max(e.now, op.at.Earliest)
	switch op.stage {
	case followUp:
		if stays(e, op.call) {
			j.refuse(e, op.call, nil, []classic.RuleID{classic.JoinParkedRemoved}, "it was refused as if its member had left, which is still there")
			return
		}
		if j.partition.unfenced(e, op.call) {
			j.refuse(e, op.call, nil, []classic.RuleID{classic.StaticFenced}, "it was fenced as if its member had been replaced, which is still there")
			return
		}
		if e.branch.HeldUp(op.call.ticket) {
			j.refuse(e, op.call, nil, []classic.RuleID{classic.JoinPendingBlocks}, heldUp)
			return
		}
		if !e.owes(op.call.ticket) {
			if j.refuseWritten(e, op.call) {
				return
			}
			j.refuse(e, op.call, nil, nil, "no answer was due yet: the request must still be waiting")
			return
		}
		after := *e
		after.now, after.owed = now, withoutTicket(e.owed, op.call.ticket)
		next.add(after)
	case silent:
		if e.owes(op.call.ticket) {
			j.refuse(e, op.call, nil, nil, "an answer was decided, and never came")
			return
		}
		after := *e
		after.now = now
		next.add(after)
	case restart:
		j.restart(e, op, next)
	case request:
		if op.call.unsure { // it has had no effect
			none := *e
			if none.now = now; j.forks {
				none.fork = mix(e.fork ^ uint64(op.call.ticket))
			}
			next.add(none)
		}
		at := observe.Window{Earliest: now, Latest: min(op.last(), j.latest(e))}
		if at.Earliest > at.Latest {
			j.refuse(e, op.call, nil, nil, "a timer must have fired before")
			return
		}
		if state := e.branch.State(); op.call.spares && state.Phase == classic.Empty && !state.Offsets && !state.Open {
			spared := *e
			spared.now = now
			next.add(spared)
		}
		j.apply(e, op.call, at, next, how{})
		if op.call.assigns() && (op.call.overtaken || at.Latest < op.last()) {
			j.apply(e, op.call, at, next, how{slow: true})
		}
		j.troubled(e, op.call, at, next)
	}
}

// latest is the last instant at which all armed timers may still not have fired.
func (j *judge) latest(e *explanation) int64 {
	last, ends := int64(maxInstant), int64(maxInstant)
	for i := range e.timers {
		last = min(last, e.timers[i].Window.Latest)
	}
	if e.flight != 0 { // by then its write has ended, or been overtaken
		ends = j.partition.calls[e.flight].lands()
	}
	ends = min(ends, j.landsBy(e))
	if last == maxInstant {
		return ends
	}
	return min(ends, j.partition.slack.after(last))
}

const maxInstant = 1 << 62

// how a request writes.
type how struct{ slow, fails bool }

// asked is a call as the specification takes it.
func (j *judge) asked(c *call) observe.Request {
	return observe.Request{Ticket: c.ticket, Message: c.message, Version: c.version, ClientID: c.client, Minted: c.minted, Raced: c.raced, Removed: c.removed, Joins: c.joins(), Hangs: c.hangs, Unwaited: c.actual == nil || c.refusedMeanwhile()}
}

func (j *judge) apply(e *explanation, c *call, at observe.Window, next *set, writes how) {
	r := j.asked(c)
	r.Slow, r.WriteFails = writes.slow, writes.fails
	assigns := writes.slow && c.assigns()
	err := j.world.Apply(e.branch, r, at, func(o observe.Outcome) bool {
		if assigns && (o.Overflow || !o.Branch.Writing() || e.branch.Writing()) || writes.fails && len(o.Records) == 0 {
			return true // as it would be anyway
		}
		if made, ok := e.branch.Unwritten(); ok && at.Earliest > j.partition.slack.after(made.Latest) && slices.Contains(o.Rules, classic.GroupUnseen) {
			return true // its record has long been written
		}
		j.accept(e, c, o, at, func(after explanation) {
			if writes.slow && !assigns {
				after.commits = append(slices.Clip(e.commits), c.ticket)
			}
			next.add(after)
		})
		return j.abandoned() == nil
	})
	if err != nil {
		j.giveUp(fmt.Errorf("call %d of group %q: %w", c.id, j.partition.group, err))
	}
}

// accept compares an outcome with what was recorded, and yields the explanation that results, or several where ids that were lost
// with their answers may be one or another's. Each answer is compared at the moment at which it is decided, not when it arrives: the
// record is known, and so a wrong explanation ends early. c is the call that is handled, nil for a timer.
func (j *judge) accept(e *explanation, c *call, o observe.Outcome, at observe.Window, yield func(explanation)) {
	if o.Overflow {
		j.leaveOut()
		return
	}
	owed, writes, answered, seen := e.owed, e.writing, false, false
	bindings := []observe.Binding{nil}
	for _, a := range o.Answers {
		to := j.partition.calls[a.Ticket]
		answered = answered || to == c
		switch {
		case to.actual != nil && to.early && seesNone(a.Message):
		case to.actual != nil && j.written(to, c, a.Message, &o):
			writes = withWriting(writes, writing{to.ticket, a.Message, slices.Clone(o.Rules)})
		case to.actual != nil:
			if bindings = j.bind(e, to, a.Message, o.Rules, bindings); len(bindings) == 0 {
				return
			}
			if at.Earliest > to.to {
				j.refuse(e, to, a.Message, o.Rules, "the answer came before it was decided")
				return
			}
			seen = true
			if to.parks() {
				owed = withTicket(owed, to.ticket)
			}
		case to.silentAt == 0:
		case at.Latest < to.silentAt:
			j.refuse(e, to, a.Message, o.Rules, "an answer was due, and never came")
			return
		case e.now < to.silentAt:
			// Decided at an instant at which the client's patience may have ended: the search places the silence before it.
			owed = withTicket(owed, to.ticket)
		}
	}
	for _, t := range o.Dropped {
		if to := j.partition.calls[t]; to.actual != nil {
			j.refuse(e, to, nil, o.Rules, dropped)
			return
		}
	}
	if c != nil && !answered && !c.parks() && c.actual != nil {
		j.refuse(e, c, nil, o.Rules, "no answer is due")
		return
	}
	if c != nil && !answered {
		if got, next := c.joins(), o.Branch.Generation()+1; got > 0 && got != next {
			j.refuse(e, c, nil, []classic.RuleID{classic.JoinCompleteGeneration}, fmt.Sprintf("generation: expected %d, got %d", next, got))
			return
		}
	}
	if seen {
		j.exercised.saw(e.branch, &o)
	}
	for _, names := range bindings {
		after := explanation{branch: o.Branch.Bind(names), now: at.Earliest, owed: owed, writing: writes, commits: e.commits, flight: inFlight(e, c, &o), cleaned: e.cleaned, fork: e.fork}
		if len(writes) > 0 {
			j.settleWritten(&after)
		}
		after.late = j.lateAfter(e, &after, at.Latest)
		yield(after)
	}
}

// bind compares one answer, and extends the ways to name ids that nobody has seen by those under which it is the predicted one.
func (j *judge) bind(e *explanation, to *call, predicted kmsg.Response, rules []classic.RuleID, before []observe.Binding) (after []observe.Binding) {
	var first error
	observe.MatchGhosts(predicted, to.actual, func(names observe.Binding, err error) bool {
		if err != nil {
			if first == nil {
				first = err
			}
			return true
		}
		for _, old := range before {
			if both, ok := join(old, names); ok {
				after = append(after, both)
			}
		}
		return true
	})
	switch {
	case len(after) > 0:
	case first == nil:
		j.refuse(e, to, predicted, rules, "two answers name the same member differently")
	default:
		j.refuse(e, to, predicted, rules, first.Error())
	}
	return after
}

// join puts two bindings together; not ok where one ghost would have two ids, or two ghosts one.
func join(a, b observe.Binding) (observe.Binding, bool) {
	if len(a) == 0 {
		return b, true
	}
	both := maps.Clone(a)
	for ghost, id := range b {
		if old, ok := both[ghost]; ok {
			if old != id {
				return nil, false
			}
			continue
		}
		for _, taken := range both {
			if taken == id {
				return nil, false
			}
		}
		both[ghost] = id
	}
	return both, true
}

func (j *judge) refuse(e *explanation, c *call, predicted kmsg.Response, rules []classic.RuleID, reason string) {
	if j.trace != nil {
		j.trace(refusal{explanation: e, call: c, predicted: predicted, rules: slices.Clone(rules), reason: reason})
	}
}
