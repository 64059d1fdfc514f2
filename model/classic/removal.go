package classic

// How offsets go: OffsetDelete, deleted topics, expiry; and groups with them.

// Refused returns which of an OffsetDelete's topics the group does not let go, as far as it lets any go: a known set.
func Refused(s *State, lexicon *Lexicon, topics Topics) Topics {
	switch {
	case s.Phase == Absent || s.Phase == Empty || s.Type == 0 || s.Type != lexicon.Consumer:
		return KnownTopics
	case !s.Subscribed.Known():
		return topics | KnownTopics
	}
	return topics&s.Subscribed | KnownTopics
}

// subscribe works out which topics the group's members subscribe to.
func (m *Model) subscribe() {
	// offsets.subscribed
	if m.holds(SubscribedGeneration) {
		m.t.Next.Subscribed = m.subscribed()
	}
}

func (m *Model) subscribed() Topics {
	g := &m.t.Next
	if g.Type == 0 || g.Type != m.lexicon.Consumer {
		return 0
	}
	all := KnownTopics
	for i := range m.slots() {
		if g.Slots[i].Kind != Member {
			continue
		}
		topics := m.topics(g.Slots[i].List, g.Protocol)
		if !topics.Known() {
			return 0
		}
		all |= topics
	}
	return all
}

// topics is what a list's metadata for a protocol subscribes to.
func (m *Model) topics(symbol, protocol uint8) Topics {
	at := index(m.list(symbol), protocol)
	if at < 0 || at >= len(m.lexicon.Lists[symbol].Topics) {
		return 0
	}
	return m.lexicon.Lists[symbol].Topics[at]
}

func (m *Model) offsetDelete(e *Event) {
	g := &m.t.Next
	// offset-delete.group-id.empty
	if e.BadGroup && m.holds(OffsetDeleteGroupID) {
		m.answer(CodeInvalidGroupID)
		return
	}
	if g.Phase == Absent {
		// offset-delete.group.unknown
		if m.holds(OffsetDeleteUnknownGroup) {
			m.answer(CodeGroupIDNotFound)
		} else {
			m.answer(CodeNone)
		}
		return
	}
	refused, ok := m.refuse(e)
	if !ok {
		m.answer(CodeNonEmptyGroup)
		return
	}
	before := m.t.Next
	if e.Topics&^KnownTopics&^refused != 0 {
		m.take(e)
	}
	if e.Topics&^KnownTopics != 0 {
		m.removeEmptied()
	}
	if m.undone(e, &before) {
		m.answer(CodeWriteFailed)
		return
	}
	m.t.Replies = append(m.t.Replies, Reply{To: Address{Kind: Caller}, Member: -1, Leader: -1, Refused: refused})
}

// refuse returns which topics of an OffsetDelete the group does not let go, or that it lets none go.
func (m *Model) refuse(e *Event) (Topics, bool) {
	g := &m.t.Next
	none := KnownTopics
	if g.Phase == Empty {
		// offset-delete.empty
		if m.holds(OffsetDeleteEmpty) {
			return none, true
		}
		return e.Topics | none, true
	}
	if g.Type == 0 || g.Type != m.lexicon.Consumer {
		// offset-delete.other-type
		return none, !m.holds(OffsetDeleteOtherType)
	}
	refused := Refused(g, m.lexicon, e.Topics)
	// offset-delete.subscribed
	if refused != none && !m.holds(OffsetDeleteSubscribed) {
		refused = none
	}
	// offset-delete.unsubscribed
	if e.Topics&^refused&^none != 0 && !m.holds(OffsetDeleteUnsubscribed) {
		refused = e.Topics | none
	}
	return refused, true
}

// take lets the event's offsets go.
func (m *Model) take(e *Event) {
	g := &m.t.Next
	if e.Taken == (Some{}) {
		return
	}
	if e.Taken.Committed {
		g.Offsets = e.Left.Committed
	}
	if e.Taken.Pending {
		g.Open = e.Left.Pending
	}
	if e.Taken.Committed || m.tombstonesPending() {
		m.record(SomeTombstones)
	}
	m.t.Offsets = RemoveOffsets
}

// tombstonesPending says whether pending offsets that go are written off.
func (m *Model) tombstonesPending() bool {
	// offset-delete.pending
	return m.holds(OffsetDeletePending) == m.profile.PendingTombstoned
}

// removeEmptied removes an Empty group that has no offsets left, in releases that do not leave that to the cleanup.
func (m *Model) removeEmptied() {
	g := &m.t.Next
	if g.Phase != Empty || g.Offsets || g.Open {
		return
	}
	// offset-delete.last
	if m.holds(OffsetDeleteLast) == m.profile.EmptiedRemoved {
		m.recordGone()
		m.destroy()
	}
}

// undone takes everything back where tombstones could not be written and the coordinator says so. One that does not goes by its memory.
func (m *Model) undone(e *Event, before *State) bool {
	if e.Write == WriteOK || !m.profile.WritesReported || len(m.t.Records) == 0 {
		return false
	}
	m.t.Next = *before
	m.t.Timers, m.t.Offsets, m.t.Generation = m.t.Timers[:0], KeepOffsets, SameGeneration
	return true
}

func (m *Model) topicsDeleted(e *Event) {
	if m.t.Next.Phase == Absent {
		return
	}
	before := m.t.Next
	// offsets.topic-deleted
	if m.holds(TopicDeleted) {
		m.take(e)
		m.removeEmptied()
	}
	m.undone(e, &before)
}

// Expiry is which offsets of a group may expire, and from when on their age counts.
type Expiry uint8

const (
	NothingExpires     Expiry = iota
	SinceCommit               // all, from their commit
	SinceEmpty                // all, from when the group became Empty
	UnsubscribedCommit        // those of topics that are not in Subscribed, from their commit
)

// Expiry returns which offsets of the group may expire now. Offsets that were committed with a retention time of their own expire then.
func (m *Model) Expiry(s *State) Expiry {
	switch {
	case s.Phase == Absent || s.Serving != Active:
		return NothingExpires
	case s.Type == 0:
		return SinceCommit
	case s.Phase == Empty:
		return SinceEmpty
	case s.Type != m.lexicon.Consumer || !s.Subscribed.Known():
		return NothingExpires
	case s.Phase == Stable || m.profile.Defects.Has(DefectExpiryRebalancing) || m.broken[ExpiryRebalancing]:
		return UnsubscribedCommit
	}
	return NothingExpires
}

// expires says whether the coordinator lets offsets expire now.
func (m *Model) expires() bool {
	switch m.Expiry(&m.t.Next) {
	case SinceCommit:
		return m.holds(ExpirySimple) // expiry.simple
	case SinceEmpty:
		return m.holds(ExpiryEmpty) // expiry.empty
	case UnsubscribedCommit:
		return m.holds(ExpiryUnsubscribed) // expiry.unsubscribed
	}
	return !m.holds(ExpiryRebalancing) // expiry.rebalancing
}

// cleanup is one round of the coordinator's periodic cleanup, as far as it concerns the group.
func (m *Model) cleanup(e *Event) {
	g := &m.t.Next
	if g.Phase == Absent {
		return
	}
	before := *g
	if e.Taken != (Some{}) && m.expires() {
		m.take(e)
	}
	if g.Phase == Empty && !g.Offsets && !m.spared() {
		// cleanup.removes
		if m.holds(CleanupRemoves) {
			m.recordGone()
			m.destroy()
		}
	}
	m.undone(e, &before)
}

// spared says whether a pending offset saves a group without committed ones.
func (m *Model) spared() bool {
	// cleanup.pending
	return m.t.Next.Open && m.holds(CleanupPending) && !m.profile.Defects.Has(DefectCleanupPending)
}
