package observe

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Apply yields every outcome that the specification allows for a request which the coordinator takes up within the window. The request
// must be over one group. An error that wraps ErrNotModelled means that the specification does not cover the request; nothing is
// yielded then. Overflow comes as an outcome, never as an error.
func (w *World) Apply(b *Branch, r Request, at Window, yield func(Outcome) bool) error {
	if r.Minted != "" {
		w.Know(r.Minted)
	}
	if !b.haunted() {
		_, err := w.apply(b, r, at, yield)
		return err
	}
	for _, bound := range w.bindings(b, r.Message) {
		if more, err := w.apply(bound, r, at, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

func (w *World) apply(b *Branch, r Request, at Window, yield func(Outcome) bool) (bool, error) {
	st := w.stepper()
	defer w.models.Put(st)
	c, err := w.translate(b, r, &st.call)
	if errors.Is(err, errFull) {
		return yield(Outcome{Branch: b, Overflow: true}), nil
	}
	if err != nil {
		return false, err
	}
	if !c.reachesGroup() {
		if c.slow {
			return true, nil
		}
		return yield(Outcome{
			Branch:  b,
			Answers: []Answer{{Ticket: r.Ticket, Message: w.commitAnswer(c, 0, false)}},
			Rules:   c.cites(w, nil),
		}), nil
	}
	if r.Verified != 0 && c.event.Kind == classic.TxnOffsetCommit && !c.event.BadGroup && b.state.Serving == classic.Active && !w.breaks(classic.TxnVerified) {
		return yield(Outcome{ // txn-commit.verified
			Branch:  b,
			Answers: []Answer{{Ticket: r.Ticket, Message: w.commitAnswer(c, r.Verified, true)}},
			Rules:   []classic.RuleID{classic.TxnVerified},
		}), nil
	}
	c.put = w.aged(c.put, at)
	more := true
	if b.unseen != seen && c.shows() {
		if more = w.unseen(b, c, at, yield); !more {
			return false, nil
		}
	}
	st.lexicon = w.symbols.Load().lexicon
	st.model.Step(&b.state, &c.event, func(t *classic.Transition) bool {
		o := w.follow(st, b, c, t, at)
		if c.slow {
			if c.accepted(w, &o) {
				more = yield(o)
			}
			return more
		}
		if more = yield(o); more && c.mayBlameWrite(o) {
			o.Answers = slices.Clone(o.Answers)
			o.Answers[0].Message = w.commitAnswer(c, classic.CodeWriteFailed, true)
			more = yield(o)
		}
		if more && r.Raced && t.Rekeyed >= 0 {
			more = w.fencedMeanwhile(c, t, o, yield)
		}
		if more && r.Removed && t.Rekeyed >= 0 {
			more = w.removedMeanwhile(c, t, o, yield)
		}
		if more && r.Joins > b.generation && t.Rekeyed >= 0 {
			more = w.joinedMeanwhile(c, t, o, yield)
		}
		if more && w.config.Profile.AnswersDropped && slices.Contains(t.Rules, classic.StaticPending) && t.Replies[0].Error != 0 {
			more = w.refuseOtherwise(c, o, yield) // static.pending: its contract is any refusal
		}
		return more
	})
	return more, nil
}

// refuseOtherwise yields the outcome of a refused JoinGroup with the other errors that a coordinator may have for it.
func (w *World) refuseOtherwise(c *call, o Outcome, yield func(Outcome) bool) bool {
	for _, code := range []int16{classic.CodeUnknownMemberID, classic.CodeFencedInstanceID} {
		for _, id := range []string{c.id, ""} {
			reply := *o.Answers[0].Message.(*kmsg.JoinGroupResponse)
			reply.ErrorCode, reply.MemberID = code, id
			o.Answers = slices.Clone(o.Answers)
			o.Answers[0].Message = &reply
			if !yield(o) {
				return false
			}
		}
	}
	return true
}

// follow turns a transition of a branch into its outcome.
func (w *World) follow(st *stepper, b *Branch, c *call, t *classic.Transition, at Window) Outcome {
	if t.Overflow {
		return Outcome{Branch: b, Overflow: true}
	}
	broken := len(w.config.Broken) > 0
	n := b.next()
	n.state = t.Next
	o := Outcome{Branch: n, Rules: append(st.rules[:0], t.Rules...), Records: append(st.records[:0], t.Records...), Answers: st.answers[:0], Dropped: st.dropped[:0]}
	n.generation = t.Generation.After(n.generation)
	if c.event.Kind.Request() {
		o.Rules = append(o.Rules, c.cites(w, t)...)
		n.learn(b, c, t)
		if t.Rekeyed >= 0 && w.breaks(classic.StaticReplacedClient) {
			n.holders[t.Rekeyed].client = c.request.ClientID
		}
	}
	touched := max(b.used(), n.used(), int(t.Minted)+1, int(t.Rekeyed)+1) // a slot may be taken and freed in one step
	now := &st.scene
	if now.former = b; shown(c, t) {
		copy(now.during[:], n.holders[:touched])
	}
	for _, s := range t.Superseded {
		if s.Kind == classic.Caller { // given up itself: by broken rules, and by Kafka 2.4 (static.pending)
			continue
		}
		if p := n.close(s, broken); p.open {
			o.Dropped = append(o.Dropped, p.ticket)
		}
	}
	answered := false
	closed := st.closed[:0]
	for _, r := range t.Replies {
		ended := parked{}
		if r.To.Kind == classic.Caller {
			answered = true
		} else {
			ended = n.close(r.To, broken)
		}
		closed = append(closed, ended)
	}
	if c.event.Kind.Request() && !answered {
		waits := c.event.Kind == classic.JoinGroup || c.event.Kind == classic.SyncGroup
		if slices.Contains(t.Superseded, classic.Address{Kind: classic.Caller}) || broken && !waits { // a broken rule may leave a member where none can be
			o.Dropped = append(o.Dropped, c.request.Ticket)
		} else {
			n.park(c, t)
		}
	}
	o.Dropped = append(o.Dropped, n.forget(touched, broken)...)
	if n.unseen = w.hides(n, b, c, t); n.unseen == unwritten && b.unseen != unwritten {
		n.made = at
	}
	if n.state.Serving != classic.Loading {
		n.lost = ""
	}
	w.settleOffsets(n, b, c, t, at)
	w.arm(n, b, t, at)
	if !broken {
		n.check(t, touched)
	}
	for i := range t.Replies {
		r := &t.Replies[i]
		if r.To.Kind != classic.Caller && !closed[i].open {
			continue
		}
		o.Answers = append(o.Answers, w.answer(n, now, c, t, r, closed[i]))
	}
	if st.closed = closed; w.transient {
		st.rules, st.records, st.answers, st.dropped = o.Rules, o.Records, o.Answers, o.Dropped
	}
	return o
}

// shown says whether an answer tells ids: that to a JoinGroup may.
func shown(c *call, t *classic.Transition) bool {
	return c.event.Kind == classic.JoinGroup || slices.ContainsFunc(t.Replies, func(r classic.Reply) bool { return r.To.Kind == classic.ParkedJoin })
}

// settleOffsets does to the offsets, and to the log, what the transition says.
func (w *World) settleOffsets(n, b *Branch, c *call, t *classic.Transition, at Window) {
	if w.config.OffsetsRetention > 0 && n.state.Phase == classic.Empty && b.state.Phase != classic.Empty {
		n.emptySince = at
	}
	gone := c.gone
	if c.event.Kind == classic.OffsetDelete && len(t.Replies) > 0 {
		gone = c.deleted(w, t.Replies[0].Refused)
	}
	w.write(n, b, c, t, at, gone)
	switch t.Offsets {
	case classic.StoreOffsets:
		n.ledger = b.store(c.put)
		if w.breaks(classic.TxnNewerWins) {
			n.pending = b.pending
		}
		if w.config.Profile.Defects.Has(classic.DefectMetadataUnstable) && len(c.put) > 0 {
			n.ledger = n.awaits(plain, c.entries)
		}
	case classic.ClearOffsets:
		n.ledger = ledger{}
	case classic.PendOffsets:
		n.ledger = b.pend(c.producer, c.put)
		if w.config.Profile.Defects.Has(classic.DefectTxnMetadataErases) {
			n.ledger = n.erase(c.producer, c.entries)
		}
		if w.config.Profile.Defects.Has(classic.DefectMetadataUnstable) && len(c.put) > 0 {
			n.ledger = n.awaits(c.producer, c.entries)
		}
	case classic.CommitPending:
		n.ledger = b.end(c.producer, true)
	case classic.DropPending:
		n.ledger = b.end(c.producer, false)
	case classic.RemoveOffsets:
		n.ledger = b.without(gone, c.event.Taken.Pending)
	case classic.LoadOffsets:
		n.load()
	}
	if n.state.Phase == classic.Absent {
		kept := n.ledger
		n.generation, n.ledger, n.assigns, n.emptySince = 0, ledger{}, nil, Window{}
		// cleanup.pending: they outlive their group, and what their transaction commits is found by whoever makes the group anew.
		if w.config.Profile.Defects.Has(classic.DefectCleanupPending) && c.event.Kind != classic.DeleteGroups {
			if n.ledger = kept; c.event.Kind == classic.TxnMarker {
				n.ledger = n.end(c.producer, !c.event.Aborted)
			}
		}
	}
	n.delay.settle(&n.state)
}

// learn takes up what a request says of slots.
func (n *Branch) learn(b *Branch, c *call, t *classic.Transition) {
	if c.assigns != nil {
		n.assigns = c.assigns
	}
	id := c.request.Minted
	if id == "" && (t.Minted >= 0 || t.Rekeyed >= 0) {
		id = ghost(c.request.Ticket)
	}
	if m := t.Minted; m >= 0 {
		n.holders[m] = holder{id: id}
	}
	if s := t.Rekeyed; s >= 0 {
		n.holders[s].id = id
	}
	for _, s := range []int8{t.Minted, t.Updated} {
		if s >= 0 {
			n.holders[s].session, n.holders[s].rebalance = c.session, c.rebalance
		}
	}
	for i := range n.used() {
		if n.state.Slots[i].Kind != classic.Member || b.state.Slots[i].Kind == classic.Member && int8(i) != t.Minted {
			continue
		}
		n.holders[i].client = c.request.ClientID // of the JoinGroup that adds the member, and never changed
		if n.state.Slots[i].Static && c.instance != nil {
			n.holders[i].instance = *c.instance
		}
	}
}

// close ends a parked request and returns it. Only a model with broken rules may end one that there is not.
func (n *Branch) close(a classic.Address, broken bool) parked {
	h := &n.holders[a.Slot]
	p := &h.join
	if a.Kind == classic.ParkedSync {
		p = &h.sync
	}
	if !p.open && !broken {
		panic(fmt.Sprintf("observe: the model ends a request that slot %d of %v does not hold", a.Slot, n))
	}
	ended := *p
	*p = parked{}
	return ended
}

// park holds the request that the transition did not answer.
func (n *Branch) park(c *call, t *classic.Transition) {
	slot := max(t.Rekeyed, t.Minted)
	if slot < 0 && c.event.Ref.Kind == classic.KnownID {
		slot = c.event.Ref.Slot
	}
	if slot < 0 {
		panic(fmt.Sprintf("observe: the model neither answers nor parks %T in %v", c.request.Message, n))
	}
	p := parked{open: true, ticket: c.request.Ticket, version: c.request.Version, id: c.id}
	switch c.event.Kind {
	case classic.JoinGroup:
		n.holders[slot].join = p
	case classic.SyncGroup:
		n.holders[slot].sync = p
	default:
		panic(fmt.Sprintf("observe: the model parks %T", c.request.Message))
	}
}

// forget clears the holders of slots that the transition freed. Only a model with broken rules may leave requests of theirs behind:
// they are dropped.
func (n *Branch) forget(touched int, broken bool) (left []checker.Ticket) {
	for i := range touched {
		if n.state.Slots[i].Kind != classic.Free || n.holders[i].id == "" {
			continue
		}
		for _, p := range []parked{n.holders[i].join, n.holders[i].sync} {
			if p.open {
				left = append(left, p.ticket)
			}
		}
		if len(left) > 0 && !broken {
			panic(fmt.Sprintf("observe: the model removes %s without ending its parked request", ShowID(n.holders[i].id)))
		}
		n.holders[i] = holder{}
	}
	return left
}

// arm sets the windows of the timers that the transition arms.
func (w *World) arm(n, b *Branch, t *classic.Transition, at Window) {
	for _, e := range t.Timers {
		var d time.Duration
		switch e.For {
		case classic.Cancel:
			continue
		case classic.SessionOfSlot:
			d = n.holders[e.Slot].session
		case classic.NewMemberTimeout:
			d = w.config.NewMemberTimeout
		case classic.MaxRebalance:
			d = n.maxRebalance()
			if e.Timer == classic.GroupJoinTimer && w.breaks(classic.JoinTimerFixed) {
				d *= 2
			}
			for i := range b.used() {
				if e.Also>>i&1 == 1 {
					d = max(d, b.holders[i].rebalance)
				}
			}
		case classic.FormerSession:
			d = b.holders[e.Slot].session
		case classic.InitialDelay:
			d = n.delay.begin(w.config.InitialDelay, n.maxRebalance())
		case classic.RestOfInitialDelay:
			d = n.delay.extend(w.config.InitialDelay)
		}
		until := at.after(d, w.config.Tick)
		if d <= 0 && e.Timer == classic.GroupJoinTimer && slices.Contains(t.Rules, classic.StaticNobodyJoined) {
			until.Latest += int64(spin)
		}
		switch e.Timer {
		case classic.SessionTimer:
			n.holders[e.Slot].timer = until
		case classic.GroupJoinTimer:
			n.joinTimer = until
		case classic.GroupSyncTimer:
			n.syncTimer = until
		}
	}
}

// spin is how soon at the latest a join that waits for static members without any rebalance timeout is looked at again. Kafka does so without
// a pause; where time is virtual there has to be one.
const spin = time.Second

// maxRebalance is the largest rebalance timeout of the members, at least 0 (join.timer.fixed).
func (n *Branch) maxRebalance() (d time.Duration) {
	for i := range n.used() {
		if n.state.Slots[i].Kind == classic.Member {
			d = max(d, n.holders[i].rebalance)
		}
	}
	return d
}

// check holds the model to its word: what a state says of parked requests is what has been parked.
func (n *Branch) check(t *classic.Transition, touched int) {
	for i := range touched {
		s, h := &n.state.Slots[i], &n.holders[i]
		if s.Joining != h.join.open || s.Syncing != h.sync.open || (s.Kind == classic.Free) != (h.id == "") {
			panic(fmt.Sprintf("observe: slot %d of %v is not what rules %v say", i, n, t.Rules))
		}
	}
}

// Timer is an armed timer of a branch.
type Timer struct {
	Kind   classic.TimerKind
	Slot   int8
	Member string // for SessionTimer: whose it is
	Window Window // of its deadline

	// WriteFails makes the writes that its firing needs fail; for the caller of Fire to set.
	WriteFails bool
}

// Timers are the armed timers, in slot order.
func (b *Branch) Timers() []Timer {
	var ts []Timer
	b.EachTimer(func(t Timer) bool {
		ts = append(ts, t)
		return true
	})
	return ts
}

// Due says whether a timer's time has come.
func (b *Branch) Due(at Window) (due bool) {
	b.EachTimer(func(t Timer) bool {
		due = t.Window.Latest <= at.Latest
		return !due
	})
	return due
}

// EachTimer yields the armed timers, in slot order.
func (b *Branch) EachTimer(yield func(Timer) bool) {
	for i := range b.used() {
		if b.state.Slots[i].Timed && !yield(Timer{Kind: classic.SessionTimer, Slot: int8(i), Member: b.holders[i].id, Window: b.holders[i].timer}) {
			return
		}
	}
	if b.state.JoinTimer && !yield(Timer{Kind: classic.GroupJoinTimer, Window: b.joinTimer}) {
		return
	}
	if b.state.SyncTimer {
		yield(Timer{Kind: classic.GroupSyncTimer, Window: b.syncTimer})
	}
}

// Fire yields every outcome of a timer that fires within the window. The timer is one of b.Timers(); when it may fire and when it must
// is for the judge to say.
func (w *World) Fire(b *Branch, t Timer, at Window, yield func(Outcome) bool) {
	e := classic.Event{Kind: classic.MemberTimer, Slot: t.Slot}
	switch t.Kind {
	case classic.GroupJoinTimer:
		e = classic.Event{Kind: classic.JoinTimer, Rest: b.delay.rest > 0}
	case classic.GroupSyncTimer:
		e = classic.Event{Kind: classic.SyncTimer}
	}
	if t.WriteFails {
		e.Write = classic.WriteFailed
	}
	w.happen(b, &call{event: e}, at, yield)
}

// FinishWrite yields every outcome of the end of the write that is in flight (Config.SlowWrites, Request.Slow).
func (w *World) FinishWrite(b *Branch, failed bool, at Window, yield func(Outcome) bool) {
	c := &call{event: classic.Event{Kind: classic.WriteDone}}
	c.fails(failed)
	w.happen(b, c, at, yield)
}
