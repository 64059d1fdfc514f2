package classic

// What can be read off the state under construction, and how members come and go.

// slots are those up to the last one that has been in use since before the event: few, where there is room for many.
func (m *Model) slots() []Slot { return m.t.Next.Slots[:m.top] }

func (m *Model) members() (n int) {
	for i := range m.slots() {
		if m.t.Next.Slots[i].Kind == Member {
			n++
		}
	}
	return n
}

// pending says whether an id handed out with MEMBER_ID_REQUIRED is outstanding.
func (m *Model) pending() bool {
	for i := range m.slots() {
		if m.t.Next.Slots[i].Kind == Pending {
			return true
		}
	}
	return false
}

// leader returns the slot that leads, or -1.
func (m *Model) leader() int8 {
	for i := range m.slots() {
		if m.t.Next.Slots[i].Leader {
			return int8(i)
		}
	}
	return -1
}

// allJoined says whether the join may complete before its timer.
func (m *Model) allJoined() bool {
	pending := false
	for i := range m.slots() {
		slot := &m.t.Next.Slots[i]
		if slot.Kind == Member && !slot.Joining {
			return false
		}
		pending = pending || slot.Kind == Pending
	}
	return !pending || !m.holds(JoinPendingBlocks) // join.pending.blocks
}

// member returns the slot of the member that a request acts for. If there is none it returns -1 and the error of the request; that is
// NONE only where a rule is broken. Pending ids are not members.
func (m *Model) member(ref Ref, instance Instance, unknown RuleID) (int8, int16) {
	switch m.mapped(instance) {
	case UnknownInstance:
		// static.unmapped
		if m.holds(StaticUnmapped) != m.profile.UnmappedInstancePasses {
			return -1, CodeUnknownMemberID
		}
	case KnownInstance:
		// static.fenced
		if (ref != Ref{Kind: KnownID, Slot: instance.Slot}) && m.holds(StaticFenced) {
			return -1, CodeFencedInstanceID
		}
	}
	if ref.Kind != KnownID || m.t.Next.Slots[ref.Slot].Kind != Member {
		if m.holds(unknown) {
			return -1, CodeUnknownMemberID
		}
		return -1, CodeNone
	}
	// static.optional
	if m.t.Next.Slots[ref.Slot].Static && instance.Kind == NoInstance && !m.holds(StaticOptional) {
		return -1, CodeUnknownMemberID
	}
	return ref.Slot, CodeNone
}

// mapped is how an instance id relates to the state under construction, in which its member may be gone.
func (m *Model) mapped(instance Instance) InstanceKind {
	if instance.Kind == KnownInstance && !m.t.Next.Slots[instance.Slot].Static {
		return UnknownInstance
	}
	return instance.Kind
}

// joining counts the members whose JoinGroup is parked.
func (m *Model) joining() (n int) {
	for i := range m.slots() {
		n += int(bit(m.t.Next.Slots[i].Joining, 0))
	}
	return n
}

// mint gives a fresh member id to a free slot. It fails where there is none.
func (m *Model) mint() (int8, bool) {
	for i := range m.t.Next.Slots {
		if m.t.Next.Slots[i].Kind == Free {
			m.t.Minted, m.top = int8(i), max(m.top, i+1)
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
	for i := range m.slots() {
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
	g.Slots[slot] = Slot{
		Kind: Member, New: true, Joining: true, List: e.List, Leader: m.leader() < 0, Timed: g.Slots[slot].Timed,
		Static: e.Ref.Kind == NoID && e.Instance.Kind != NoInstance,
	}
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
	m.caller = Address{Kind: ParkedJoin, Slot: slot}
	if !m.profile.Defects.Has(DefectRejoinedTimeouts) {
		m.t.Updated = slot
	}
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
	if n := m.members(); n > 0 && m.leader() < 0 {
		m.appoint(n, false)
	}
}

// electJoined gives a generation a leader that has joined it, any of them, where the leader has not. Where nobody has, any member leads.
func (m *Model) electJoined() {
	n, leader := m.joining(), m.leader()
	if n == 0 {
		m.elect()
	} else if leader < 0 || !m.t.Next.Slots[leader].Joining {
		m.appoint(n, true)
	}
}

// appoint makes one of n candidates the leader: the members, or those that have joined.
func (m *Model) appoint(n int, joined bool) {
	// join.complete.leader
	if !m.holds(JoinCompleteLeader) {
		return
	}
	pick := m.choices.choose(n)
	for i := range m.slots() {
		slot := &m.t.Next.Slots[i]
		slot.Leader = false
		if slot.Kind == Member && (slot.Joining || !joined) {
			slot.Leader = pick == 0
			pick--
		}
	}
}

// settleSync cancels the sync timer once nobody owes a SyncGroup.
func (m *Model) settleSync() {
	if !m.t.Next.SyncTimer || m.t.Next.StaleSync {
		return
	}
	for i := range m.slots() {
		if m.t.Next.Slots[i].OwesSync {
			return
		}
	}
	m.setSyncTimer(Cancel)
}
