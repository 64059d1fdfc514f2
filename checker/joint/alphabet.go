package joint

import (
	"slices"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// event is something that happens. Slots in it are rows. Loaded with Record set is a crash after which the group is loaded as its last
// record says.
type event struct {
	classic.Event
	timer Timer // that fires
	crash bool
}

var (
	noID      = classic.Ref{Kind: classic.NoID}
	unknownID = classic.Ref{Kind: classic.UnknownID}
	stranger  = classic.Instance{Kind: classic.UnknownInstance}
)

// enumerate lists everything that can happen in a state. The order is that of the edges, and with it part of the traces.
func (m *machine) enumerate(s *state) {
	m.events, m.leaves, m.instances = m.events[:0], m.leaves[:0], m.instances[:0]
	for _, t := range s.coordinator.Timers() {
		m.timer(s, t)
	}
	if s.coordinator.Open() {
		m.addWriting(classic.Event{Kind: classic.WriteDone})
	}
	if m.run.Failover {
		m.failover(s)
	}
	m.refs(s, func(ref classic.Ref) {
		m.joins(s, ref)
		m.syncs(s, ref)
		m.add(classic.Event{Kind: classic.Heartbeat, Ref: ref})
		m.add(classic.Event{Kind: classic.Heartbeat, Ref: ref, Gen: classic.OtherGen})
		m.add(classic.Event{Kind: classic.Heartbeat, Ref: ref, Gen: classic.NoGen})
		m.leave(true, nil, ref)
		m.leave(false, nil, ref)
		m.leave(false, nil, unknownID, ref)
		if m.run.Commits {
			m.commits(ref, classic.Instance{})
		}
	})
	for i := range s.rows {
		for j := range i {
			m.leave(false, nil, known(i), known(j))
		}
	}
	m.leave(false, nil)
	for _, kind := range [...]classic.EventKind{classic.JoinGroup, classic.SyncGroup, classic.Heartbeat, classic.LeaveGroup} {
		m.add(classic.Event{Kind: kind, BadGroup: true, NeedsID: true, Type: groupType, List: 1})
	}
	m.add(classic.Event{Kind: classic.DescribeGroups})
	m.add(classic.Event{Kind: classic.ListGroups})
	m.addWriting(classic.Event{Kind: classic.DeleteGroups})
	if m.run.Static {
		m.statics(s)
	}
	if len(m.run.Without) > 0 {
		m.events = slices.DeleteFunc(m.events, func(e event) bool { return slices.Contains(m.run.Without, e.Kind) })
	}
}

func known(row int) classic.Ref { return classic.Ref{Kind: classic.KnownID, Slot: int8(row)} }

func (m *machine) add(e classic.Event) { m.events = append(m.events, event{Event: e}) }

// addWriting adds an event whose write may fail.
func (m *machine) addWriting(e classic.Event) {
	m.add(e)
	if m.run.WriteFailures {
		e.Write = classic.WriteFailed
		m.add(e)
	}
}

// refs calls f for each relation of a member id to the group.
func (m *machine) refs(s *state, f func(classic.Ref)) {
	for i := range s.rows {
		f(known(i))
	}
	f(unknownID)
	f(noID)
}

func (m *machine) timer(s *state, t Timer) {
	e := classic.Event{Kind: classic.MemberTimer}
	switch t.Kind {
	case classic.GroupJoinTimer:
		e.Kind = classic.JoinTimer
	case classic.GroupSyncTimer:
		e.Kind = classic.SyncTimer
	default:
		e.Slot = int8(s.row(t.Member)) // of somebody: of whom else has been found where it was armed
	}
	from := len(m.events)
	m.addWriting(e)
	for i := range m.events[from:] {
		m.events[from+i].timer = t
	}
}

// failover: a group is loaded from each state that is just what its record says. What else a log can say has been said in such a state.
func (m *machine) failover(s *state) {
	g := &s.models[0].state
	if g.Serving != classic.Active {
		m.add(classic.Event{Kind: classic.LoadStarts})
		if g.Serving == classic.Loading {
			m.add(classic.Event{Kind: classic.Loaded})
		}
		return
	}
	m.add(classic.Event{Kind: classic.Unload})
	if len(s.log) > 0 && (g.Phase == classic.Empty || g.Phase == classic.Stable || g.Writing) {
		m.events = append(m.events, event{Event: classic.Event{Kind: classic.Loaded}, crash: true})
	}
}

func (m *machine) joins(s *state, ref classic.Ref) {
	creates := ref.Kind == classic.NoID && s.models[0].state.Phase == classic.Absent
	join := func(e classic.Event) {
		e.Kind, e.Ref = classic.JoinGroup, ref
		if creates {
			m.addWriting(e)
		} else {
			m.add(e)
		}
	}
	for list := range m.sent {
		e := classic.Event{Type: groupType, List: uint8(list), NeedsID: true}
		join(e)
		if ref.Kind == classic.NoID && list > 0 {
			e.NeedsID = false
			join(e)
		}
	}
	join(classic.Event{Type: otherType, List: 1, NeedsID: true})
	join(classic.Event{List: 1, NeedsID: true})
	join(classic.Event{Type: groupType, List: 1, NeedsID: true, BadSession: true})
}

func (m *machine) syncs(s *state, ref classic.Ref) {
	e := classic.Event{Kind: classic.SyncGroup, Ref: ref}
	m.assignments(s, e)
	for _, gen := range [...]classic.Gen{classic.OtherGen, classic.NoGen} {
		e.Gen = gen
		m.add(e)
	}
	e.Gen, e.Type, e.Protocol = classic.CurrentGen, groupType, max(s.models[0].state.Protocol, 1)
	m.add(e)
	e.Type = otherType
	m.add(e)
	e.Type, e.Protocol = groupType, otherProtocol
	m.add(e)
	e.Type, e.Protocol, e.NoProtocol = 0, 0, true
	m.add(e)
}

// assignments adds a SyncGroup with everything that a leader may assign.
func (m *machine) assignments(s *state, e classic.Event) {
	leads := false
	for i := range s.models {
		leads = leads || e.Ref.Kind == classic.KnownID && s.models[i].state.Slots[e.Ref.Slot].Leader
	}
	if !leads {
		m.add(e)
		return
	}
	all := 1<<len(s.rows) - 1
	for set := all; set >= 0; set-- {
		if !m.run.AnySubset && set != all {
			continue
		}
		for i := range s.rows {
			e.Assign[i] = uint8(set >> i & 1 * given)
		}
		if m.run.WriteInFlight {
			m.add(e)
		} else {
			m.addWriting(e)
		}
	}
}

func (m *machine) commits(ref classic.Ref, in classic.Instance) {
	for _, gen := range [...]classic.Gen{classic.CurrentGen, classic.OtherGen, classic.NoGen} {
		m.addWriting(classic.Event{Kind: classic.OffsetCommit, Ref: ref, Instance: in, Gen: gen, CommitVersion: 9})
	}
}

func (m *machine) leave(old bool, ins []classic.Instance, refs ...classic.Ref) {
	from := len(m.leaves)
	m.leaves = append(m.leaves, refs...)
	m.addWriting(classic.Event{Kind: classic.LeaveGroup, OldLeave: old, Leaves: m.leaves[from:len(m.leaves):len(m.leaves)], Instances: ins})
}

// statics adds requests with instance ids.
func (m *machine) statics(s *state) {
	m.instanceJoins(stranger)
	instances(s, m.instanceJoins)
	m.refs(s, func(ref classic.Ref) {
		m.named(ref, stranger)
		instances(s, func(in classic.Instance) { m.named(ref, in) })
	})
	m.instanceLeave(noID, stranger)
	instances(s, func(in classic.Instance) {
		m.instanceLeave(noID, in)
		m.refs(s, func(ref classic.Ref) {
			if ref.Kind != classic.NoID {
				m.instanceLeave(ref, in)
			}
		})
	})
}

// instances calls f for the instance id of each row that has one.
func instances(s *state, f func(classic.Instance)) {
	for i := range s.rows {
		if s.rows[i].instance != "" {
			f(classic.Instance{Kind: classic.KnownInstance, Slot: int8(i)})
		}
	}
}

// instanceJoins adds the JoinGroups of an instance that has no member id.
func (m *machine) instanceJoins(in classic.Instance) {
	explore.InstanceJoins(in, m.sent, m.add, m.addWriting)
}

// named adds requests with both ids.
func (m *machine) named(ref classic.Ref, in classic.Instance) {
	if ref.Kind != classic.NoID {
		m.add(classic.Event{Kind: classic.JoinGroup, Ref: ref, Instance: in, Type: groupType, List: 1, NeedsID: true})
	}
	for _, gen := range [...]classic.Gen{classic.CurrentGen, classic.OtherGen} {
		m.add(classic.Event{Kind: classic.SyncGroup, Ref: ref, Instance: in, Gen: gen})
		m.add(classic.Event{Kind: classic.Heartbeat, Ref: ref, Instance: in, Gen: gen})
	}
	if m.run.Commits {
		m.commits(ref, in)
	}
}

func (m *machine) instanceLeave(ref classic.Ref, in classic.Instance) {
	from := len(m.instances)
	m.instances = append(m.instances, in)
	m.leave(false, m.instances[from:len(m.instances):len(m.instances)], ref)
}
