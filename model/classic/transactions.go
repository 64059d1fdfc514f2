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
		// txn-commit.anonymous.accepted
		if m.holds(TxnAnonymous) {
			m.store(e)
		} else {
			m.answer(CodeUnknownMemberID)
		}
		return
	case e.Gen == NoGen && g.Phase == Empty:
		// txn-commit.empty.accepted
		if m.holds(TxnEmptyGroup) {
			m.store(e)
		} else {
			m.answer(CodeUnknownMemberID)
		}
		return
	}
	slot, code := m.member(e.Ref, e.Instance, TxnUnknownMember) // txn-commit.member.unknown
	if slot < 0 {
		if code == CodeNone {
			m.store(e)
		} else {
			m.answer(code)
		}
		return
	}
	if m.fenced(e.Gen, TxnIllegalGeneration) { // txn-commit.generation.illegal
		m.answer(CodeIllegalGeneration)
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
	// txn-commit.simple.creates
	if !m.holds(TxnSimpleGroup) {
		m.answer(CodeUnknownMemberID)
		return
	}
	m.createBy(e)
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
