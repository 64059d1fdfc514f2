package classic

// prepareRebalance turns an open generation (CompletingRebalance or Stable) into a rebalance.
func (m *Model) prepareRebalance() {
	g := &m.t.Next
	if g.Phase == CompletingRebalance {
		m.abortSyncs(CodeRebalanceInProgress, SyncAborted) // sync.parked.aborted
	}
	g.Writing = false
	for i := range g.Slots {
		g.Slots[i].OwesSync = false
	}
	m.setSyncTimer(Cancel)
	g.Phase = PreparingRebalance
	if m.members() == 0 {
		// leave.last.empties: the join timer would run for no time at all, pending ids or not.
		if m.holds(LeaveLastEmpties) {
			m.completeJoin()
		} else {
			m.setJoinTimer(MaxRebalance)
		}
		return
	}
	// join.timer.fixed
	m.cite(JoinTimerFixed)
	m.setJoinTimer(MaxRebalance)
	m.tryCompleteJoin()
}

// abortSyncs takes every assignment back and answers the waiting SyncGroups with the error.
func (m *Model) abortSyncs(code int16, rule RuleID) {
	g := &m.t.Next
	for i := range g.Slots {
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

// tryCompleteJoin completes the join if nobody is missing.
func (m *Model) tryCompleteJoin() {
	// join.complete.all-joined
	if m.t.Next.Phase == PreparingRebalance && m.allJoined() && m.holds(JoinCompleteAll) {
		m.completeJoin()
	}
}

// completeJoin makes a generation out of the members that have joined.
func (m *Model) completeJoin() {
	g := &m.t.Next
	m.expelAbsentees()
	m.setJoinTimer(Cancel)
	if m.members() == 0 {
		m.becomeEmpty()
		return
	}
	// join.complete.generation
	if m.holds(JoinCompleteGeneration) {
		m.t.Generation = NextGeneration
		g.FirstGen = false
	}
	g.Protocol = m.vote()
	g.Phase = CompletingRebalance
	for i := range g.Slots {
		slot := &g.Slots[i]
		if slot.Kind != Member {
			continue
		}
		slot.Joining, slot.New, slot.OwesSync = false, false, true
		m.succeedJoin(m.address(ParkedJoin, int8(i)), int8(i))
		m.renewAnswered(int8(i))
	}
	m.setSyncTimer(MaxRebalance)
}

// expelAbsentees removes the members that have not joined.
func (m *Model) expelAbsentees() {
	for i := range m.t.Next.Slots {
		if slot := &m.t.Next.Slots[i]; slot.Kind == Member && !slot.Joining {
			m.remove(int8(i))
		}
	}
	m.elect()
}

// becomeEmpty ends a join that nobody has joined.
func (m *Model) becomeEmpty() {
	g := &m.t.Next
	g.Phase, g.Protocol = Empty, 0
	// join.complete.empty: the type stays.
	if m.holds(JoinCompleteEmpty) {
		m.t.Generation = NextGeneration
		g.FirstGen = false
	}
	m.record(GroupRecord)
	if g.Offsets {
		// offsets.survive-members
		if !m.holds(OffsetsSurviveMembers) {
			g.Offsets = false
			m.t.Offsets = ClearOffsets
		}
	}
}

func (m *Model) joinTimer() {
	g := &m.t.Next
	if !g.JoinTimer {
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
			m.tryCompleteJoin()
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
	m.lost()
}

// lost reacts to members that have gone.
func (m *Model) lost() {
	switch m.t.Next.Phase {
	case CompletingRebalance, Stable:
		m.prepareRebalance()
	case PreparingRebalance:
		m.tryCompleteJoin()
	}
}
