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
	if e.anonymous() {
		// commit.anonymous.refused
		if m.holds(CommitAnonymousRefused) {
			m.answer(CodeUnknownMemberID)
		} else {
			m.store(e)
		}
		return
	}
	slot, code := m.member(e.Ref, e.Instance, CommitUnknownMember) // commit.member.unknown
	if slot < 0 {
		if code == CodeNone {
			m.store(e)
		} else {
			m.answer(code)
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
	m.createBy(e)
}

// createBy makes a simple group of a commit that the group would take. Where nothing of it is written there may be none.
func (m *Model) createBy(e *Event) {
	m.create()
	m.store(e)
	switch {
	case len(m.t.Records) == 0:
		// commit.nothing-stored
		if m.holds(CommitNothingStored) != m.profile.NothingStoredCreates {
			m.t.Next = State{}
		}
	case e.Write == WriteFailed && m.profile.WritesReported:
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
	pending := e.Kind == TxnOffsetCommit
	if pending {
		m.record(TxnOffsetRecords)
	} else {
		m.record(OffsetRecords)
	}
	if e.Write == WriteFailed {
		// commit.write.fails
		if m.holds(CommitWriteFails) {
			m.answer(CodeWriteFailed)
		} else {
			m.answer(CodeNone)
		}
		return
	}
	// txn.pending
	if pending && m.holds(TxnPending) {
		m.t.Next.Open = true
		m.t.Offsets = PendOffsets
	} else {
		m.t.Next.Offsets = true
		m.t.Offsets = StoreOffsets
	}
	m.answer(CodeNone)
}

// anonymous says whether a commit names neither generation nor member nor instance.
func (e *Event) anonymous() bool {
	return e.Gen == NoGen && e.Ref.Kind == NoID && e.Instance.Kind == NoInstance
}

// offsetFetch answers anyone in any state; the values are the driver's.
func (m *Model) offsetFetch(e *Event) {
	if e.Stable && m.t.Next.Open {
		m.cite(FetchUnstable) // fetch.unstable
	}
	if m.t.Next.Offsets {
		m.cite(FetchCommitted) // fetch.committed
	} else {
		m.cite(FetchNothing) // fetch.nothing
	}
	m.answer(CodeNone)
}
