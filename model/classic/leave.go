package classic

func (m *Model) leaveGroup(e *Event) {
	m.entries = m.entries[:0]
	// leave.group-id.empty
	if e.BadGroup && m.holds(LeaveGroupID) {
		m.answer(CodeInvalidGroupID)
		return
	}
	if m.t.Next.Phase == Absent {
		// leave.group.unknown
		code := CodeNone
		if m.holds(LeaveUnknownGroup) {
			code = CodeUnknownMemberID
		}
		for range e.Leaves {
			m.entries = append(m.entries, code)
		}
		m.answerLeave(e)
		return
	}
	// All go first, then the group reacts once.
	members, pending := false, false
	for i := range e.Leaves {
		member, id := m.leave(e.Leaves[:i], e.Leaves[i])
		members, pending = members || member, pending || id
	}
	m.elect()
	switch {
	case members:
		m.lost()
	case pending && m.t.Next.Phase == PreparingRebalance:
		m.tryCompleteJoin()
	case pending && (m.t.Next.Phase == Stable || m.t.Next.Phase == CompletingRebalance):
		// leave.pending.rebalances
		if m.holds(LeavePendingRebalances) == m.profile.PendingLeaveRebalances {
			m.prepareRebalance()
		}
	}
	if m.profile.WritesReported && e.Write == WriteFailed && len(m.t.Records) > 0 && !m.pending() {
		// They have left all the same. Where a pending id is outstanding, the Empty record is not this request's: a join timer
		// without length writes it.
		m.answer(CodeWriteFailed)
		return
	}
	m.answerLeave(e)
}

// leave takes out one entry of the batch, notes its result, and says whether a member or a pending id has gone.
func (m *Model) leave(before []Ref, ref Ref) (member, pending bool) {
	code := CodeUnknownMemberID
	kind := Free
	if ref.Kind == KnownID {
		kind = m.t.Next.Slots[ref.Slot].Kind
	}
	switch kind {
	case Pending:
		code = CodeNone
		// leave.pending
		if pending = m.holds(LeavePending); pending {
			m.forget(ref.Slot)
		}
	case Member:
		code = CodeNone
		// leave.member
		if member = m.holds(LeaveMember); member {
			m.remove(ref.Slot)
		}
	default:
		repeated := false
		for _, r := range before {
			repeated = repeated || r == ref && ref.Kind == KnownID
		}
		rule := LeaveUnknownMember // leave.member.unknown
		if repeated {
			rule = LeaveBatch // leave.batch
		}
		if !m.holds(rule) {
			code = CodeNone
		}
	}
	m.entries = append(m.entries, code)
	return member, pending
}

func (m *Model) answerLeave(e *Event) {
	reply := Reply{To: Address{Kind: Caller}, Member: -1, Leader: -1}
	if e.OldLeave {
		// leave.single
		if m.holds(LeaveSingleVersion) && len(m.entries) > 0 {
			reply.Error = m.entries[0]
		}
	} else {
		// leave.batch
		m.cite(LeaveBatch)
		reply.Entries = m.entries
	}
	m.t.Replies = append(m.t.Replies, reply)
}
