package clients

import "github.com/muster-kafka/muster/model/classic"

// anybody yields the requests of a run without clients: those for each id in memory that are not refused, and of newcomers. Refusals change
// nothing; package explore has them.
func (m *machine) anybody(w *world, in surroundings, yield func(*act) bool) {
	for list := 1; list < m.sent; list++ {
		e := classic.Event{Kind: classic.JoinGroup, Type: groupType, List: uint8(list), NeedsID: true}
		if !m.writing(w, -1, e, in, yield) {
			return
		}
		if e.NeedsID = false; m.run.Old && !m.writing(w, -1, e, in, yield) {
			return
		}
		if m.run.Static > 0 && !m.instances(w, e, in, yield) {
			return
		}
	}
	for i := range w.group.Slots {
		if w.group.Slots[i].Kind != classic.Free && !m.known(w, int8(i), in, yield) {
			return
		}
	}
}

// instances yields the JoinGroups of instances without a member id: of new ones, of those that only the log knows, and of members.
func (m *machine) instances(w *world, e classic.Event, in surroundings, yield func(*act) bool) bool {
	e.Instance = classic.Instance{Kind: classic.UnknownInstance}
	if !m.writing(w, -1, e, in, yield) {
		return false
	}
	for l := range w.same {
		if s := &w.log.Slots[l]; s.Static && w.same[l] < 0 && !m.stepAs(w, -1, int8(l), &e, in, yield) {
			return false
		}
	}
	for i := range w.group.Slots {
		e.Instance = classic.Instance{Kind: classic.KnownInstance, Slot: int8(i)}
		if w.group.Slots[i].Static && !m.writing(w, -1, e, in, yield) {
			return false
		}
	}
	return true
}

// known yields the requests of one id.
func (m *machine) known(w *world, slot int8, in surroundings, yield func(*act) bool) bool {
	ref := classic.Ref{Kind: classic.KnownID, Slot: slot}
	for list := 1; list < m.sent; list++ {
		e := classic.Event{Kind: classic.JoinGroup, Ref: ref, Type: groupType, List: uint8(list), NeedsID: true}
		if !m.step(w, -1, &e, in, yield) {
			return false
		}
	}
	m.leaves[0] = ref
	if !m.writing(w, -1, classic.Event{Kind: classic.LeaveGroup, Leaves: m.leaves[:]}, in, yield) {
		return false
	}
	if w.group.Slots[slot].Kind != classic.Member {
		return true
	}
	e := classic.Event{Kind: classic.SyncGroup, Ref: ref, Type: groupType}
	for i := range w.group.Slots {
		if w.group.Slots[i].Kind == classic.Member {
			e.Assign[i] = given
		}
	}
	if !m.step(w, -1, &e, in, yield) {
		return false
	}
	return m.step(w, -1, &classic.Event{Kind: classic.Heartbeat, Ref: ref}, in, yield)
}
