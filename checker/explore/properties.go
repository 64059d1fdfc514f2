package explore

import c "github.com/muster-kafka/muster/model/classic"

const allJoined = "a join for which nobody is missing is complete"

// judgeState asks what must hold in every state beyond the model's own invariants.
func (m *machine) judgeState(s *c.State) {
	if s.Phase != c.PreparingRebalance || s.Initial || m.group.MaxSize > 0 && !m.group.Profile.RefusalReevaluates {
		return
	}
	for i := range s.Slots {
		if s.Slots[i].Kind == c.Pending || s.Slots[i].Kind == c.Member && !s.Slots[i].Joining {
			return
		}
	}
	m.x.Findings = append(m.x.Findings, Finding{
		Edge: OfState, Property: allJoined, Rule: c.JoinCompleteAll.String(),
	})
}

// stepProperties are asked about every transition, except refusals without effect: they hold where nothing changes and nothing is
// answered but an error, and the event's own properties say whether it should be so.
var stepProperties = []property{
	{"phases change only as the table allows", c.JoinCompleteGeneration, moved, func(v *view) bool {
		return c.LegalMove(v.s.Phase, v.t.Next.Phase, v.completions, v.oneByOne())
	}},
	{"each completed join takes one generation, and nothing else does", c.JoinCompleteGeneration, always, func(v *view) bool {
		return generationsTaken(v.t.Generation) == v.completions
	}},
	{"a generation restarts only with the group", c.DeleteEmpty, resets, func(v *view) bool {
		return v.s.Phase == c.Absent || v.t.Next.Phase == c.Absent ||
			v.t.Next.Phase == c.Empty && v.e.Kind == c.DeleteGroups
	}},
	{"every request is answered once, or waits, or was repeated or left by its own member", c.JoinParkedSuperseded, always, accounted},
	{"committed offsets go only with their group, or when they are to go", c.OffsetsSurviveMembers, always, offsetsKept},
	{"the join timer starts with the rebalance and nothing prolongs it", c.JoinTimerFixed, always, func(v *view) bool {
		d, ok := v.effect(c.GroupJoinTimer, 0)
		switch {
		case v.s.Phase == c.PreparingRebalance && v.e.Kind == c.JoinTimer && !v.completed: // what it does then is for others to say
			return true
		case v.s.Phase == c.PreparingRebalance && !v.oneByOne():
			return !ok || d == c.Cancel
		case v.s.Phase == c.PreparingRebalance && !v.completed:
			return !ok
		case v.t.Next.Initial:
			return ok && d == c.InitialDelay
		}
		return (v.t.Next.Phase == c.PreparingRebalance) == (ok && d == c.MaxRebalance)
	}},
	{"a SyncGroup succeeds only in Stable", c.SyncFollowerParks, answers, func(v *view) bool {
		return v.t.Next.Phase == c.Stable || v.syncSuccesses() == 0
	}},
	{"the assignments of a Stable group do not change", c.SyncStableRepeats, isStable | changed, func(v *view) bool {
		for i := range v.of(v.s) {
			if v.t.Next.Phase == c.Stable && v.s.Slots[i].Given != v.t.Next.Slots[i].Given {
				return false
			}
		}
		return true
	}},
}

// removalProperties are asked where an id is gone: where none is they hold.
var removalProperties = []property{
	{"the parked JoinGroup of a member that is removed is answered UNKNOWN_MEMBER_ID", c.JoinParkedRemoved, always, func(v *view) bool {
		for i := range v.of(v.s) {
			if v.s.Slots[i].Joining && v.t.Next.Slots[i].Kind == c.Free {
				midway := v.completions > 0 && v.oneByOne() // it joined a generation before it left
				if code, n := v.answerTo(c.ParkedJoin, int8(i)); n != 1 || code != c.CodeUnknownMemberID && (code != c.CodeNone || !midway) {
					return false
				}
			}
		}
		return true
	}},
	{"the parked SyncGroup of a member that is removed gets no assignment", c.SyncParkedRemoved, always, func(v *view) bool {
		for i := range v.of(v.s) {
			if v.s.Slots[i].Syncing && v.t.Next.Slots[i].Kind == c.Free {
				if code, n := v.answerTo(c.ParkedSync, int8(i)); n > 0 && code == c.CodeNone {
					return false
				}
			}
		}
		return true
	}},
	{"a member goes only when it leaves, when its timer ends, or when it missed a deadline", c.SessionExpires, always, removedForAReason},
	{"an open generation without members becomes Empty at once", c.LeaveLastEmpties, always, func(v *view) bool {
		// Where the group reacts to each entry, the rebalance has begun before the last one leaves, and pending ids hold it up.
		return !open(v.s.Phase) || v.members(&v.t.Next) > 0 || v.oneByOne() && v.pendingAfter() || v.t.Next.Phase == c.Empty || v.t.Next.Phase == c.Absent
	}},
}

// endProperties are asked where a join has completed or CompletingRebalance has ended: otherwise nobody's wait has.
var endProperties = []property{
	{"whoever has waited and is answered has its session start anew", c.SessionRenewedByCompletion, always, renewed},
	{"waiting SyncGroups are answered with an error when their generation ends, and its assignment is taken back", c.SyncAborted, always, aborted},
	{"a group becomes Stable with the leader's assignment, and all who wait get theirs", c.SyncLeaderAssigns, always, assigned},
}

// completionProperties are asked where a join has completed.
var completionProperties = []property{
	{"a new generation is made of those who joined it", c.JoinCompleteTimeout, always, func(v *view) bool {
		for i := range v.of(&v.t.Next) {
			if v.t.Next.Slots[i].Kind != c.Member {
				continue
			}
			if !v.joinedIn(int8(i)) && !v.s.Slots[i].Static {
				return false
			}
		}
		return true
	}},
	{"a leader that rejoins stays leader", c.JoinCompleteLeader, always, func(v *view) bool {
		for i := range v.of(v.s) {
			was, is := &v.s.Slots[i], &v.t.Next.Slots[i]
			if was.Leader && is.Kind == c.Member && !is.Leader && v.joinedIn(int8(i)) {
				return false
			}
		}
		return true
	}},
	{"the leader of a new generation has joined it", c.JoinCompleteLeader, always, func(v *view) bool {
		for i := range v.of(&v.t.Next) {
			if v.t.Next.Phase == c.CompletingRebalance && v.t.Next.Slots[i].Leader && !v.joinedIn(int8(i)) {
				return false
			}
		}
		return true
	}},
	{"the protocol has the most votes", c.JoinCompleteVote, always, func(v *view) bool {
		if v.t.Next.Phase != c.CompletingRebalance {
			return true
		}
		got := v.votes(&v.t.Next, v.t.Next.Protocol)
		for i := range v.of(&v.t.Next) {
			for _, name := range v.lexicon.Lists[v.t.Next.Slots[i].List].Names {
				if v.votes(&v.t.Next, name) > got {
					return false
				}
			}
		}
		return got > 0
	}},
	{"a group that becomes Empty takes a generation and keeps its type", c.JoinCompleteEmpty, always, func(v *view) bool {
		took := v.t.Generation == c.NextGeneration || v.t.Generation == c.SecondGeneration
		return v.t.Next.Phase != c.Empty || took && v.t.Next.Type == v.s.Type
	}},
	{"an outstanding pending id holds the join up", c.JoinPendingBlocks, always, func(v *view) bool {
		free := v.e.Kind == c.JoinTimer || v.s.Phase == c.Empty || v.s.Phase == c.Absent || v.members(&v.t.Next) == 0
		return free || !v.pendingAfter()
	}},
}

// answerProperties are asked where a JoinGroup is answered without an error.
var answerProperties = []property{
	{"the leader's JoinGroup answer lists the members", c.JoinReplyLeader, always, func(v *view) bool {
		return v.joinAnswers(func(r *c.Reply) bool { return r.Member != r.Leader || r.Members || r.FormerLeader })
	}},
	{"only the leader's JoinGroup answer lists the members", c.JoinReplyFollower, always, func(v *view) bool {
		return v.joinAnswers(func(r *c.Reply) bool { return r.Member == r.Leader || !r.Members })
	}},
	{"a JoinGroup answer names the leader and its own member", c.JoinCompleteLeader, always, func(v *view) bool {
		return v.joinAnswers(func(r *c.Reply) bool {
			then := &v.t.Next
			if r.Midway {
				then = v.t.Midway
			}
			return r.Leader >= 0 && then.Slots[r.Leader].Leader && r.Member >= 0 && then.Slots[r.Member].Kind == c.Member
		})
	}},
}

// generationsTaken is how many generations an effect stands for.
func generationsTaken(e c.GenerationEffect) int {
	switch e {
	case c.NextGeneration:
		return 1
	case c.SecondGeneration:
		return 2
	}
	return 0
}

// answersJoin says whether a reply answers a JoinGroup without an error.
func (v *view) answersJoin(r *c.Reply) bool {
	return r.Error == c.CodeNone && (r.To.Kind == c.ParkedJoin || r.To.Kind == c.Caller && v.e.Kind == c.JoinGroup)
}

// removes says whether an id has gone.
func (v *view) removes() bool {
	for i := range v.of(v.s) {
		if v.s.Slots[i].Kind != c.Free && v.t.Next.Slots[i].Kind != v.s.Slots[i].Kind {
			return true
		}
	}
	return false
}

// joinAnswers says whether every successful JoinGroup answer is as ok wants it.
func (v *view) joinAnswers(ok func(*c.Reply) bool) bool {
	for i := range v.t.Replies {
		if r := &v.t.Replies[i]; v.answersJoin(r) && !ok(r) {
			return false
		}
	}
	return true
}

func (v *view) syncSuccesses() (n int) {
	for i := range v.t.Replies {
		r := &v.t.Replies[i]
		if r.Error == c.CodeNone && (r.To.Kind == c.ParkedSync || r.To.Kind == c.Caller && v.e.Kind == c.SyncGroup) {
			n++
		}
	}
	return n
}

// superseding says whether the event is a request that takes the place of the addressed one: it waits, or has completed the join.
func (v *view) superseding(a c.Address) bool {
	kind := c.JoinGroup
	if a.Kind == c.ParkedSync {
		kind = c.SyncGroup
	} else if v.instanceReplaced() == a.Slot {
		return v.reply == nil || v.completed
	}
	return v.e.Kind == kind && v.e.Ref == c.Ref{Kind: c.KnownID, Slot: a.Slot} && (v.reply == nil || kind == c.JoinGroup && v.completed)
}

// renewed looks at the sessions of those whose wait has ended: all members of a generation that begins, and all whose SyncGroup is
// answered when the leader's assignment comes or is aborted.
func renewed(v *view) bool {
	synced := v.s.Phase == c.CompletingRebalance && v.t.Next.Phase != c.CompletingRebalance
	for i := range v.of(&v.t.Next) {
		if v.t.Next.Slots[i].Kind != c.Member {
			continue
		}
		own := v.e.Kind == c.SyncGroup && v.e.Ref == c.Ref{Kind: c.KnownID, Slot: int8(i)}
		waited := v.completed || synced && (v.s.Slots[i].Syncing && v.instanceReplaced() != int8(i) || own)
		if waited && !v.armed(int8(i)) {
			return false
		}
	}
	return true
}

// accounted looks for requests that were answered twice, or that nobody will answer: each has exactly one fate.
func accounted(v *view) bool {
	if !v.e.Kind.Request() {
		if v.answered > 0 {
			return false
		}
	} else if v.pendingInstance() && v.profile.PendingInstanceSilent {
		return v.answered == 0 && v.superseded(c.Caller, 0)
	} else if parked := v.callerWaits(); v.answered > 1 || (v.answered == 1) == parked || v.superseded(c.Caller, 0) {
		return false
	}
	// Nothing else is answered or given up than what waited.
	for i := range v.t.Replies {
		if !v.waited(v.t.Replies[i].To) {
			return false
		}
	}
	for _, a := range v.t.Superseded {
		if !v.waited(a) {
			return false
		}
	}
	for i := range v.of(v.s) {
		slot, was, is := int8(i), &v.s.Slots[i], &v.t.Next.Slots[i]
		if was.Joining && !v.fate(c.ParkedJoin, slot, is.Joining) || was.Syncing && !v.fate(c.ParkedSync, slot, is.Syncing) {
			return false
		}
	}
	return true
}

// waited says whether there was a request at an address: the event's own, or one that was parked.
func (v *view) waited(a c.Address) bool {
	switch a.Kind {
	case c.ParkedJoin:
		return v.s.Slots[a.Slot].Joining
	case c.ParkedSync:
		return v.s.Slots[a.Slot].Syncing
	}
	return true
}

// fate says whether exactly one thing has become of what waited in a slot.
func (v *view) fate(kind c.AddressKind, slot int8, waits bool) bool {
	_, n := v.answerTo(kind, slot)
	dropped := v.superseded(kind, slot)
	if dropped {
		left := kind == c.ParkedSync && v.t.Next.Slots[slot].Kind == c.Free && v.e.Kind == c.LeaveGroup
		return n == 0 && (left || v.superseding(c.Address{Kind: kind, Slot: slot}))
	}
	stays := waits && !v.superseding(c.Address{Kind: kind, Slot: slot})
	return n == 1 && !stays || n == 0 && stays
}

// callerWaits says whether the event's own request is parked afterwards.
func (v *view) callerWaits() bool {
	slot := v.t.Minted
	if v.e.Ref.Kind == c.KnownID {
		slot = v.e.Ref.Slot
	}
	if v.t.Rekeyed >= 0 {
		slot = v.t.Rekeyed
	}
	if slot < 0 {
		return false
	}
	next := &v.t.Next.Slots[slot]
	return v.reply == nil && (v.e.Kind == c.JoinGroup && next.Joining || v.e.Kind == c.SyncGroup && next.Syncing)
}

// removedForAReason looks for members that are gone, and why.
func removedForAReason(v *view) bool {
	for i := range v.of(v.s) {
		was := &v.s.Slots[i]
		if was.Kind != c.Member || v.t.Next.Slots[i].Kind == c.Member {
			continue
		}
		reason := false
		switch v.e.Kind {
		case c.MemberTimer:
			reason = v.e.Slot == int8(i)
		case c.JoinTimer:
			reason = !was.Joining && !was.Static
		case c.JoinGroup: // it was the last to rejoin
			reason = v.code() == c.CodeGroupMaxSizeReached && v.e.Ref == c.Ref{Kind: c.KnownID, Slot: int8(i)}
		case c.SyncTimer:
			reason = was.OwesSync
		case c.LeaveGroup:
			for at, ref := range v.e.Leaves {
				reason = reason || ref == c.Ref{Kind: c.KnownID, Slot: int8(i)} ||
					v.entryInstance(at) == c.Instance{Kind: c.KnownInstance, Slot: int8(i)}
			}
		}
		if !reason {
			return false
		}
	}
	return true
}

// aborted looks at what becomes of a generation that ends before it was Stable.
func aborted(v *view) bool {
	if v.s.Phase != c.CompletingRebalance || !v.rebalances() {
		return true
	}
	for i := range v.of(v.s) {
		is := &v.t.Next.Slots[i]
		if is.Kind != c.Member {
			continue
		}
		if code, n := v.answerTo(c.ParkedSync, int8(i)); v.s.Slots[i].Syncing && (n != 1 || code == c.CodeNone) {
			return false
		}
		if is.Given != 0 || is.Syncing {
			return false
		}
	}
	return true
}

// assigned looks at what members have when a group becomes Stable.
func assigned(v *view) bool {
	if v.s.Phase != c.CompletingRebalance || v.t.Next.Phase != c.Stable {
		return true
	}
	leads := v.e.Kind == c.WriteDone || v.e.Kind == c.SyncGroup && v.isMember() && v.slot().Leader
	if !leads {
		return false
	}
	for i := range v.of(v.s) {
		was, is := &v.s.Slots[i], &v.t.Next.Slots[i]
		if is.Kind != c.Member {
			continue
		}
		want := was.Proposed
		if v.e.Kind == c.SyncGroup {
			want = v.e.Assign[i]
		}
		if is.Given != want {
			return false
		}
		own := v.e.Kind == c.SyncGroup && v.e.Ref.Slot == int8(i)
		if code, n := v.answerTo(c.ParkedSync, int8(i)); was.Syncing && !own && (n != 1 || code != c.CodeNone) {
			return false
		}
	}
	return true
}
