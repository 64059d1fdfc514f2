package classic

func (m *Model) syncGroup(e *Event) {
	slot, ok := m.admitSync(e)
	if !ok {
		return
	}
	member := &m.t.Next.Slots[slot]
	switch m.t.Next.Phase {
	case PreparingRebalance:
		// sync.preparing
		if m.holds(SyncPreparing) {
			m.answer(CodeRebalanceInProgress)
			return
		}
		m.parkSync(slot)
	case CompletingRebalance:
		if !member.Leader {
			// sync.follower.parks
			if !m.holds(SyncFollowerParks) {
				m.answerSync(Address{Kind: Caller}, CodeNone, slot)
				return
			}
			m.parkSync(slot)
			return
		}
		m.parkSync(slot)
		m.propose(e)
	case Stable:
		m.syncStable(slot, e)
	}
}

// admitSync refuses what is not a member's SyncGroup of the current generation.
func (m *Model) admitSync(e *Event) (int8, bool) {
	g := &m.t.Next
	// sync.protocol.missing
	if e.NoProtocol && m.holds(SyncMissingProtocol) {
		m.answer(CodeInconsistentGroupProtocol)
		return -1, false
	}
	// sync.group-id.empty
	if e.BadGroup && m.holds(SyncGroupID) {
		m.answer(CodeInvalidGroupID)
		return -1, false
	}
	if g.Phase == Absent || g.Phase == Empty {
		// sync.group.unknown
		if m.holds(SyncUnknownGroup) {
			m.answer(CodeUnknownMemberID)
		} else {
			m.answer(CodeNone)
		}
		return -1, false
	}
	slot, code := m.member(e.Ref, e.Instance, SyncUnknownMember) // sync.member.unknown
	if slot < 0 {
		m.answer(code)
		return -1, false
	}
	if m.fenced(e.Gen, SyncIllegalGeneration) { // sync.generation.illegal
		m.answer(CodeIllegalGeneration)
		return -1, false
	}
	if m.inconsistent(e) {
		// sync.protocol.inconsistent
		if m.holds(SyncInconsistentProtocol) {
			m.answer(CodeInconsistentGroupProtocol)
			return -1, false
		}
	}
	return slot, true
}

func (m *Model) inconsistent(e *Event) bool {
	g := &m.t.Next
	switch {
	case e.Type != 0 && e.Type != g.Type:
		return true
	case e.Protocol == 0 || e.Protocol == g.Protocol:
		return false
	case g.Protocol == 0:
		// sync.protocol.early
		return m.holds(SyncProtocolEarly) == m.profile.EarlySyncRefused
	}
	return true
}

// fenced says whether a member's request of the given generation is refused, by the API's own rule and by the fence in general.
func (m *Model) fenced(gen Gen, rule RuleID) bool {
	if gen == CurrentGen {
		return false
	}
	refused := m.holds(rule)
	if gen == OtherGen && !m.holds(GenerationFence) { // generation.fence
		return false
	}
	return refused
}

func (m *Model) parkSync(slot int8) {
	member := &m.t.Next.Slots[slot]
	if member.Syncing && !m.supersede(ParkedSync, slot, SyncParkedSuperseded) { // sync.parked.superseded
		return
	}
	member.Syncing, member.OwesSync = true, false
	m.caller = Address{Kind: ParkedSync, Slot: slot}
	m.settleSync()
}

// propose takes the leader's assignment to be written. One that comes while another is on its way is written too, but what the
// coordinator will hand out is the first.
func (m *Model) propose(e *Event) {
	g := &m.t.Next
	m.record(GroupRecord)
	if g.Writing {
		return
	}
	for i := range m.slots() {
		if slot := &g.Slots[i]; slot.Kind == Member {
			slot.Proposed = e.Assign[i]
		} else if e.Assign[i] != 0 {
			// sync.leader.strangers: whoever is not a member is passed over.
			m.cite(SyncAssignsMembersOnly)
		}
	}
	g.Writing = true
	if !m.inFlight && !e.Slow {
		m.finishWrite(e.Write)
	}
}

func (m *Model) writeDone(e *Event) {
	// A write that a rebalance has overtaken concerns nobody.
	if m.t.Next.Writing {
		m.finishWrite(e.Write)
	}
}

func (m *Model) finishWrite(result Write) {
	g := &m.t.Next
	g.Writing = false
	if result == WriteFailed {
		// sync.write.fails
		if m.holds(SyncWriteFails) {
			m.abortSyncs(CodeWriteFailed, SyncWriteFails)
			m.prepareRebalance()
			return
		}
	}
	g.Phase = Stable
	for i := range m.slots() {
		slot := &g.Slots[i]
		if slot.Kind != Member {
			continue
		}
		slot.Given, slot.Proposed = slot.Proposed, 0
		// sync.leader.assigns
		if slot.Syncing && (m.holds(SyncLeaderAssigns) || slot.Leader) {
			slot.Syncing = false
			m.answerSync(m.address(ParkedSync, int8(i)), CodeNone, int8(i))
			m.renewAnswered(int8(i))
		}
	}
}

func (m *Model) syncStable(slot int8, e *Event) {
	g := &m.t.Next
	g.Slots[slot].OwesSync = false
	m.settleSync()
	// sync.stable.repeats
	if !m.holds(SyncStableRepeats) && g.Slots[slot].Leader {
		for i := range m.slots() {
			if g.Slots[i].Kind == Member {
				g.Slots[i].Given = e.Assign[i]
			}
		}
	}
	m.answerSync(Address{Kind: Caller}, CodeNone, slot)
	// sync.stable.keeps-timer
	if m.holds(SyncStableKeepsTimer) == m.profile.SyncRenewsTimer {
		m.arm(slot, SessionOfSlot)
	}
}

func (m *Model) syncTimer() {
	g := &m.t.Next
	if !g.SyncTimer {
		return
	}
	m.setSyncTimer(Cancel)
	// sync.timer.expels
	if !m.holds(SyncTimerExpels) {
		return
	}
	for i := range m.slots() {
		if g.Slots[i].OwesSync {
			m.remove(int8(i))
		}
	}
	m.elect()
	m.lost(true)
}
