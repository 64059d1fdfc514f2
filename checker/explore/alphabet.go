package explore

import (
	"slices"

	"github.com/muster-kafka/muster/model/classic"
)

// enumerate fills in every event that can happen in s, as its group's alphabets say. Nothing of what clients know or how they behave
// restricts it. The order is part of the traces: changing it changes which of equally short ones is shown.
//
// States of one shape have the same events, which are made once.
func (m *machine) enumerate(s *classic.State) {
	if m.group.Failover {
		m.record = classic.Durable(s, m.alone)
	}
	shape := shapeOf(s)
	if m.events = m.shapes[shape]; m.events != nil {
		return
	}
	m.events, m.leaves, m.instances = make([]classic.Event, 0, m.most), nil, nil
	m.make(&shape)
	m.most = max(m.most, len(m.events))
	if m.kept += len(m.events); m.kept > mostKept {
		clear(m.shapes)
		m.kept = len(m.events)
	}
	m.shapes[shape] = m.events
}

// mostKept bounds the events that are kept, to some 15 MB.
const mostKept = 1 << 17

// shapeOf is a state without what makes no difference to its events.
func shapeOf(s *classic.State) classic.State {
	shape := *s
	shape.Type, shape.Extends, shape.StaleSync, shape.Subscribed = 0, false, false, 0
	for i := range shape.Slots {
		slot := &shape.Slots[i]
		*slot = classic.Slot{Kind: slot.Kind, Leader: slot.Leader, Static: slot.Static, Timed: slot.Timed}
	}
	return shape
}

// make makes the events of a shape.
func (m *machine) make(s *classic.State) {
	m.timers(s)
	if m.group.Failover {
		m.failover(s)
	}
	m.joins(s)
	m.syncs(s)
	m.heartbeats(s)
	m.leavings(s)
	if m.group.Offsets {
		m.commits(s)
	}
	for _, kind := range []classic.EventKind{classic.OffsetFetch, classic.DescribeGroups, classic.ListGroups} {
		m.add(classic.Event{Kind: kind})
	}
	m.addWriting(classic.Event{Kind: classic.DeleteGroups})
	if m.group.Removal {
		m.removals(s)
	}
	if m.group.Static {
		m.statics(s)
	}
	if m.group.Lean {
		m.events = slices.DeleteFunc(m.events, func(e classic.Event) bool { return m.group.refused(&e, s) })
	}
	if len(m.group.Without) > 0 {
		m.events = slices.DeleteFunc(m.events, func(e classic.Event) bool { return slices.Contains(m.group.Without, e.Kind) })
	}
}

func (m *machine) add(e classic.Event) { m.events = append(m.events, e) }

// addWriting adds an event whose write may fail.
func (m *machine) addWriting(e classic.Event) {
	m.add(e)
	if m.group.WriteFailures {
		e.Write = classic.WriteFailed
		m.add(e)
	}
}

// refs calls f for each relation of a member id to the group. A broken model may leave gaps between the slots in use.
func refs(s *classic.State, f func(classic.Ref)) {
	known(s, f)
	f(classic.Ref{Kind: classic.UnknownID})
	f(classic.Ref{Kind: classic.NoID})
}

func known(s *classic.State, f func(classic.Ref)) {
	for i := range s.Slots {
		if s.Slots[i].Kind != classic.Free {
			f(classic.Ref{Kind: classic.KnownID, Slot: int8(i)})
		}
	}
}

var generations = [...]classic.Gen{classic.CurrentGen, classic.OtherGen, classic.NoGen}

func (m *machine) timers(s *classic.State) {
	running(s, m.group.WriteFailures, m.add)
}

// running calls f for everything that happens by itself: the timers that run, and the end of the write that is under way.
func running(s *classic.State, failures bool, f func(classic.Event)) {
	for i := range s.Slots {
		if s.Slots[i].Timed {
			f(classic.Event{Kind: classic.MemberTimer, Slot: int8(i)})
		}
	}
	if s.JoinTimer {
		f(classic.Event{Kind: classic.JoinTimer})
		if s.Initial {
			f(classic.Event{Kind: classic.JoinTimer, Rest: true})
		}
	}
	if s.SyncTimer {
		f(classic.Event{Kind: classic.SyncTimer})
	}
	if s.Writing {
		f(classic.Event{Kind: classic.WriteDone})
		if failures {
			f(classic.Event{Kind: classic.WriteDone, Write: classic.WriteFailed})
		}
	}
}

func (m *machine) joins(s *classic.State) {
	join := func(e classic.Event) {
		e.Kind = classic.JoinGroup
		if s.Phase == classic.Absent && e.Ref.Kind == classic.NoID {
			m.addWriting(e)
		} else {
			m.add(e)
		}
	}
	refs(s, func(ref classic.Ref) {
		for list := range m.sent {
			e := classic.Event{Ref: ref, Type: groupType, List: uint8(list), NeedsID: true}
			join(e)
			if ref.Kind == classic.NoID && list > 0 {
				e.NeedsID = false
				join(e)
			}
		}
		if m.group.Types || s.Phase != classic.Absent && s.Phase != classic.Empty {
			join(classic.Event{Ref: ref, Type: otherType, List: 1, NeedsID: true})
		}
		join(classic.Event{Ref: ref, List: 1, NeedsID: true})
		join(classic.Event{Ref: ref, Type: groupType, List: 1, NeedsID: true, BadSession: true})
	})
	join(classic.Event{Type: groupType, List: 1, NeedsID: true, BadGroup: true})
}

func (m *machine) syncs(s *classic.State) {
	refs(s, func(ref classic.Ref) {
		e := classic.Event{Kind: classic.SyncGroup, Ref: ref, Type: groupType}
		for _, gen := range generations {
			e.Gen = gen
			if gen == classic.CurrentGen && ref.Kind == classic.KnownID && s.Slots[ref.Slot].Leader {
				m.assignments(s, e)
			} else {
				m.add(e)
			}
		}
		e.Gen = classic.CurrentGen
		for _, f := range []func(*classic.Event){
			func(e *classic.Event) { e.Type = otherType },
			func(e *classic.Event) { e.Protocol = otherProtocol },
			func(e *classic.Event) { e.Type = 0; e.Protocol = s.Protocol },
			func(e *classic.Event) { e.NoProtocol = true },
		} {
			changed := e
			f(&changed)
			m.add(changed)
		}
	})
	m.add(classic.Event{Kind: classic.SyncGroup, BadGroup: true})
}

// assignments adds the leader's SyncGroup with everything that it may assign.
func (m *machine) assignments(s *classic.State, e classic.Event) {
	var slots []int
	for i := range s.Slots {
		if s.Slots[i].Kind == classic.Member {
			slots = append(slots, i)
		}
	}
	all := 1<<len(slots) - 1
	for set := all; set >= 0; set-- {
		if !m.group.AnySubset && set != all && set != 0 {
			continue
		}
		if !m.group.AnySubset && set == 0 && s.Phase == classic.CompletingRebalance {
			continue // in Stable nothing is assigned, so that it may differ from what was
		}
		e.Assign = [classic.MaxSlots]uint8{}
		for bit, slot := range slots {
			if set>>bit&1 == 1 {
				e.Assign[slot] = given
			}
		}
		if s.Phase == classic.CompletingRebalance && !m.group.WriteInFlight {
			m.addWriting(e)
		} else {
			m.add(e)
		}
	}
}

func (m *machine) heartbeats(s *classic.State) {
	refs(s, func(ref classic.Ref) {
		for _, gen := range generations {
			m.add(classic.Event{Kind: classic.Heartbeat, Ref: ref, Gen: gen})
		}
	})
	m.add(classic.Event{Kind: classic.Heartbeat, BadGroup: true})
}

func (m *machine) leavings(s *classic.State) {
	unknown := classic.Ref{Kind: classic.UnknownID}
	refs(s, func(ref classic.Ref) {
		m.leaving(false, ref)
		m.leaving(true, ref)
		m.leaving(false, unknown, ref)
		known(s, func(other classic.Ref) {
			// The order counts only where the group reacts to each entry.
			if ref.Kind == classic.KnownID && (ref.Slot <= other.Slot || m.group.Profile.LeavesOneByOne) {
				m.leaving(false, ref, other)
			}
		})
	})
	m.leaving(false)
	m.add(classic.Event{Kind: classic.LeaveGroup, BadGroup: true})
}

func (m *machine) leaving(old bool, refs ...classic.Ref) {
	from := len(m.leaves)
	m.leaves = append(m.leaves, refs...)
	m.addWriting(classic.Event{Kind: classic.LeaveGroup, OldLeave: old, Leaves: m.leaves[from:len(m.leaves):len(m.leaves)]})
}

func (m *machine) commits(s *classic.State) {
	refs(s, func(ref classic.Ref) {
		for _, gen := range generations {
			e := classic.Event{Kind: classic.OffsetCommit, Ref: ref, Gen: gen, CommitVersion: 9}
			m.addWriting(e)
			if s.Phase == classic.Absent && gen == classic.OtherGen {
				e.CommitVersion = 8
				m.add(e)
			}
			if gen == classic.CurrentGen || gen == classic.NoGen && s.Phase == classic.Absent {
				e.CommitVersion, e.TooLarge = 9, true
				m.add(e)
			}
		}
	})
}
