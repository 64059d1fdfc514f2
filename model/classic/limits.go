package classic

// The initial rebalance delay, and group.max.size.

// extendDelay notes that a member has been added during the initial delay.
func (m *Model) extendDelay() {
	g := &m.t.Next
	if !g.Initial {
		return
	}
	// delay.extends.reused
	if g.FirstGen || m.holds(DelayExtendsReused) == m.profile.DelayExtendsReused {
		g.Extends = true
	}
}

// prolongDelay starts the initial delay once more, where its end is to be extended, and says whether it has.
func (m *Model) prolongDelay(e *Event) bool {
	g := &m.t.Next
	if !g.Initial || !g.Extends || !e.Rest || !m.holds(DelayExtends) { // delay.extends
		return false
	}
	g.Extends = false
	m.setJoinTimer(RestOfInitialDelay)
	return true
}

// endsDelay says whether the initial delay may end before its time.
func (m *Model) endsDelay(timer bool) bool {
	if timer {
		// delay.early-end
		return m.holds(DelayEarlyEnd) == m.profile.DelayEarlyEnd
	}
	// delay.holds
	return !m.holds(DelayHolds)
}

// endDelay ends the initial delay.
func (m *Model) endDelay() {
	g := &m.t.Next
	if !g.Initial {
		return
	}
	g.Initial = false
	// delay.flag
	if g.Extends && m.holds(DelayFlag) != m.profile.DelayFlagKept {
		g.Extends = false
	}
}

// full says whether group.max.size leaves no room for a JoinGroup.
func (m *Model) full(e *Event) bool {
	if m.maxSize == 0 {
		return false
	}
	var known, joined bool
	if e.Ref.Kind == KnownID {
		slot := &m.t.Next.Slots[e.Ref.Slot]
		known, joined = slot.Kind == Member, slot.Joining
	}
	if m.profile.Defects.Has(DefectPendingMaxSize) && m.holds(MaxSizeRefuses) { // max-size.refuses, in all phases
		return e.Ref.Kind == NoID && m.members() >= m.maxSize || known && !joined && m.members() > m.maxSize
	}
	switch m.t.Next.Phase {
	case PreparingRebalance:
		// max-size.preparing
		return !joined && m.joining() >= m.maxSize && m.holds(MaxSizePreparing)
	case CompletingRebalance, Stable:
		// max-size.refuses
		return !known && m.members() >= m.maxSize && m.holds(MaxSizeRefuses)
	}
	return false
}

// refuseFull refuses a JoinGroup that the group has no room for.
func (m *Model) refuseFull(e *Event) {
	m.refuseJoin(CodeGroupMaxSizeReached, EchoNone, -1)
	if e.Ref.Kind == KnownID {
		// max-size.forgets
		stays := m.t.Next.Slots[e.Ref.Slot].Kind == Pending && m.profile.Defects.Has(DefectRefusedPending)
		if m.holds(MaxSizeForgets) && !stays {
			m.remove(e.Ref.Slot)
			m.elect()
		}
	}
	if e.Instance.Kind == KnownInstance && m.profile.Defects.Has(DefectRefusedInstance) { // max-size.first
		m.t.Next.Slots[e.Instance.Slot].Static = false
	}
	if m.t.Next.Phase == PreparingRebalance {
		// max-size.reevaluates
		if m.holds(MaxSizeReevaluates) == m.profile.RefusalReevaluates {
			m.tryCompleteJoin(false)
		}
	}
}
