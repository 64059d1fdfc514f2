package classic

func (m *Model) offsetCommit(e *Event) {
	g := &m.t.Next
	switch {
	case g.Phase == Absent:
		m.commitAbsent(e)
		return
	case e.Gen == NoGen && g.Phase == Empty:
		// commit.empty.accepted
		m.storeIf(m.holds(CommitEmptyGroup) && !m.looksFor(e), e)
		return
	case e.anonymous():
		m.storeIf(!m.holds(CommitAnonymousRefused), e) // commit.anonymous.refused
		return
	}
	slot, ok := m.committer(e, CommitUnknownMember, CommitIllegalGeneration) // commit.member.unknown, commit.generation.illegal
	if !ok {
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
	m.createBy(e, CommitSimpleGroup, CommitEmptyGroup) // commit.simple.creates
}

// committer is the member that a commit is of. Where there is none, or it has another generation, the commit has been answered.
func (m *Model) committer(e *Event, unknown, illegal RuleID) (slot int8, ok bool) {
	slot, code := m.member(e.Ref, e.Instance, unknown)
	switch {
	case slot < 0 && code == CodeNone: // only where a rule is broken
		m.store(e)
	case slot < 0:
		m.answer(code)
	case m.fenced(e.Gen, illegal):
		m.answer(CodeIllegalGeneration)
	default:
		return slot, true
	}
	return slot, false
}

// createBy makes a simple group of a commit without generation. Where nothing of it is written there may be none. Releases with the defect
// made the group before they looked for the member, and left it behind, Empty, when they refused by the rule on Empty groups.
func (m *Model) createBy(e *Event, rule, empty RuleID) {
	if !m.holds(rule) {
		m.answer(CodeUnknownMemberID)
		return
	}
	m.create()
	// commit.empty.accepted, txn-commit.empty.accepted
	if m.looksFor(e) {
		m.cite(empty)
		m.answer(CodeUnknownMemberID)
		return
	}
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

// storeIf stores a commit, or refuses it.
func (m *Model) storeIf(accepted bool, e *Event) {
	if accepted {
		m.store(e)
	} else {
		m.answer(CodeUnknownMemberID)
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

// looksFor says whether a release with the defect looks for the sender of a commit without generation though the group has no members. By
// an instance id alone Kafka before 3.0 looked for nobody.
func (m *Model) looksFor(e *Event) bool {
	defects := m.profile.Defects
	return !e.anonymous() && defects.Has(DefectCommitEmptyNamed) ||
		e.Kind == TxnOffsetCommit && e.Ref.Kind != NoID && defects.Has(DefectTxnEmptyNamed)
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
