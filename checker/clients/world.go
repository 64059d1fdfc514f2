package clients

import "github.com/muster-kafka/muster/model/classic"

// world is a state of a run: the coordinator's memory, what the log says, and what each client knows.
type world struct {
	group classic.State // the memory
	log   classic.State // what the last record says (classic.Durable); Absent: there is none. Only with Log
	ahead uint8         // how many generations memory is ahead of the log

	// By slot of the log: the memory slot that is of the same member, or -1; and whether that one has another id by now, because the
	// static member was replaced.
	same  [maxRoom]int8
	fresh [maxRoom]bool

	clients [maxClients]client
}

// client is what is to be told of a client.
type client struct {
	is     bool
	static bool
	at     int8 // which member or id it is for the coordinator: a memory slot, a log slot plus inLog, or nowhere

	holds   held
	gen     gen  // the generation that it holds
	synced  bool // it has its assignment of that generation
	leads   bool // it believes that it leads that generation; only with Log
	lost    bool // a crash has lost that generation, though there may be another one of its number by now; only with Log
	waits   wait // the request that it waits for an answer to
	transit gen  // the answer to its JoinGroup is on its way and tells of this generation; with Late

	list uint8 // where clients heal: the list that it has chosen, 0 for none yet
}

const (
	nowhere int8 = -1
	inLog   int8 = 32
)

// held is the id that a client holds.
type held uint8

const (
	noID   held = iota
	ownID       // the one that the coordinator's memory has for it
	logID       // one that only the log has
	goneID      // one that nobody has any more
)

// gen is a generation that a client has been told of. Generations are numbers from that of the log on, or from that of memory where there
// is no log; all earlier ones are the same, since no coordinator comes back to them.
type gen uint8

const (
	noGen   gen = iota
	oldGen      // earlier than that of the log
	baseGen     // that of the log; the next ones follow
)

// wait is the request that a client waits for: at the coordinator, or with its answer lost.
type wait uint8

const (
	nothing wait = iota
	joining
	syncing
)

func newWorld() (w world) {
	for i := range w.same {
		w.same[i] = -1
	}
	for i := range w.clients {
		w.clients[i].at = nowhere
	}
	return w
}

// current is the generation of memory as clients hold it.
func (w *world) current() gen { return baseGen + gen(w.ahead) }

// logSlot is the slot of the log of the same member as a memory slot, or -1.
func (w *world) logSlot(slot int8) int8 {
	for l, s := range w.same {
		if s == slot && w.log.Slots[l].Kind != classic.Free {
			return int8(l)
		}
	}
	return -1
}

// whose is the client of a memory slot, or -1.
func (w *world) whose(slot int8) int8 {
	for i := range w.clients {
		if w.clients[i].is && w.clients[i].at == slot {
			return int8(i)
		}
	}
	return -1
}

// inMemory says whether the client is a member or pending id in memory, whether or not it knows.
func (c *client) inMemory() bool { return c.at >= 0 && c.at < inLog }

// plain takes away what makes no difference: what a client that has lost its id still holds, and which id a dynamic client had that has
// forgotten it.
func (c *client) plain() {
	if c.holds == noID || c.holds == goneID {
		c.gen, c.transit = noGen, noGen
	}
	if c.gen == noGen {
		c.synced, c.leads = false, false
	}
	if c.gen < baseGen {
		c.lost = false
	}
	if !c.static && (c.holds == noID && c.waits != joining || c.holds == goneID) {
		c.at = nowhere
	}
}

// forget is a client that starts anew.
func (c *client) forget() {
	*c = client{is: true, static: c.static, at: c.at}
	c.plain()
}

// detach follows a client whose memory slot is free now.
func (w *world) detach(slot int8) {
	l := w.logSlot(slot)
	for i := range w.clients {
		c := &w.clients[i]
		if !c.is || c.at != slot {
			continue
		}
		c.at = nowhere
		if l >= 0 {
			c.at = l + inLog
		}
		if c.holds == ownID {
			if l >= 0 && !w.fresh[l] {
				c.holds = logID
			} else {
				c.holds = goneID
			}
		}
		c.plain()
	}
	if l >= 0 {
		w.same[l], w.fresh[l] = -1, false
	}
}

// rekey follows a static member that has another id in memory now.
func (w *world) rekey(slot int8) {
	l := w.logSlot(slot)
	for i := range w.clients {
		c := &w.clients[i]
		if !c.is || c.at != slot || c.holds != ownID {
			continue
		}
		c.holds = goneID
		if l >= 0 && !w.fresh[l] {
			c.holds = logID
		}
		c.plain()
	}
	if l >= 0 {
		w.fresh[l] = true
	}
}

// attach makes a client the one of a fresh slot.
func (w *world) attach(who, slot int8) {
	c := &w.clients[who]
	if c.at >= inLog { // a static member that the log still has under its former id
		l := c.at - inLog
		w.same[l], w.fresh[l] = slot, true
	}
	c.at = slot
}

// write makes the log say what the record says, of the present generation.
func (w *world) write(record classic.State) {
	for i := range w.clients {
		c := &w.clients[i]
		if !c.is {
			continue
		}
		if c.at >= inLog {
			c.at = nowhere
		}
		if c.holds == logID {
			c.holds = goneID
		}
		c.gen, c.transit = since(c.gen, w.ahead), since(c.transit, w.ahead)
		c.plain()
	}
	w.log, w.ahead = record, 0
	for l := range w.same {
		w.same[l], w.fresh[l] = -1, false
		if record.Slots[l].Kind != classic.Free {
			w.same[l] = int8(l)
		}
	}
}

// since renames a generation when the log gets on by n.
func since(g gen, n uint8) gen {
	switch {
	case g < baseGen:
		return g
	case g < baseGen+gen(n):
		return oldGen
	}
	return g - gen(n)
}

// loaded follows everybody when memory is what the log says.
func (w *world) loaded(memory classic.State) {
	for i := range w.clients {
		c := &w.clients[i]
		if !c.is || c.at == nowhere {
			continue
		}
		l, loses := c.at-inLog, false
		if c.inMemory() {
			l = w.logSlot(c.at)
			loses = l < 0 || w.fresh[l] // memory had an id for it that the log has not
		}
		switch {
		case c.holds == ownID && loses:
			c.holds = goneID
		case c.holds == ownID:
			c.holds = logID
		}
		if c.at = l + inLog; l < 0 {
			c.at = nowhere
		}
	}
	w.group, w.ahead = memory, 0
	for l := range w.same {
		w.same[l], w.fresh[l] = -1, false
		if memory.Slots[l].Kind != classic.Free {
			w.same[l] = int8(l)
		}
	}
	for i := range w.clients {
		c := &w.clients[i]
		if c.at >= inLog && w.same[c.at-inLog] >= 0 {
			c.at -= inLog
			if c.holds == logID {
				c.holds = ownID
			}
		}
		c.lost = c.lost || c.gen > w.current()
		c.plain()
	}
}
