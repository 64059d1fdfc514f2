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
	// leave.one-by-one: otherwise all go first, then the group reacts once.
	oneByOne := len(e.Leaves) > 1 && m.holds(LeaveOneByOne) == m.profile.LeavesOneByOne
	members, pending := false, false
	for i, ref := range e.Leaves {
		if m.profile.Defects.Has(DefectLeavePendingInstance) && ref.Kind == KnownID && m.t.Next.Slots[ref.Slot].Kind == Pending && e.instance(i).Kind != NoInstance {
			m.left(members, pending)
			m.settleAlso()
			m.answer(CodeUnknownServerError)
			return
		}
		member, id := m.leave(e, i)
		if oneByOne {
			m.entry = i < len(e.Leaves)-1
			m.left(member, id)
			continue
		}
		members, pending = members || member, pending || id
	}
	m.left(members, pending)
	m.settleAlso()
	if e.Write == WriteFailed && len(m.t.Records) > 0 && !m.pending() {
		// leave.write.fails. They have left all the same. Where a pending id is outstanding, the Empty record is not this request's: a
		// join timer without length writes it.
		if m.holds(LeaveWriteFails) == m.profile.WritesReported {
			m.answer(CodeWriteFailed)
			return
		}
	}
	m.answerLeave(e)
}

// left reacts to members and pending ids that have left.
func (m *Model) left(members, pending bool) {
	m.elect()
	switch {
	case members:
		m.lost(false)
	case pending && m.t.Next.Phase == PreparingRebalance:
		m.tryCompleteJoin(false)
	case pending && (m.t.Next.Phase == Stable || m.t.Next.Phase == CompletingRebalance):
		// leave.pending.rebalances
		if m.holds(LeavePendingRebalances) == m.profile.PendingLeaveRebalances {
			m.prepareRebalance()
		}
	}
}

// settleAlso leaves in the timer effects only those members of before that the state that follows does not have.
func (m *Model) settleAlso() {
	for i := range m.t.Timers {
		also := &m.t.Timers[i].Also
		for s := 0; *also != 0 && s < m.top; s++ {
			if m.t.Next.Slots[s].Kind == Member {
				*also &^= 1 << s
			}
		}
	}
}

// leave takes out one entry of the batch, notes its result, and says whether a member or a pending id has gone.
func (m *Model) leave(e *Event, at int) (member, pending bool) {
	ref, instance := e.Leaves[at], e.instance(at)
	code := CodeNone
	switch {
	case ref.Kind == NoID && m.mapped(instance) == KnownInstance:
		// leave.instance
		if member = m.holds(LeaveInstance); member {
			m.remove(instance.Slot)
		} else {
			code = CodeUnknownMemberID
		}
	case ref.Kind == KnownID && m.t.Next.Slots[ref.Slot].Kind == Pending:
		// leave.pending
		if pending = m.holds(LeavePending); pending {
			m.forget(ref.Slot)
		}
	case ref.Kind == NoID:
		// leave.member.unknown
		if m.holds(m.unknownEntry(e, at)) {
			code = CodeUnknownMemberID
		}
	default:
		slot, refused := m.member(ref, instance, m.unknownEntry(e, at))
		code = refused
		// leave.member
		if slot >= 0 {
			if member = m.holds(LeaveMember); member {
				m.remove(slot)
			}
		}
	}
	m.entries = append(m.entries, code)
	return member, pending
}

// unknownEntry is the rule by which an entry that names nobody is refused.
func (m *Model) unknownEntry(e *Event, at int) RuleID {
	ref, instance := e.Leaves[at], e.instance(at)
	for i, r := range e.Leaves[:at] {
		if r == ref && (ref.Kind == KnownID || ref.Kind == NoID && instance.Kind == KnownInstance && e.instance(i) == instance) {
			return LeaveBatch // leave.batch
		}
	}
	return LeaveUnknownMember // leave.member.unknown
}

// instance is the instance id of an entry of LeaveGroup.
func (e *Event) instance(at int) Instance {
	if at >= len(e.Instances) {
		return Instance{}
	}
	return e.Instances[at]
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
