package classic

func (m *Model) offsetCommit(e *Event) {
	g := &m.t.Next
	if g.Phase == Absent {
		m.commitAbsent(e)
		return
	}
	if e.Gen == NoGen && g.Phase == Empty {
		// commit.empty.accepted
		if m.holds(CommitEmptyGroup) {
			m.store(e)
		} else {
			m.answer(CodeUnknownMemberID)
		}
		return
	}
	if e.Gen == NoGen && e.Ref.Kind == NoID {
		// commit.anonymous.refused
		if m.holds(CommitAnonymousRefused) {
			m.answer(CodeUnknownMemberID)
		} else {
			m.store(e)
		}
		return
	}
	slot, ok := m.member(e.Ref)
	if !ok {
		// commit.member.unknown
		if m.holds(CommitUnknownMember) {
			m.answer(CodeUnknownMemberID)
		} else {
			m.store(e)
		}
		return
	}
	if m.fenced(e.Gen, CommitIllegalGeneration) { // commit.generation.illegal
		m.answer(CodeIllegalGeneration)
		return
	}
	if g.Phase == CompletingRebalance {
		// commit.completing
		if m.holds(CommitCompleting) {
			m.answer(CodeRebalanceInProgress)
			return
		}
	}
	// commit.member.accepted
	if !m.holds(CommitMember) {
		m.answer(CodeRebalanceInProgress)
		return
	}
	m.store(e)
	// commit.renews-timer
	if m.holds(CommitRefreshesTimer) {
		m.renew(slot)
	}
}

func (m *Model) commitAbsent(e *Event) {
	if e.Gen != NoGen {
		// commit.group.unknown
		if !m.holds(CommitUnknownGroup) {
			m.create()
			m.store(e)
			return
		}
		// commit.group.unknown.code
		code := CodeIllegalGeneration
		if late := e.CommitVersion >= 9 && m.profile.UnknownGroupCommit69; late == m.holds(CommitUnknownGroupCode) {
			code = CodeGroupIDNotFound
		}
		m.answer(code)
		return
	}
	// commit.simple.creates
	if !m.holds(CommitSimpleGroup) {
		m.answer(CodeUnknownMemberID)
		return
	}
	m.create()
	m.store(e)
	if e.Write == WriteFailed && !e.TooLarge && m.profile.WritesReported {
		m.t.Next = State{}
	}
}

// store ends a commit that the group has let pass.
func (m *Model) store(e *Event) {
	if e.TooLarge {
		// commit.metadata.too-large
		if m.holds(CommitMetadataTooLarge) {
			m.answer(CodeOffsetMetadataTooLarge)
			return
		}
	}
	m.record(OffsetRecords)
	if e.Write == WriteFailed {
		m.answer(CodeWriteFailed)
		return
	}
	m.t.Next.Offsets = true
	m.t.Offsets = StoreOffsets
	m.answer(CodeNone)
}

// offsetFetch answers anyone in any state; the values are the driver's.
func (m *Model) offsetFetch() {
	if m.t.Next.Offsets {
		m.cite(FetchCommitted) // fetch.committed
	} else {
		m.cite(FetchNothing) // fetch.nothing
	}
	m.answer(CodeNone)
}
