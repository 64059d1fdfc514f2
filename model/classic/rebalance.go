package classic

// prepareRebalance turns an open generation (CompletingRebalance or Stable) into a rebalance.
func (m *Model) prepareRebalance() {
	g := &m.t.Next
	if g.Phase == CompletingRebalance {
		m.abortSyncs(CodeRebalanceInProgress, SyncAborted) // sync.parked.aborted
	}
	g.Writing, g.StaleSync = false, false
	for i := range m.slots() {
		g.Slots[i].OwesSync = false
	}
	m.setSyncTimer(Cancel)
	g.Phase = PreparingRebalance
	if m.members() == 0 {
		// leave.last.empties: the join timer would run for no time at all, pending ids or not.
		switch {
		case !m.holds(LeaveLastEmpties):
			m.setJoinTimer(NewMemberTimeout)
		case m.empty && m.pending():
			m.setJoinTimer(MaxRebalance) // nobody's
		default:
			m.completeJoin()
		}
		return
	}
	// join.timer.fixed
	m.cite(JoinTimerFixed)
	m.setJoinTimer(MaxRebalance)
	m.tryCompleteJoin(false)
}

// abortSyncs takes every assignment back and answers the waiting SyncGroups with the error.
func (m *Model) abortSyncs(code int16, rule RuleID) {
	g := &m.t.Next
	for i := range m.slots() {
		slot := &g.Slots[i]
		slot.Given, slot.Proposed = 0, 0
		if slot.Syncing && m.holds(rule) {
			slot.Syncing = false
			m.answerSync(m.address(ParkedSync, int8(i)), code, int8(i))
			m.renewAnswered(int8(i))
		}
	}
}

// renewAnswered restarts the session timer of a member that has waited and now has its answer.
func (m *Model) renewAnswered(slot int8) {
	// session.renewed-by-completion
	if m.holds(SessionRenewedByCompletion) {
		m.arm(slot, SessionOfSlot)
	}
}

// tryCompleteJoin completes the join if nobody is missing; it is told whether a timer has made it so.
func (m *Model) tryCompleteJoin(timer bool) {
	if m.t.Next.Phase != PreparingRebalance || m.t.Next.Initial && !m.endsDelay(timer) {
		return
	}
	// join.complete.all-joined
	if m.allJoined() && m.holds(JoinCompleteAll) {
		m.completeJoin()
	}
}

// completeJoin makes a generation out of the members that have joined.
func (m *Model) completeJoin() {
	g := &m.t.Next
	m.expelAbsentees()
	if m.members() > 0 && m.joining() == 0 {
		// static.nobody-joined
		if m.holds(StaticNobodyJoined) {
			m.setJoinTimer(MaxRebalance)
			return
		}
	}
	m.setJoinTimer(Cancel)
	m.endDelay()
	if m.members() == 0 {
		m.becomeEmpty()
		return
	}
	m.nextGeneration(JoinCompleteGeneration) // join.complete.generation
	g.Protocol = m.vote()
	m.subscribe()
	g.Phase = CompletingRebalance
	// Before there was a sync timer, nobody owed a SyncGroup.
	owes := !m.profile.Defects.Has(DefectNoSyncTimer)
	for i := range m.slots() {
		slot := &g.Slots[i]
		if slot.Kind != Member {
			continue
		}
		joined, stuck := slot.Joining, slot.New && m.profile.Defects.Has(DefectNewMemberStuck)
		slot.Joining, slot.New, slot.OwesSync = false, false, owes
		if joined {
			m.succeedJoin(m.address(ParkedJoin, int8(i)), int8(i))
		}
		if stuck { // for good, in truth: until its next request nobody looks
			m.arm(int8(i), NewMemberTimeout)
		} else {
			m.renewAnswered(int8(i))
		}
	}
	if owes {
		m.setSyncTimer(MaxRebalance)
	}
	if m.entry {
		m.midway = *g
		m.t.Midway = &m.midway
	}
}

// nextGeneration takes a generation, by the rule that says so.
func (m *Model) nextGeneration(rule RuleID) {
	if !m.holds(rule) {
		return
	}
	if m.t.Generation == NextGeneration {
		m.t.Generation = SecondGeneration
	} else {
		m.t.Generation = NextGeneration
	}
	m.t.Next.FirstGen = false
}

// expelAbsentees removes the members that have not joined, but for static ones.
func (m *Model) expelAbsentees() {
	for i := range m.slots() {
		slot := &m.t.Next.Slots[i]
		if slot.Kind != Member || slot.Joining {
			continue
		}
		// static.retained
		if slot.Static && m.holds(StaticRetained) {
			continue
		}
		m.remove(int8(i))
	}
	m.electJoined()
}

// becomeEmpty ends a join that nobody has joined.
func (m *Model) becomeEmpty() {
	g := &m.t.Next
	g.Phase, g.Protocol = Empty, 0
	m.nextGeneration(JoinCompleteEmpty) // join.complete.empty: the type stays.
	m.subscribe()
	m.record(GroupRecord)
	if g.Offsets {
		// offsets.survive-members
		if !m.holds(OffsetsSurviveMembers) {
			g.Offsets = false
			m.t.Offsets = ClearOffsets
		}
	}
}

func (m *Model) joinTimer(e *Event) {
	g := &m.t.Next
	if !g.JoinTimer || m.prolongDelay(e) {
		return
	}
	// join.complete.timeout
	if !m.holds(JoinCompleteTimeout) {
		m.expelAbsentees()
		m.setJoinTimer(Cancel)
		return
	}
	m.completeJoin()
}

func (m *Model) memberTimer(e *Event) {
	g := &m.t.Next
	slot := &g.Slots[e.Slot]
	if !slot.Timed {
		return
	}
	m.disarm(e.Slot)
	switch {
	case slot.Kind == Pending:
		// join.pending.expires
		if m.holds(JoinPendingExpires) {
			m.forget(e.Slot)
			m.tryCompleteJoin(true)
		}
		return
	case slot.New:
		// join.new.timeout
		m.cite(JoinNewMemberTimeout)
	case slot.Joining || slot.Syncing:
		// session.parked: the timer is spent until the request is answered.
		if m.holds(SessionParkedIgnored) {
			return
		}
	default:
		// session.expires
		if !m.holds(SessionExpires) {
			return
		}
	}
	m.remove(e.Slot)
	m.elect()
	m.lost(true)
}

// lost reacts to members that have gone, because of a timer or not.
func (m *Model) lost(timer bool) {
	switch m.t.Next.Phase {
	case CompletingRebalance, Stable:
		m.prepareRebalance()
	case PreparingRebalance:
		m.tryCompleteJoin(timer)
	}
}
