package classic

func (m *Model) txnOffsetCommit(e *Event) {
	g := &m.t.Next
	// txn-commit.group-id.empty
	if e.BadGroup && m.holds(TxnGroupID) {
		m.answer(CodeInvalidGroupID)
		return
	}
	switch {
	case g.Phase == Absent:
		m.txnCommitAbsent(e)
		return
	case e.anonymous() && g.Phase != Empty:
		m.storeIf(m.holds(TxnAnonymous), e) // txn-commit.anonymous.accepted
		return
	case e.Gen == NoGen && g.Phase == Empty:
		// txn-commit.empty.accepted
		m.storeIf(m.holds(TxnEmptyGroup) && !m.looksFor(e), e)
		return
	}
	slot, ok := m.txnCommitter(e)
	if !ok {
		return
	}
	// txn-commit.any-phase
	if !m.holds(TxnAnyPhase) && g.Phase == CompletingRebalance {
		m.answer(CodeRebalanceInProgress)
		return
	}
	m.store(e)
	// txn-commit.keeps-timer
	if !m.holds(TxnKeepsTimer) {
		m.renew(slot)
	}
}

// txnCommitter is the member that a transactional commit is of, as committer says it, in the releases that look at half of it only.
func (m *Model) txnCommitter(e *Event) (slot int8, ok bool) {
	defects := m.profile.Defects
	switch {
	case e.Ref.Kind == NoID && e.Instance.Kind == NoInstance && defects.Has(DefectTxnNoMember): // txn-commit.member.unknown
		if m.fenced(e.Gen, TxnIllegalGeneration) {
			m.answer(CodeIllegalGeneration)
		} else {
			m.store(e)
		}
	case e.Gen == NoGen && defects.Has(DefectTxnNoGeneration): // txn-commit.generation.illegal
		if slot, code := m.member(e.Ref, e.Instance, TxnUnknownMember); slot < 0 && code != CodeNone {
			m.answer(code)
		} else {
			m.store(e)
		}
	default:
		return m.committer(e, TxnUnknownMember, TxnIllegalGeneration) // txn-commit.member.unknown, txn-commit.generation.illegal
	}
	return -1, false
}

func (m *Model) txnCommitAbsent(e *Event) {
	if e.Gen != NoGen {
		// txn-commit.group.unknown
		if !m.holds(TxnUnknownGroup) {
			m.create()
			m.store(e)
			return
		}
		// txn-commit.group.unknown.code
		if m.holds(TxnUnknownGroupCreates) == m.profile.TxnCreatesGroup {
			m.create()
			m.answer(CodeUnknownMemberID)
		} else {
			m.answer(CodeIllegalGeneration)
		}
		return
	}
	m.createBy(e, TxnSimpleGroup, TxnEmptyGroup) // txn-commit.simple.creates
}

// txnMarker ends a transaction. A marker of a producer that has nothing pending here concerns nobody.
func (m *Model) txnMarker(e *Event) {
	g := &m.t.Next
	if g.Phase == Absent || !e.Taken.Pending {
		return
	}
	commits := !e.Aborted
	if commits {
		commits = m.holds(TxnCommits) // txn.commits
	} else {
		commits = !m.holds(TxnAborts) // txn.aborts
	}
	g.Open = e.Left.Pending
	if commits {
		m.cite(TxnNewerWins) // txn.newer-wins: among values
		g.Offsets, m.t.Offsets = true, CommitPending
	} else {
		m.t.Offsets = DropPending
	}
}
