package clients

import "github.com/muster-kafka/muster/model/classic"

// successors yields everything that may happen in a state. The order is part of traces.
func (m *machine) successors(w *world, yield func(*act) bool) {
	in := m.outside()
	if !m.byItself(w, in, yield) {
		return
	}
	if m.run.Crash != NoCrash && !m.crash(w, yield) {
		return
	}
	if m.run.Clients == 0 {
		m.anybody(w, in, yield)
		return
	}
	for i := range int8(m.run.Clients) {
		if !m.client(w, i, in, yield) {
			return
		}
	}
}

// byItself yields the timers that may fire, and the end of the write that is under way.
func (m *machine) byItself(w *world, in surroundings, yield func(*act) bool) bool {
	g := &w.group
	for i := range g.Slots {
		if g.Slots[i].Timed && !m.step(w, -1, &classic.Event{Kind: classic.MemberTimer, Slot: int8(i)}, in, yield) {
			return false
		}
	}
	if g.JoinTimer && !m.step(w, -1, &classic.Event{Kind: classic.JoinTimer}, in, yield) {
		return false
	}
	if g.SyncTimer && !m.step(w, -1, &classic.Event{Kind: classic.SyncTimer}, in, yield) {
		return false
	}
	return !g.Writing || m.writing(w, -1, classic.Event{Kind: classic.WriteDone}, in, yield)
}

// writing is an event whose write may fail.
func (m *machine) writing(w *world, who int8, e classic.Event, in surroundings, yield func(*act) bool) bool {
	if !m.step(w, who, &e, in, yield) {
		return false
	}
	e.Write = classic.WriteFailed
	return !m.run.WriteFailures || !in.losses && who >= 0 || m.step(w, who, &e, in, yield)
}

// client yields what a client may do: anything that goes with what it knows.
func (m *machine) client(w *world, who int8, in surroundings, yield func(*act) bool) bool {
	c := &w.clients[who]
	if !m.alone(w, who, yield) {
		return false
	}
	if c.waits == syncing { // while it waits for its assignment, its heartbeats go on
		return m.unheard(w, who, in, yield)
	}
	if c.waits != nothing {
		return true
	}
	for list := 1; list < m.sent; list++ {
		e := m.join(w, who, uint8(list))
		if !m.writing(w, who, e, in, yield) {
			return false
		}
		if e.NeedsID = false; m.run.Old && !c.static && c.holds == noID && !m.writing(w, who, e, in, yield) {
			return false
		}
	}
	if c.gen != noGen {
		if !m.syncs(w, who, in, yield) {
			return false
		}
		if e := m.heartbeat(w, who); !m.step(w, who, &e, in, yield) {
			return false
		}
	}
	if c.holds == ownID {
		m.leaves[0] = m.ref(c)
		return m.writing(w, who, classic.Event{Kind: classic.LeaveGroup, Leaves: m.leaves[:]}, in, yield)
	}
	return true
}

// alone yields what happens to a client without the coordinator.
func (m *machine) alone(w *world, who int8, yield func(*act) bool) bool {
	c := &w.clients[who]
	if c.transit != noGen && !m.arrival(w, who, yield) {
		return false
	}
	if c.waits != nothing && !m.giveUp(w, who, yield) {
		return false
	}
	return m.become(w, who, restarts, (*client).forget, yield)
}

func (m *machine) arrival(w *world, who int8, yield func(*act) bool) bool {
	return m.become(w, who, arrives, (*client).arrive, yield)
}

func (m *machine) giveUp(w *world, who int8, yield func(*act) bool) bool {
	return m.become(w, who, givesUp, func(c *client) { c.waits, c.transit = nothing, noGen }, yield)
}

func (m *machine) become(w *world, who int8, kind actKind, change func(*client), yield func(*act) bool) bool {
	a := &m.lonely
	a.kind, a.who, a.log.other, a.next = kind, who, -1, *w
	change(&a.next.clients[who])
	a.next.clients[who].plain()
	return yield(a)
}

// arrive is the late answer to a client's JoinGroup.
func (c *client) arrive() {
	c.gen, c.synced, c.waits, c.transit = c.transit, false, nothing, noGen // lost and leads are of Log, which has nothing late
}

// unheard is a Heartbeat whose answer makes no difference.
func (m *machine) unheard(w *world, who int8, in surroundings, yield func(*act) bool) bool {
	if w.clients[who].gen == noGen {
		return true
	}
	e := m.heartbeat(w, who)
	return m.step(w, -1, &e, in, func(a *act) bool {
		a.who = who
		return yield(a)
	})
}

// ref is a client's id as the coordinator sees it.
func (m *machine) ref(c *client) classic.Ref {
	switch {
	case c.holds == noID:
		return classic.Ref{}
	case c.holds == ownID:
		return classic.Ref{Kind: classic.KnownID, Slot: c.at}
	}
	return classic.Ref{Kind: classic.UnknownID}
}

func (m *machine) instance(c *client) classic.Instance {
	switch {
	case !c.static:
		return classic.Instance{}
	case c.inMemory():
		return classic.Instance{Kind: classic.KnownInstance, Slot: c.at}
	}
	return classic.Instance{Kind: classic.UnknownInstance}
}

func (m *machine) join(w *world, who int8, list uint8) classic.Event {
	c := &w.clients[who]
	return classic.Event{
		Kind: classic.JoinGroup, Ref: m.ref(c), Instance: m.instance(c), Type: groupType, List: list, NeedsID: true, Skips: true,
	}
}

// relation is how a client's generation relates to that of memory.
func (m *machine) relation(w *world, g gen) classic.Gen {
	switch g {
	case noGen:
		return classic.NoGen
	case w.current():
		return classic.CurrentGen
	}
	return classic.OtherGen
}

// syncs yields the SyncGroup of a client. Whoever takes itself for the leader assigns to everybody; of whoever does not lead, nobody looks
// at that.
func (m *machine) syncs(w *world, who int8, in surroundings, yield func(*act) bool) bool {
	c := &w.clients[who]
	e := classic.Event{Kind: classic.SyncGroup, Ref: m.ref(c), Instance: m.instance(c), Gen: m.relation(w, c.gen), Type: groupType}
	for i := range w.group.Slots {
		if w.group.Slots[i].Kind == classic.Member {
			e.Assign[i] = given
		}
	}
	atomic := !m.run.WriteInFlight && m.run.Crash != Log && w.group.Phase == classic.CompletingRebalance && c.holds == ownID && w.group.Slots[c.at].Leader
	if atomic {
		return m.writing(w, who, e, in, yield)
	}
	return m.step(w, who, &e, in, yield)
}

func (m *machine) heartbeat(w *world, who int8) classic.Event {
	c := &w.clients[who]
	return classic.Event{Kind: classic.Heartbeat, Ref: m.ref(c), Instance: m.instance(c), Gen: m.relation(w, c.gen)}
}
