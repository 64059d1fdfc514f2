package clients

import "github.com/muster-kafka/muster/model/classic"

// Healing is a fixed program that every client follows from some state on, while nothing goes wrong any more: answers arrive, writes
// succeed, the coordinator stays up. A client
//
//   - joins where it has no generation: with its id if it has one, and without where it has none, or has been told that its id is unknown or
//     fenced; an id that it is given (MEMBER_ID_REQUIRED) it joins with at once. The list is the one that it is known by, else any, and stays the same;
//   - syncs where it has a generation and not its assignment, and assigns to everybody where it leads;
//   - otherwise sends heartbeats in time; told to rejoin, or that its generation is illegal, it joins;
//   - gives up a request whose answer is lost, and goes on as above. On one that the coordinator holds back it waits: its patience is longer
//     than any timer of the group.
//
// Whatever is left open is chosen in every way: which client goes first, in what order the timers fire, who leads, what wins a vote. The one
// thing that is ordered is time, in three steps: what needs no waiting happens before any timer fires; and the five minutes of a new
// member that waits end after all other timers. The session of a client does not end while its heartbeats renew it.
//
// Heartbeats that change nothing are no steps. So healing has ended where nothing happens any more.

// healed is how healing finds a state. Nothing crashes any more, so the log plays no part.
func healed(w *world) (world, permutation) {
	return canonical(unlogged(w))
}

func unlogged(w *world) world {
	h := *w
	h.log, h.ahead = classic.State{}, 0
	for i := range h.same {
		h.same[i], h.fresh[i] = -1, false
	}
	for i := range h.clients {
		c := &h.clients[i]
		if !c.is {
			continue
		}
		c.gen, c.transit, c.leads, c.lost = since(c.gen, w.ahead), since(c.transit, w.ahead), false, false
		if c.holds == logID {
			c.holds = goneID
		}
		if c.at >= inLog {
			c.at = nowhere
		}
		c.plain()
	}
	return h
}

// deserted is a state that all clients have left for good.
func deserted(w *world) (world, permutation) {
	h := unlogged(w)
	for i := range h.clients {
		h.clients[i] = client{at: nowhere}
	}
	return canonical(h)
}

// healing yields the steps of healing from a state, those that change something. There are none where it has ended.
func (m *machine) healing(w *world, yield func(*act, *world) bool) {
	in := surroundings{room: m.healer.room}
	some, going := false, true
	changes := func(a *act) bool {
		next, _ := canonical(a.next)
		if next == *w {
			return true
		}
		some, going = true, yield(a, &next)
		return going
	}
	for _, stage := range [...]func(*world, surroundings, func(*act) bool){m.prompt, m.waits, m.patient} {
		if stage(w, in, changes); some || !going {
			return
		}
	}
}

// prompt is what needs no waiting.
func (m *machine) prompt(w *world, in surroundings, yield func(*act) bool) {
	if w.group.Writing && !m.step(w, -1, &classic.Event{Kind: classic.WriteDone}, in, yield) {
		return
	}
	for i := range int8(maxClients) {
		c := &w.clients[i]
		switch {
		case !c.is:
		case c.transit != noGen:
			if !m.arrival(w, i, yield) || !m.giveUp(w, i, yield) {
				return
			}
		case c.waits == nothing:
			if !m.program(w, i, in, yield) {
				return
			}
		}
	}
}

// program is the next request of a client that waits for nothing.
func (m *machine) program(w *world, who int8, in surroundings, yield func(*act) bool) bool {
	c := &w.clients[who]
	if c.gen != noGen && c.synced {
		e := m.heartbeat(w, who)
		return m.step(w, who, &e, in, yield)
	}
	if c.gen != noGen {
		return m.syncs(w, who, in, yield)
	}
	for list := uint8(1); int(list) < m.sent; list++ {
		if own := m.ownList(w, c); own != 0 && own != list {
			continue
		}
		chosen := *w
		chosen.clients[who].list = list
		e := m.join(&chosen, who, list)
		if !m.step(&chosen, who, &e, in, yield) {
			return false
		}
	}
	return true
}

// ownList is the list of a client that has chosen one, or that is known by one; else 0.
func (m *machine) ownList(w *world, c *client) uint8 {
	if c.list == 0 && c.inMemory() {
		if s := &w.group.Slots[c.at]; s.Kind == classic.Member && int(s.List) < m.sent {
			return s.List
		}
	}
	return c.list
}

// waits is what happens when time passes and no client has anything to do.
func (m *machine) waits(w *world, in surroundings, yield func(*act) bool) {
	for i := range int8(maxClients) {
		if w.clients[i].is && w.clients[i].waits != nothing && !m.parked(w, i) && !m.giveUp(w, i, yield) {
			return
		}
	}
	g := &w.group
	if g.JoinTimer && !m.step(w, -1, &classic.Event{Kind: classic.JoinTimer}, in, yield) {
		return
	}
	if g.SyncTimer && !m.step(w, -1, &classic.Event{Kind: classic.SyncTimer}, in, yield) {
		return
	}
	m.sessions(w, in, func(slot int8) bool { return !m.newAndWaiting(w, slot) }, yield)
}

// patient is what happens when more than five minutes pass and nothing else happens.
func (m *machine) patient(w *world, in surroundings, yield func(*act) bool) {
	m.sessions(w, in, func(slot int8) bool { return m.newAndWaiting(w, slot) }, yield)
}

// sessions yields the timers of members and pending ids that may fire, of some slots.
func (m *machine) sessions(w *world, in surroundings, of func(int8) bool, yield func(*act) bool) {
	for i := range w.group.Slots {
		if !w.group.Slots[i].Timed || !of(int8(i)) || m.renewed(w, int8(i)) {
			continue
		}
		if !m.step(w, -1, &classic.Event{Kind: classic.MemberTimer, Slot: int8(i)}, in, yield) {
			return
		}
	}
}

func (m *machine) newAndWaiting(w *world, slot int8) bool {
	who := w.whose(slot)
	return w.group.Slots[slot].New && who >= 0 && w.clients[who].waits == joining
}

// renewed says whether the heartbeats of a slot's client keep its session from ending. While a client joins, it sends none.
func (m *machine) renewed(w *world, slot int8) (renewed bool) {
	who := w.whose(slot)
	if who < 0 || w.clients[who].holds != ownID || w.clients[who].gen == noGen || w.clients[who].waits == joining {
		return false
	}
	e := m.heartbeat(w, who)
	m.model.Step(&w.group, &e, func(t *classic.Transition) bool {
		for _, effect := range t.Timers {
			renewed = renewed || effect.Timer == classic.SessionTimer && effect.Slot == slot && effect.For == classic.SessionOfSlot
		}
		return !renewed
	})
	return renewed
}

// parked says whether the coordinator holds the request back that a client waits for.
func (m *machine) parked(w *world, who int8) bool {
	c := &w.clients[who]
	if !c.inMemory() {
		return false
	}
	s := &w.group.Slots[c.at]
	return c.waits == joining && s.Joining || c.waits == syncing && s.Syncing
}

// together says whether everybody is where healing is to lead: in a Stable group, with its assignment, and nothing else is there; or,
// without clients, whether the group has become Empty.
func (m *machine) together(w *world) bool {
	clients := 0
	for i := range w.clients {
		c := &w.clients[i]
		if !c.is {
			continue
		}
		if clients++; !m.settled(w, c) {
			return false
		}
	}
	if clients == 0 {
		return inUse(&w.group) == 0 && (w.group.Phase == classic.Empty || w.group.Phase == classic.Absent)
	}
	return w.group.Phase == classic.Stable && inUse(&w.group) == clients
}

// settled says whether a client is a member with its assignment, and knows it.
func (m *machine) settled(w *world, c *client) bool {
	return c.waits == nothing && c.holds == ownID && c.gen == w.current() && c.synced && w.group.Slots[c.at].Kind == classic.Member
}
