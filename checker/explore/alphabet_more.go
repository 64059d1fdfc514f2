package explore

import "github.com/muster-kafka/muster/model/classic"

// What groups with static members, with removal of offsets and with failover add to the alphabet.

// statics adds requests with instance ids. A member's own instance id changes nothing about what its request says, so one list does.
func (m *machine) statics(s *classic.State) {
	unknown := classic.Instance{Kind: classic.UnknownInstance}
	m.instanceJoins(unknown)
	instances(s, m.instanceJoins)
	refs(s, func(ref classic.Ref) {
		m.named(ref, unknown)
		instances(s, func(in classic.Instance) { m.named(ref, in) })
	})
	m.instanceLeaves(s)
}

// instances calls f for the instance id of each static member.
func instances(s *classic.State, f func(classic.Instance)) {
	for i := range s.Slots {
		if s.Slots[i].Static {
			f(classic.Instance{Kind: classic.KnownInstance, Slot: int8(i)})
		}
	}
}

// instanceJoins adds the JoinGroups of an instance that has no member id.
func (m *machine) instanceJoins(in classic.Instance) { InstanceJoins(in, m.sent, m.add, m.addWriting) }

// InstanceJoins makes the JoinGroups of an instance that has no member id, with each of the lists. It is for whoever explores with these symbols;
// writes is for events that write.
func InstanceJoins(in classic.Instance, lists int, add, writes func(classic.Event)) {
	for list := range lists {
		e := classic.Event{Kind: classic.JoinGroup, Ref: classic.Ref{Kind: classic.NoID}, Instance: in, Type: groupType, List: uint8(list), NeedsID: true}
		writes(e)
		if in.Kind == classic.KnownInstance && list > 0 {
			e.Skips = true
			add(e)
		}
	}
}

// named adds requests with both ids.
func (m *machine) named(ref classic.Ref, in classic.Instance) {
	if ref.Kind != classic.NoID {
		m.add(classic.Event{Kind: classic.JoinGroup, Ref: ref, Instance: in, Type: groupType, List: 1, NeedsID: true})
	}
	for _, gen := range generations[:2] {
		m.add(classic.Event{Kind: classic.SyncGroup, Ref: ref, Instance: in, Gen: gen, Type: groupType})
		m.add(classic.Event{Kind: classic.Heartbeat, Ref: ref, Instance: in, Gen: gen})
	}
	if !m.group.Offsets {
		return
	}
	for _, gen := range generations {
		m.add(classic.Event{Kind: classic.OffsetCommit, Ref: ref, Instance: in, Gen: gen, CommitVersion: 9})
		if m.group.Removal {
			m.add(classic.Event{Kind: classic.TxnOffsetCommit, Ref: ref, Instance: in, Gen: gen, CommitVersion: 3})
		}
	}
}

// instanceLeaves adds LeaveGroups with instance ids.
func (m *machine) instanceLeaves(s *classic.State) {
	none := classic.Ref{Kind: classic.NoID}
	m.instanceLeave([]classic.Ref{none}, classic.Instance{Kind: classic.UnknownInstance})
	instances(s, func(in classic.Instance) {
		own := classic.Ref{Kind: classic.KnownID, Slot: in.Slot}
		m.instanceLeave([]classic.Ref{none}, in)
		m.instanceLeave([]classic.Ref{none, none}, in, in)
		m.instanceLeave([]classic.Ref{own, none}, classic.Instance{}, in)
		refs(s, func(ref classic.Ref) {
			if ref.Kind != classic.NoID {
				m.instanceLeave([]classic.Ref{ref}, in)
				m.instanceLeave([]classic.Ref{ref, none}, classic.Instance{Kind: classic.UnknownInstance}, in)
			}
		})
	})
}

func (m *machine) instanceLeave(entries []classic.Ref, ins ...classic.Instance) {
	from := len(m.instances)
	m.instances = append(m.instances, ins...)
	before := len(m.events)
	m.leaving(false, entries...)
	for i := before; i < len(m.events); i++ {
		m.events[i].Instances = m.instances[from:len(m.instances):len(m.instances)]
	}
}

// removals adds transactions and everything that takes offsets away.
func (m *machine) removals(s *classic.State) {
	refs(s, func(ref classic.Ref) {
		for _, gen := range generations {
			m.addWriting(classic.Event{Kind: classic.TxnOffsetCommit, Ref: ref, Gen: gen, CommitVersion: 3})
		}
		m.add(classic.Event{Kind: classic.TxnOffsetCommit, Ref: ref, CommitVersion: 1, TooLarge: true})
	})
	m.add(classic.Event{Kind: classic.TxnOffsetCommit, BadGroup: true, CommitVersion: 3})
	m.add(classic.Event{Kind: classic.OffsetDelete, BadGroup: true})
	m.markers(s)
	t, u := classic.TopicSet(topicT), classic.TopicSet(topicU)
	m.add(classic.Event{Kind: classic.OffsetDelete, Topics: classic.KnownTopics})
	taken(s, func(taken, left classic.Some) {
		e := classic.Event{Taken: taken, Left: left}
		for _, topics := range [...]classic.Topics{t, u, t | u} {
			e.Kind, e.Topics = classic.OffsetDelete, topics
			m.addWriting(e)
		}
		e.Topics = 0
		for _, kind := range [...]classic.EventKind{classic.TopicsDeleted, classic.Cleanup} {
			e.Kind = kind
			m.addWriting(e)
		}
	})
}

// markers adds the ends of transactions: of one that has offsets pending here, and of one that has none.
func (m *machine) markers(s *classic.State) {
	m.add(classic.Event{Kind: classic.TxnMarker, Left: classic.Some{Committed: s.Offsets, Pending: s.Open}})
	for _, others := range [...]bool{false, true} {
		if !s.Open {
			return
		}
		e := classic.Event{Kind: classic.TxnMarker, Taken: classic.Some{Pending: true}}
		e.Left = classic.Some{Committed: true, Pending: others}
		m.add(e)
		e.Aborted, e.Left.Committed = true, s.Offsets
		m.add(e)
	}
}

// taken calls f for each way in which some of the group's offsets, or none, may go.
func taken(s *classic.State, f func(taken, left classic.Some)) {
	ways := func(have bool) [][2]bool {
		if !have {
			return [][2]bool{{false, false}}
		}
		return [][2]bool{{false, true}, {true, true}, {true, false}}
	}
	for _, committed := range ways(s.Offsets) {
		for _, pending := range ways(s.Open) {
			f(classic.Some{Committed: committed[0], Pending: pending[0]}, classic.Some{Committed: committed[1], Pending: pending[1]})
		}
	}
}

// failover adds that the coordinator gives the group up, and that another one loads it. Nothing is remembered of what the log says: a
// group is loaded from each state that is just what its record says.
func (m *machine) failover(s *classic.State) {
	if s.Serving != classic.Active {
		m.add(classic.Event{Kind: classic.LoadStarts})
		m.add(classic.Event{Kind: classic.Loaded})
		if m.oversize.Phase != classic.Absent {
			m.add(classic.Event{Kind: classic.Loaded, Record: &m.oversize})
		}
		return
	}
	m.add(classic.Event{Kind: classic.Unload})
	written := s.Phase != classic.Empty || s.Offsets || s.Open || m.group.Profile.CreationRecord || !s.FirstGen
	if !written || s.Phase != classic.Empty && s.Phase != classic.Stable && !s.Writing {
		return
	}
	m.add(classic.Event{Kind: classic.Loaded, Record: &m.record})
}

// alone is the list that has only the given protocol of another list, with the same metadata.
func (m *machine) alone(list, protocol uint8) uint8 {
	for i := range m.lexicon.Lists {
		l := &m.lexicon.Lists[i]
		if len(l.Names) == 1 && l.Names[0] == protocol && m.metadata(uint8(i)) == m.metadata(list) {
			return uint8(i)
		}
	}
	return 0
}

// metadata is which of the alphabet's metadata a list comes with.
func (m *machine) metadata(list uint8) int {
	if list == 0 {
		return 0
	}
	return (int(list) - 1) % max(m.group.Metadata, 1)
}

// oversized is the record of a group that has more members than group.max.size, which has been lowered since; if there can be one.
func (g *Group) oversized() (r classic.State) {
	if g.MaxSize == 0 || g.MaxSize >= g.Members {
		return r
	}
	r = classic.State{Phase: classic.Stable, Type: groupType, Protocol: g.Lists[0][0] - 'a' + 1}
	for i := range g.Members {
		r.Slots[i] = classic.Slot{Kind: classic.Member, Leader: i == 0, List: 1, Given: given}
	}
	return r
}

// addLoadedLists adds the lists that loaded members have and clients do not send. They keep the order of metadata.
func (m *machine) addLoadedLists() {
	for _, letters := range m.group.Lists {
		for _, letter := range letters {
			protocol := uint8(letter) - 'a' + 1
			if m.alone(1, protocol) != 0 {
				continue
			}
			for metadata := range max(m.group.Metadata, 1) {
				m.lexicon.Lists = append(m.lexicon.Lists, list(string(letter), metadata))
			}
		}
	}
}
