package classic

func (m *Model) joinGroup(e *Event) {
	g := &m.t.Next
	// join.group-id.empty
	if e.BadGroup && m.holds(JoinGroupID) {
		m.refuseJoin(CodeInvalidGroupID, EchoRequest, -1)
		return
	}
	// join.session.bounds
	if e.BadSession && m.holds(JoinSessionBounds) {
		m.refuseJoin(CodeInvalidSessionTimeout, EchoRequest, -1)
		return
	}
	if g.Phase != Absent {
		m.joinExisting(e)
		return
	}
	if e.Ref.Kind != NoID {
		// join.group.unknown
		if m.holds(JoinUnknownGroup) {
			m.refuseJoin(CodeUnknownMemberID, EchoRequest, -1)
			return
		}
		m.create()
		m.joinExisting(e)
		return
	}
	m.joinAbsent(e)
}

// joinAbsent creates the group for a JoinGroup without member id.
func (m *Model) joinAbsent(e *Event) {
	m.create()
	if m.profile.CreationRecord {
		m.record(GroupRecord)
	}
	m.joinExisting(e)
	refused := m.t.Minted < 0
	// join.group.created
	if refused && !m.holds(JoinCreatesGroup) {
		m.destroy()
		m.t.Records = m.t.Records[:0]
		return
	}
	if !refused {
		m.cite(JoinCreatesGroup)
	}
	if m.profile.CreationRecord && e.Write == WriteFailed {
		m.undoCreation()
	}
}

// undoCreation makes away with a group whose first record could not be written. A refusal, or the id that was handed out, has been
// answered by then; a JoinGroup that was parked has not.
func (m *Model) undoCreation() {
	if m.t.Minted >= 0 && m.t.Next.Slots[m.t.Minted].Kind == Member {
		m.t.Replies = m.t.Replies[:0]
		m.refuseJoin(CodeWriteFailed, EchoNone, -1)
	}
	m.destroy()
	m.t.Updated = -1
}

func (m *Model) joinExisting(e *Event) {
	// max-size.first
	if m.full(e) && (m.holds(MaxSizeFirst) || m.supports(e)) {
		m.refuseFull(e)
		return
	}
	if !m.supports(e) {
		// join.protocol.before-member
		if e.Ref.Kind == UnknownID && !m.holds(JoinProtocolBeforeMember) {
			m.refuseJoin(CodeUnknownMemberID, EchoRequest, -1)
			return
		}
		// join.protocol.inconsistent
		if m.holds(JoinInconsistentProtocol) {
			m.refuseJoin(CodeInconsistentGroupProtocol, EchoRequest, -1)
			return
		}
	}
	switch {
	case e.Ref.Kind == NoID:
		m.joinNew(e)
	case e.Ref.Kind == KnownID && m.t.Next.Slots[e.Ref.Slot].Kind == Pending:
		// static.pending
		if e.Instance.Kind != NoInstance && m.holds(StaticPending) {
			if m.profile.PendingInstanceSilent {
				m.t.Superseded = append(m.t.Superseded, Address{Kind: Caller})
				return
			}
			m.refuseJoin(CodeUnknownServerError, EchoNone, -1)
			return
		}
		// join.pending.joins
		if !m.holds(JoinPendingJoins) {
			m.refuseJoin(CodeUnknownMemberID, EchoRequest, -1)
			return
		}
		m.add(e.Ref.Slot, e)
		m.joined()
	default:
		if m.profile.UnmappedInstancePasses && m.mapped(e.Instance) == UnknownInstance {
			m.refuseJoin(CodeUnknownMemberID, EchoRequest, -1) // static.unmapped: JoinGroup never passed one over
			return
		}
		slot, code := m.member(e.Ref, e.Instance, JoinUnknownMember) // join.member.unknown
		switch {
		case slot >= 0:
			m.rejoin(slot, e)
		case code != CodeNone:
			m.refuseJoin(code, EchoRequest, -1)
		default:
			m.addFresh(e)
		}
	}
}

// joinNew serves a JoinGroup without member id.
func (m *Model) joinNew(e *Event) {
	switch m.mapped(e.Instance) {
	case KnownInstance:
		// static.replaced
		if m.holds(StaticReplaced) {
			m.replace(e.Instance.Slot, e)
			return
		}
		m.addFresh(e)
		return
	case UnknownInstance:
		// static.joins
		if m.holds(StaticJoins) {
			m.addFresh(e)
			return
		}
	}
	needsID := e.NeedsID
	if needsID {
		needsID = m.holds(JoinNewMemberIDRequired) // join.new.member-id-required
	} else {
		needsID = !m.holds(JoinNewOldVersion) // join.new.old-version
	}
	if !needsID {
		m.addFresh(e)
		return
	}
	slot, ok := m.mint()
	if !ok {
		return
	}
	m.t.Next.Slots[slot].Kind = Pending
	m.t.Updated = slot
	// join.pending.expires
	m.arm(slot, SessionOfSlot)
	m.refuseJoin(CodeMemberIDRequired, EchoSlot, slot)
}

// addFresh adds a member under a fresh id.
func (m *Model) addFresh(e *Event) {
	if slot, ok := m.mint(); ok {
		m.add(slot, e)
		m.joined()
	}
}

// joined reacts to a new member.
func (m *Model) joined() {
	switch m.t.Next.Phase {
	case Empty:
		// join.empty.rebalances; pending ids do not prolong the delay.
		switch {
		case !m.holds(JoinEmptyRebalances):
		case m.delay && m.holds(DelayWaits): // delay.waits
			m.t.Next.Phase, m.t.Next.Initial = PreparingRebalance, true
			m.setJoinTimer(InitialDelay)
		default:
			m.completeJoin()
		}
	case PreparingRebalance:
		m.extendDelay()
		// join.preparing.parks
		if !m.holds(JoinPreparingParks) {
			m.letIn(m.caller.Slot)
			return
		}
		m.tryCompleteJoin(false)
	case CompletingRebalance, Stable:
		// join.new.rebalances
		if !m.holds(JoinStartsRebalance) {
			m.letIn(m.caller.Slot)
			return
		}
		m.prepareRebalance()
	}
}

// letIn answers a parked JoinGroup of this event at once, which no rule allows: only broken rules come here.
func (m *Model) letIn(slot int8) {
	member := &m.t.Next.Slots[slot]
	member.Joining, member.New = false, false
	m.arm(slot, SessionOfSlot)
	m.succeedJoin(Address{Kind: Caller}, slot)
}

// rejoin serves the JoinGroup of a member.
func (m *Model) rejoin(slot int8, e *Event) {
	member := &m.t.Next.Slots[slot]
	changed := e.List != member.List
	switch m.t.Next.Phase {
	case PreparingRebalance:
		m.update(slot, e)
		// join.preparing.parks
		if !m.holds(JoinPreparingParks) {
			m.letIn(slot)
			return
		}
		m.tryCompleteJoin(false)
		return
	case CompletingRebalance:
		if changed {
			changed = m.holds(JoinCompletingChanged) // join.completing.changed
		} else {
			changed = !m.holds(JoinCompletingSame) // join.completing.same
		}
	case Stable:
		switch {
		case changed:
			changed = m.holds(JoinStableChanged) // join.stable.changed
		case member.Leader:
			changed = m.holds(JoinStableLeaderRepeats) // join.stable.leader-repeats
		default:
			changed = !m.holds(JoinStableFollowerRepeats) // join.stable.follower-repeats
		}
	}
	if !changed {
		m.succeedJoin(Address{Kind: Caller}, slot)
		// join.repeat.keeps-timer
		if !m.holds(JoinRepeatKeepsTimer) {
			m.arm(slot, SessionOfSlot)
		}
		return
	}
	m.update(slot, e)
	m.prepareRebalance()
}
