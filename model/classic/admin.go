package classic

// describeGroups answers NONE: what it shows is read from Next, and the code of an unknown group from the request's version.
func (m *Model) describeGroups() {
	switch m.t.Next.Phase {
	case Absent:
		m.cite(DescribeUnknown) // describe.unknown
	case Empty:
		m.cite(DescribeState) // describe.state
	case Stable:
		m.cite(DescribeState)
		m.cite(DescribeMembers) // describe.members
	default:
		m.cite(DescribeState)
		m.cite(DescribeRebalancingAssignment) // describe.rebalancing.assignment
	}
	m.answer(CodeNone)
}

// listGroups answers NONE: whether the group is listed, and how, is read from Next.
func (m *Model) listGroups() {
	m.cite(ListState) // list.state
	m.answer(CodeNone)
}

func (m *Model) deleteGroups(e *Event) {
	g := &m.t.Next
	switch g.Phase {
	case Absent:
		// delete.unknown
		if m.holds(DeleteUnknown) {
			m.answer(CodeGroupIDNotFound)
		} else {
			m.answer(CodeNone)
		}
		return
	case Empty:
		// delete.empty
		m.cite(DeleteEmpty)
	default:
		// delete.non-empty
		if m.holds(DeleteNonEmpty) {
			m.answer(CodeNonEmptyGroup)
			return
		}
	}
	if g.Offsets || g.Open && m.tombstonesPending() {
		m.record(OffsetTombstones)
	}
	m.recordGone()
	if m.profile.WritesReported && e.Write == WriteFailed {
		m.answer(CodeWriteFailed)
		return
	}
	m.answer(CodeNone)
	offsets, open := g.Offsets, g.Open
	m.destroy()
	if !m.holds(DeleteEmpty) {
		g.Phase, g.FirstGen, g.Offsets, g.Open = Empty, true, offsets, open
		return
	}
	m.t.Offsets = ClearOffsets
}

// recordGone writes the tombstone of a group that goes. A group that has left no record needs none.
func (m *Model) recordGone() {
	if m.profile.CreationRecord || !m.t.Next.FirstGen {
		m.record(GroupTombstone)
	}
}
