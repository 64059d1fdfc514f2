package classic

// list returns the names of a protocol list symbol; a symbol that the lexicon does not have is the empty list.
func (m *Model) list(symbol uint8) []uint8 {
	if int(symbol) >= len(m.lexicon.Lists) {
		return nil
	}
	return m.lexicon.Lists[symbol].Names
}

func contains(names []uint8, name uint8) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// common says whether all members support the protocol. A member that sends a new list still counts with its old one.
func (m *Model) common(name uint8) bool {
	for i := range m.slots() {
		if slot := &m.t.Next.Slots[i]; slot.Kind == Member && !contains(m.list(slot.List), name) {
			return false
		}
	}
	return true
}

// supports says whether a JoinGroup's type and list go with the group. A list that names a protocol twice counts as if it named it
// once; some releases count twice and wedge the group.
func (m *Model) supports(e *Event) bool {
	names := m.list(e.List)
	if m.t.Next.Phase == Empty {
		return e.Type != 0 && len(names) > 0
	}
	if e.Type != m.t.Next.Type {
		return false
	}
	for _, name := range names {
		if m.common(name) {
			return true
		}
	}
	return false
}

// vote chooses the protocol of a generation.
func (m *Model) vote() uint8 {
	g := &m.t.Next
	first := m.list(g.Slots[m.firstMember()].List)
	// join.complete.vote
	if !m.holds(JoinCompleteVote) {
		return favourite(first)
	}
	m.names, m.votes = m.names[:0], m.votes[:0]
	for _, name := range first {
		if !contains(m.names, name) && m.common(name) {
			m.names, m.votes = append(m.names, name), append(m.votes, 0)
		}
	}
	if len(m.names) == 0 { // only where join.protocol.inconsistent is broken
		return favourite(first)
	}
	most := m.countVotes()
	ties := 0
	for _, n := range m.votes {
		if n == most {
			ties++
		}
	}
	pick := m.choices.choose(ties)
	for i, name := range m.names {
		if m.votes[i] != most {
			continue
		}
		if pick == 0 {
			return name
		}
		pick--
	}
	panic("classic: a vote without a winner")
}

// countVotes gives each member's vote to the first protocol of its list that all support, and returns the most that one got.
func (m *Model) countVotes() (most uint8) {
	for i := range m.slots() {
		slot := &m.t.Next.Slots[i]
		if slot.Kind != Member {
			continue
		}
		for _, name := range m.list(slot.List) {
			if at := index(m.names, name); at >= 0 {
				m.votes[at]++
				most = max(most, m.votes[at])
				break
			}
		}
	}
	return most
}

func index(names []uint8, name uint8) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

func favourite(names []uint8) uint8 {
	if len(names) == 0 {
		return 0
	}
	return names[0]
}

func (m *Model) firstMember() int8 {
	for i := range m.slots() {
		if m.t.Next.Slots[i].Kind == Member {
			return int8(i)
		}
	}
	return -1
}
