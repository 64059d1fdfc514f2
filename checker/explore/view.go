package explore

import c "github.com/muster-kafka/muster/model/classic"

// view is one transition as the properties see it: what was, what happened, what the model says comes of it. Properties are written
// from the rules' sentences with these words, and take nothing from the model's rules or branches.
type view struct {
	s       *c.State
	e       *c.Event
	t       *c.Transition
	group   *Group
	profile *c.Profile
	lexicon *c.Lexicon

	before  fact    // what is known without the outcome
	entries []entry // of a LeaveGroup

	compared, fits bool // compatible has been asked, and its answer

	facts       fact
	reply       *c.Reply // the answer to the event's own request, or nil
	answered    int      // how many answers the event's own request has had
	inert       bool     // nothing has come of the event but its answer
	refusal     bool     // the request was answered with an error, and nothing else has come of it
	completed   bool     // a join has completed
	completions int      // how many have
}

// of are the slots of a state that can be in use.
func (v *view) of(s *c.State) []c.Slot { return s.Slots[:v.group.Members] }

func (v *view) members(s *c.State) (n int) {
	for i := range v.of(s) {
		if s.Slots[i].Kind == c.Member {
			n++
		}
	}
	return n
}

// is says whether all of the facts are so.
func (v *view) is(f fact) bool { return v.facts&f == f }

// derive works out what several properties ask for. Of the state that follows only the caller knows whether it is another one.
func (v *view) derive(another bool) {
	v.facts = v.before | when(another, changed)
	v.reply, v.answered = nil, 0
	for i := range v.t.Replies {
		r := &v.t.Replies[i]
		if r.To.Kind == c.Caller {
			v.reply = r
			v.answered++
		}
		v.facts |= answers | when(v.answersJoin(r), admits)
	}
	v.inert = !another && v.quiet()
	v.refusal = v.inert && v.reply != nil && v.reply.Error != c.CodeNone
	v.completions = 0
	if !v.refusal {
		v.completions = v.joinsCompleted()
		v.facts |= when(v.added() >= 0, adds)
	}
	v.completed = v.completions > 0
	v.facts |= when(v.t.Generation == c.ResetGeneration, resets) | when(v.completed, completes|moved) | when(v.s.Phase != v.t.Next.Phase, moved)
}

// joinsCompleted counts the joins that have completed. Where the group reacts to each entry of a LeaveGroup, one may have completed
// before the end: whoever had joined was answered then.
func (v *view) joinsCompleted() (n int) {
	if v.joinCompleted() {
		n++
	}
	if !v.oneByOne() || v.s.Phase != c.PreparingRebalance || v.t.Next.Phase == c.CompletingRebalance {
		return n
	}
	for i := range v.of(v.s) {
		if code, answers := v.answerTo(c.ParkedJoin, int8(i)); answers > 0 && code == c.CodeNone {
			return n + 1
		}
	}
	return n
}

// oneByOne says whether the event is a batch to each entry of which the group reacts.
func (v *view) oneByOne() bool {
	return v.e.Kind == c.LeaveGroup && len(v.e.Leaves) > 1 && v.profile.LeavesOneByOne
}

// joinCompleted says whether the phases and members before and after show that a join has completed in between.
func (v *view) joinCompleted() bool {
	from, to := v.s.Phase, v.t.Next.Phase
	switch to {
	case c.Empty:
		return from != c.Empty && from != c.Absent
	case c.CompletingRebalance:
		if from != c.CompletingRebalance {
			return true
		}
		// A replaced member may have joined again with what it had. Then its session starts as that of any member of a new generation.
		if v.t.Rekeyed >= 0 && v.armed(v.t.Rekeyed) {
			return true
		}
		// In one and the same phase the members' lists are fixed, and nobody new can be in.
		for i := range v.of(v.s) {
			was, is := &v.s.Slots[i], &v.t.Next.Slots[i]
			if is.Kind == c.Member && (was.Kind != c.Member || was.List != is.List) {
				return true
			}
		}
	}
	return false
}

// code is the error that the request was answered with; parked is -2.
func (v *view) code() int16 {
	if v.reply == nil {
		return waiting
	}
	return v.reply.Error
}

// waiting stands for the code of a request that has no answer yet.
const waiting int16 = -2

// quiet says whether the event had no effect beyond state and answer.
func (v *view) quiet() bool {
	t := v.t
	return t.Rekeyed < 0 && len(t.Timers) == 0 && len(t.Records) == 0 && t.Generation == c.SameGeneration && t.Offsets == c.KeepOffsets &&
		len(t.Replies) <= 1 && len(t.Superseded) == 0
}

// refused says whether the request was answered with the error and nothing else has come of it.
func (v *view) refused(code int16) bool { return v.code() == code && v.inert }

// slot is the slot that a member id stands for, or nil.
func (v *view) slot() *c.Slot {
	if v.e.Ref.Kind != c.KnownID || v.s.Slots[v.e.Ref.Slot].Kind == c.Free {
		return nil
	}
	return &v.s.Slots[v.e.Ref.Slot]
}

// after is the caller's slot in the state that follows.
func (v *view) after() *c.Slot { return &v.t.Next.Slots[v.e.Ref.Slot] }

// isMember says whether the request names a member.
func (v *view) isMember() bool { return v.slot() != nil && v.slot().Kind == c.Member }

// instanceError is what a request is refused with for its instance id.
func (v *view) instanceError() int16 { return v.wrongInstance(v.e.Ref, v.e.Instance) }

// wrongInstance is what goes for a member id with an instance id.
func (v *view) wrongInstance(ref c.Ref, instance c.Instance) int16 {
	switch {
	case instance.Kind == c.UnknownInstance && !v.passesUnmapped():
		return c.CodeUnknownMemberID
	case instance.Kind == c.KnownInstance && ref != c.Ref{Kind: c.KnownID, Slot: instance.Slot}:
		return c.CodeFencedInstanceID
	}
	return c.CodeNone
}

// instanceReplaced is the slot of the static member that a JoinGroup takes the place of, or -1.
func (v *view) instanceReplaced() int8 {
	if !v.is(replaces) {
		return -1
	}
	return v.e.Instance.Slot
}

// joinedIn says whether a member has joined the generation that the step begins.
func (v *view) joinedIn(slot int8) bool {
	own := v.e.Kind == c.JoinGroup && (v.t.Minted == slot || v.t.Rekeyed == slot || v.e.Ref == c.Ref{Kind: c.KnownID, Slot: slot})
	return own || v.s.Slots[slot].Joining
}

// full says whether there is no room for the JoinGroup.
func (v *view) full() bool {
	if v.group == nil || v.group.MaxSize == 0 {
		return false
	}
	joined := 0
	for i := range v.of(v.s) {
		if v.s.Slots[i].Joining {
			joined++
		}
	}
	switch {
	case v.s.Phase == c.PreparingRebalance:
		return joined >= v.group.MaxSize && (v.slot() == nil || !v.slot().Joining)
	case open(v.s.Phase):
		return v.members(v.s) >= v.group.MaxSize && !v.isMember()
	}
	return false
}

// effect is what becomes of a timer, if the transition says.
func (v *view) effect(kind c.TimerKind, slot int8) (c.Duration, bool) {
	for _, e := range v.t.Timers {
		if e.Timer == kind && e.Slot == slot {
			return e.For, true
		}
	}
	return 0, false
}

// armed says whether a member's timer starts anew with its session timeout.
func (v *view) armed(slot int8) bool {
	d, ok := v.effect(c.SessionTimer, slot)
	return ok && d == c.SessionOfSlot
}

// answerTo finds the answer to a parked request.
func (v *view) answerTo(kind c.AddressKind, slot int8) (code int16, n int) {
	for i := range v.t.Replies {
		if r := &v.t.Replies[i]; r.To.Kind == kind && r.To.Slot == slot {
			code, n = r.Error, n+1
		}
	}
	return code, n
}

func (v *view) superseded(kind c.AddressKind, slot int8) bool {
	for _, a := range v.t.Superseded {
		if a.Kind == kind && a.Slot == slot {
			return true
		}
	}
	return false
}

// open says whether there is a generation that has not ended.
func open(p c.Phase) bool { return p == c.CompletingRebalance || p == c.Stable }

// rebalances says whether the step has ended the generation: a rebalance is under way, or over already.
func (v *view) rebalances() bool { return v.t.Next.Phase == c.PreparingRebalance || v.completed }

func (v *view) pendingAfter() bool {
	for i := range v.of(&v.t.Next) {
		if v.t.Next.Slots[i].Kind == c.Pending {
			return true
		}
	}
	return false
}

func has(names []uint8, name uint8) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// everyone says whether all members of s have the protocol on their lists.
func (v *view) everyone(s *c.State, name uint8) bool {
	for i := range v.of(s) {
		if s.Slots[i].Kind == c.Member && !has(v.lexicon.Lists[s.Slots[i].List].Names, name) {
			return false
		}
	}
	return true
}

// compatible says whether the JoinGroup's type and list go with the group's members. Several properties ask for it.
func (v *view) compatible() bool {
	if !v.compared {
		v.compared, v.fits = true, v.compare()
	}
	return v.fits
}

func (v *view) compare() bool {
	names := v.lexicon.Lists[v.e.List].Names
	if v.s.Phase == c.Empty || v.s.Phase == c.Absent {
		return v.e.Type != 0 && len(names) > 0
	}
	for _, name := range names {
		if v.e.Type == v.s.Type && v.everyone(v.s, name) {
			return true
		}
	}
	return false
}

// votes counts for a protocol the members of a state whose first choice among the common ones it is.
func (v *view) votes(next *c.State, name uint8) (n int) {
	for i := range v.of(next) {
		if next.Slots[i].Kind != c.Member {
			continue
		}
		for _, choice := range v.lexicon.Lists[next.Slots[i].List].Names {
			if v.everyone(next, choice) {
				if choice == name {
					n++
				}
				break
			}
		}
	}
	return n
}

// passesUnmapped says whether an instance id that the group does not know is passed over. JoinGroup never does so.
func (v *view) passesUnmapped() bool {
	return v.profile.UnmappedInstancePasses && v.e.Kind != c.JoinGroup
}
