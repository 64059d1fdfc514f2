package classic

func (m *Model) heartbeat(e *Event) {
	g := &m.t.Next
	// heartbeat.group-id.empty
	if e.BadGroup && m.holds(HeartbeatGroupID) {
		m.answer(CodeInvalidGroupID)
		return
	}
	if g.Phase == Absent {
		// heartbeat.group.unknown
		if m.holds(HeartbeatUnknownGroup) {
			m.answer(CodeUnknownMemberID)
		} else {
			m.answer(CodeNone)
		}
		return
	}
	slot, code := m.member(e.Ref, e.Instance, HeartbeatUnknownMember) // heartbeat.member.unknown
	if slot < 0 {
		m.answer(code)
		return
	}
	if m.fenced(e.Gen, HeartbeatIllegalGeneration) { // heartbeat.generation.illegal
		m.answer(CodeIllegalGeneration)
		return
	}
	switch g.Phase {
	case PreparingRebalance:
		// heartbeat.preparing
		if m.holds(HeartbeatPreparing) {
			m.answer(CodeRebalanceInProgress)
		} else {
			m.answer(CodeNone)
		}
		m.renew(slot)
	case CompletingRebalance:
		// heartbeat.completing
		if m.holds(HeartbeatCompleting) && !m.profile.Defects.Has(DefectHeartbeatCompleting) {
			m.answer(CodeNone)
			m.renew(slot)
		} else {
			m.answer(CodeRebalanceInProgress)
		}
	case Stable:
		m.answer(CodeNone)
		// heartbeat.stable
		if m.holds(HeartbeatStable) {
			m.renew(slot)
		}
	}
}
