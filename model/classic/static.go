package classic

// replace gives a static member a fresh id, because its instance has joined without one.
func (m *Model) replace(slot int8, e *Event) {
	g := &m.t.Next
	member := &g.Slots[slot]
	former := *member
	m.t.Rekeyed = slot
	m.fenceParked(slot)
	// static.replaced.timer
	if m.holds(StaticReplacedTimer) == m.profile.ReplacedFormerSession {
		m.arm(slot, FormerSession)
	} else {
		m.arm(slot, SessionOfSlot)
	}
	// static.replaced.timeouts
	if m.holds(StaticReplacedTimeouts) != m.profile.ReplacedKeepsTimeouts {
		m.t.Updated = slot
	}
	if member.New {
		// static.replaced.new
		member.New = m.holds(StaticReplacedNew) == m.profile.ReplacedKeepsNew
		if member.New && !m.profile.HeartbeatShortensNew {
			m.arm(slot, NewMemberTimeout)
		}
	}
	member.List, member.Joining = e.List, true
	m.caller = Address{Kind: ParkedJoin, Slot: slot}
	switch g.Phase {
	case PreparingRebalance:
		// static.replaced.preparing
		if m.holds(StaticReplacedPreparing) {
			m.tryCompleteJoin(false)
		} else {
			m.letIn(slot)
		}
	case CompletingRebalance:
		// static.replaced.completing
		if m.holds(StaticReplacedCompleting) && !m.profile.Defects.Has(DefectReplacedCompleting) {
			m.prepareRebalance()
		} else {
			member.Joining = false
			m.answerReplaced(slot, e)
		}
	case Stable:
		m.replaceStable(slot, &former, e)
	}
}

// fenceParked answers what the former id of a replaced member has waiting.
func (m *Model) fenceParked(slot int8) {
	member := &m.t.Next.Slots[slot]
	// static.replaced.parked-join
	if member.Joining && m.holds(StaticReplacedJoin) {
		m.t.Replies = append(m.t.Replies, Reply{
			To: Address{Kind: ParkedJoin, Slot: slot}, Error: CodeFencedInstanceID, Echo: EchoFormer, Member: slot, Leader: -1,
		})
	}
	if member.Syncing {
		member.Syncing = false
		// static.replaced.parked-sync
		if m.holds(StaticReplacedSync) {
			m.answerSync(Address{Kind: ParkedSync, Slot: slot}, CodeFencedInstanceID, slot)
		}
	}
}

// replaceStable ends a replacement in a Stable group: without a rebalance if the members would choose the same protocol again.
func (m *Model) replaceStable(slot int8, former *Slot, e *Event) {
	g := &m.t.Next
	member := &g.Slots[slot]
	// static.replaced.vote
	if m.vote() != g.Protocol && m.holds(StaticReplacedVote) && !m.profile.Defects.Has(DefectReplacedVote) {
		m.prepareRebalance()
		return
	}
	// static.replaced.stable
	if !m.holds(StaticReplacedStable) {
		m.prepareRebalance()
		return
	}
	// static.replaced.record
	if m.holds(StaticReplacedRecord) && !m.profile.Defects.Has(DefectReplacedUnwritten) {
		m.record(GroupRecord)
		if e.Write == WriteFailed {
			m.undoReplacement(slot, former)
			return
		}
	}
	member.Joining = false
	// static.replaced.assignment
	if !m.holds(StaticReplacedAssignment) {
		member.Given = 0
	}
	if member.OwesSync {
		// static.replaced.owes-sync
		if m.holds(StaticReplacedOwes) == m.profile.ReplacedLeavesStale {
			member.OwesSync, g.StaleSync = false, true
		}
	}
	// static.replaced.subscribed
	if !m.holds(StaticReplacedSubscribed) {
		m.subscribe()
	}
	m.answerReplaced(slot, e)
}

// undoReplacement gives a member its former id back, because the fresh one could not be written.
func (m *Model) undoReplacement(slot int8, former *Slot) {
	member := &m.t.Next.Slots[slot]
	list := member.List
	*member = *former
	// static.write.fails
	if m.holds(StaticWriteFails) {
		m.t.Rekeyed, m.t.Updated = -1, -1
	}
	m.arm(slot, SessionOfSlot)
	// static.write.fails.list
	if m.holds(StaticWriteFailsList) == m.profile.FailedReplacementKeepsList {
		member.List = list
	}
	m.t.Replies = append(m.t.Replies, Reply{To: Address{Kind: Caller}, Error: CodeWriteFailed, Member: -1, Leader: m.leader(), Filled: true})
}

// answerReplaced answers a replacement that no rebalance has come of.
func (m *Model) answerReplaced(slot int8, e *Event) {
	reply := Reply{To: Address{Kind: Caller}, Echo: EchoSlot, Member: slot, Leader: m.leader()}
	switch {
	case !m.t.Next.Slots[slot].Leader:
		m.cite(JoinReplyFollower)
	case e.Skips:
		// static.replaced.leader
		reply.Members = m.holds(StaticReplacedLeader)
		reply.Skip = reply.Members
	default:
		// static.replaced.leader.old
		reply.FormerLeader = m.holds(StaticReplacedLeaderOld)
		reply.Members = !reply.FormerLeader
	}
	m.t.Replies = append(m.t.Replies, reply)
}
