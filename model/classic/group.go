package classic

// What can be read off the state under construction, and how members come and go.

func (m *Model) members() (n int) {
	for i := range m.t.Next.Slots {
		if m.t.Next.Slots[i].Kind == Member {
			n++
		}
	}
	return n
}

// pending says whether an id handed out with MEMBER_ID_REQUIRED is outstanding.
func (m *Model) pending() bool {
	for i := range m.t.Next.Slots {
		if m.t.Next.Slots[i].Kind == Pending {
			return true
		}
	}
	return false
}

// leader returns the slot that leads, or -1.
func (m *Model) leader() int8 {
	for i := range m.t.Next.Slots {
		if m.t.Next.Slots[i].Leader {
			return int8(i)
		}
	}
	return -1
}

// allJoined says whether the join may complete before its timer.
func (m *Model) allJoined() bool {
	pending := false
	for i := range m.t.Next.Slots {
		slot := &m.t.Next.Slots[i]
		if slot.Kind == Member && !slot.Joining {
			return false
		}
		pending = pending || slot.Kind == Pending
	}
	return !pending || !m.holds(JoinPendingBlocks) // join.pending.blocks
}

// member returns the slot of a request's member id if that is a member's; pending ids are not members.
func (m *Model) member(ref Ref) (int8, bool) {
	if ref.Kind != KnownID || m.t.Next.Slots[ref.Slot].Kind != Member {
		return -1, false
	}
	return ref.Slot, true
}

// mint gives a fresh member id to a free slot. It fails where there is none.
func (m *Model) mint() (int8, bool) {
	for i := range m.t.Next.Slots {
		if m.t.Next.Slots[i].Kind == Free {
			m.t.Minted = int8(i)
			return int8(i), true
		}
	}
	m.t.Overflow = true
	return -1, false
}

// create makes a group with neither type nor members, generation 0.
func (m *Model) create() {
	m.t.Next = State{Phase: Empty, FirstGen: true}
	m.t.Generation = ResetGeneration
}

// destroy makes the group absent. An Empty group has no parked requests that could be lost with it.
func (m *Model) destroy() {
	for i := range m.t.Next.Slots {
		m.disarm(int8(i))
	}
	m.setJoinTimer(Cancel)
	m.setSyncTimer(Cancel)
	m.t.Next = State{}
	m.t.Generation = ResetGeneration
}

// add makes the slot a member that waits for its first join to complete.
func (m *Model) add(slot int8, e *Event) {
	g := &m.t.Next
	if m.members() == 0 {
		g.Type = e.Type
	}
	g.Slots[slot] = Slot{Kind: Member, New: true, Joining: true, List: e.List, Leader: m.leader() < 0, Timed: g.Slots[slot].Timed}
	m.t.Updated, m.caller = slot, Address{Kind: ParkedJoin, Slot: slot}
	// join.new.timeout
	if m.holds(JoinNewMemberTimeout) {
		m.arm(slot, NewMemberTimeout)
	} else {
		m.disarm(slot)
	}
}

// update takes over what the JoinGroup of a known member says, and parks it.
func (m *Model) update(slot int8, e *Event) {
	member := &m.t.Next.Slots[slot]
	if member.Joining && !m.supersede(ParkedJoin, slot, JoinParkedSuperseded) { // join.parked.superseded
		return
	}
	member.List, member.Joining = e.List, true
	m.t.Updated, m.caller = slot, Address{Kind: ParkedJoin, Slot: slot}
	// join.repeat.keeps-timer
	if !m.holds(JoinRepeatKeepsTimer) {
		m.arm(slot, SessionOfSlot)
	}
}

// supersede ends the wait of a request that its member has repeated, and says whether the repeat takes its place. The contract
// lets the earlier one go unanswered, but never the later one.
func (m *Model) supersede(kind AddressKind, slot int8, rule RuleID) bool {
	to := Address{Kind: kind, Slot: slot}
	switch {
	case !m.holds(rule):
		m.t.Superseded = append(m.t.Superseded, Address{Kind: Caller})
		return false
	case !m.profile.AnswersDropped:
		m.t.Superseded = append(m.t.Superseded, to)
	case kind == ParkedJoin:
		m.t.Replies = append(m.t.Replies, Reply{To: to, Error: CodeRebalanceInProgress, Echo: EchoSlot, Member: slot, Leader: -1})
	default:
		m.answerSync(to, CodeRebalanceInProgress, slot)
	}
	return true
}

// remove forgets a member: its timer is cancelled and its waiting requests end. Whoever removes members calls elect when done.
func (m *Model) remove(slot int8) {
	g := &m.t.Next
	if g.Slots[slot].Joining {
		// join.parked.removed
		if m.holds(JoinParkedRemoved) {
			m.t.Replies = append(m.t.Replies, Reply{To: m.address(ParkedJoin, slot), Error: CodeUnknownMemberID, Member: -1, Leader: -1})
		}
	}
	if g.Slots[slot].Syncing {
		// sync.parked.removed
		to := m.address(ParkedSync, slot)
		switch {
		case !m.holds(SyncParkedRemoved):
			m.answerSync(to, CodeNone, slot)
		case m.profile.AnswersDropped:
			m.answerSync(to, CodeUnknownMemberID, slot)
		default:
			m.t.Superseded = append(m.t.Superseded, to)
		}
	}
	m.disarm(slot)
	g.Slots[slot] = Slot{}
}

// forget drops a pending id.
func (m *Model) forget(slot int8) {
	m.disarm(slot)
	m.t.Next.Slots[slot] = Slot{}
}

// elect gives a group that has lost its leader another one, any member.
func (m *Model) elect() {
	n := m.members()
	if n == 0 || m.leader() >= 0 || !m.holds(JoinCompleteLeader) { // join.complete.leader
		return
	}
	pick := m.choices.choose(n)
	for i := range m.t.Next.Slots {
		if slot := &m.t.Next.Slots[i]; slot.Kind == Member {
			if pick == 0 {
				slot.Leader = true
				return
			}
			pick--
		}
	}
}

// settleSync cancels the sync timer once nobody owes a SyncGroup.
func (m *Model) settleSync() {
	if !m.t.Next.SyncTimer {
		return
	}
	for i := range m.t.Next.Slots {
		if m.t.Next.Slots[i].OwesSync {
			return
		}
	}
	m.setSyncTimer(Cancel)
}
