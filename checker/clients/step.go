package clients

import "github.com/muster-kafka/muster/model/classic"

// act is one thing that happens, and one way in which it ends.
type act struct {
	kind  actKind
	who   int8 // the client, or -1
	event classic.Event
	next  world // not canonical: slots and clients are where they were

	// For whoever tells or judges it; valid during the callback.
	transition *classic.Transition // nil where the coordinator has no part in it
	answers    []answer
	log        logging
}

type actKind uint8

const (
	happens  actKind = iota // a request, a timer, the end of a write: the event says
	givesUp                 // the client gives up waiting
	arrives                 // the late answer arrives
	restarts                // the client starts anew
	crashes                 // the coordinator; another one has loaded the group
)

// answer is what becomes of one answer.
type answer struct {
	reply classic.Reply
	to    int8 // the client, or -1 where nobody listens any more
	way   way
}

type way uint8

const (
	delivered way = iota
	lost
	late
)

// surroundings say what may become of what the coordinator puts out. Where clients heal nothing goes wrong.
type surroundings struct {
	room    int
	losses  bool // answers get lost, or come late
	tracked bool // the log is part of the state
}

func (m *machine) outside() surroundings {
	return surroundings{room: m.room, losses: m.run.Clients > 0, tracked: m.run.Crash == Log}
}

// stepper turns what the model does about an event into acts.
type stepper struct {
	m     *machine
	in    surroundings
	from  world // the client waits for its answer
	who   int8
	as    int8 // without clients: the static member of the log that joins anew; -1 for none
	event classic.Event
	a     act
	all   []logging
	yield func(*act) bool
	going bool
}

// step yields every way in which an event may end, that a client sends or that happens by itself (who is -1). It says whether to go on.
func (m *machine) step(from *world, who int8, e *classic.Event, in surroundings, yield func(*act) bool) bool {
	return m.stepAs(from, who, -1, e, in, yield)
}

func (m *machine) stepAs(from *world, who, as int8, e *classic.Event, in surroundings, yield func(*act) bool) bool {
	s := &m.stepping
	*s = stepper{m: m, in: in, from: *from, who: who, as: as, event: *e, yield: yield, going: true, all: s.all, a: act{answers: s.a.answers}}
	if who >= 0 {
		switch e.Kind {
		case classic.JoinGroup:
			s.from.clients[who].waits = joining
		case classic.SyncGroup:
			s.from.clients[who].waits = syncing
		}
	}
	m.model.Step(&s.from.group, &s.event, m.onTransition)
	return s.going
}

// transition follows one transition of the model.
func (s *stepper) transition(t *classic.Transition) bool {
	if t.Overflow || inUse(&t.Next) > s.in.room {
		s.m.overflow = s.m.overflow || s.in.room == s.m.healer.room
		return true
	}
	for _, l := range s.loggings(t) {
		next := s.from
		if l.before != nil {
			next.write(*l.before)
		}
		if !s.follow(&next, t) {
			continue
		}
		if l.after != nil {
			next.write(*l.after)
		}
		if l.other >= 0 {
			next.fresh[l.other] = true
		}
		s.a = act{kind: happens, who: s.who, event: s.event, transition: t, log: l, answers: s.a.answers[:0]}
		if s.answered(next, t, 0); !s.going {
			return false
		}
	}
	return s.going
}

func inUse(s *classic.State) (n int) {
	for i := range s.Slots {
		if s.Slots[i].Kind != classic.Free {
			n++
		}
	}
	return n
}

// follow has the world follow what the coordinator has done in memory. It says whether the run goes there.
func (s *stepper) follow(next *world, t *classic.Transition) bool {
	switch t.Generation {
	case classic.NextGeneration:
		if next.ahead++; !s.in.tracked {
			next.ahead = 0
			for i := range next.clients {
				c := &next.clients[i]
				c.gen, c.transit = since(c.gen, 1), since(c.transit, 1)
			}
		}
		if next.ahead > Ahead {
			return false
		}
	case classic.ResetGeneration:
		next.ahead = 0
	}
	for i := range next.group.Slots {
		if next.group.Slots[i].Kind != classic.Free && t.Next.Slots[i].Kind == classic.Free {
			next.detach(int8(i))
		}
	}
	next.group = t.Next
	if t.Rekeyed >= 0 {
		next.rekey(t.Rekeyed)
	}
	if t.Minted >= 0 && t.Next.Slots[t.Minted].Kind != classic.Free {
		switch {
		case s.who >= 0:
			next.attach(s.who, t.Minted)
		case s.as >= 0:
			next.same[s.as], next.fresh[s.as] = t.Minted, true
		}
	}
	if s.who >= 0 && s.event.Kind == classic.LeaveGroup {
		next.clients[s.who].forget()
	}
	return true
}

// answered yields the act with every way that its answers may take, from the n-th on.
func (s *stepper) answered(next world, t *classic.Transition, n int) {
	if n == len(t.Replies) {
		s.a.next = next
		for i := range s.a.next.clients {
			if c := &s.a.next.clients[i]; c.is {
				c.leads = c.leads && s.in.tracked
				c.plain()
			}
		}
		s.going = s.going && s.yield(&s.a)
		return
	}
	r := t.Replies[n]
	to := s.addressee(r.To)
	told := len(s.a.answers)
	take := func(w way, next world) {
		s.a.answers = append(s.a.answers[:told], answer{reply: r, to: to, way: w})
		s.answered(next, t, n+1)
	}
	if to < 0 {
		take(delivered, next)
		return
	}
	api := s.api(r.To)
	heard := next
	heard.clients[to].hear(api, &r, heard.current())
	take(delivered, heard)
	if !s.in.losses || api == classic.LeaveGroup || !s.going {
		return
	}
	c := &next.clients[to]
	if s.m.run.Late && api == classic.JoinGroup && r.Error == classic.CodeNone && c.holds == ownID {
		c.transit = next.current()
		take(late, next)
		return
	}
	if !c.static && c.holds == noID {
		c.at = nowhere // nothing will tell it of the id any more
	}
	take(lost, next)
}

// addressee is the client that an answer goes to. Whoever has given up does not listen.
func (s *stepper) addressee(to classic.Address) int8 {
	if to.Kind == classic.Caller {
		return s.who
	}
	i := s.from.whose(to.Slot)
	if i < 0 || i == s.who || s.from.clients[i].transit != noGen {
		return -1
	}
	if s.from.clients[i].waits != map[classic.AddressKind]wait{classic.ParkedJoin: joining, classic.ParkedSync: syncing}[to.Kind] {
		return -1
	}
	return i
}

// api is what an answer answers.
func (s *stepper) api(to classic.Address) classic.EventKind {
	switch to.Kind {
	case classic.ParkedJoin:
		return classic.JoinGroup
	case classic.ParkedSync:
		return classic.SyncGroup
	}
	return s.event.Kind
}

// hear is a client that gets an answer, while memory has the given generation.
func (c *client) hear(api classic.EventKind, r *classic.Reply, current gen) {
	if api == classic.JoinGroup || api == classic.SyncGroup {
		c.waits = nothing
	}
	switch r.Error {
	case classic.CodeNone:
		switch api {
		case classic.JoinGroup:
			c.learn()
			c.gen, c.synced, c.lost, c.leads = current, false, false, r.Leader == r.Member && !r.FormerLeader
		case classic.SyncGroup:
			c.synced = true
		}
	case classic.CodeMemberIDRequired:
		c.learn()
	case classic.CodeUnknownMemberID, classic.CodeFencedInstanceID:
		c.holds = noID
	case classic.CodeIllegalGeneration, classic.CodeRebalanceInProgress:
		c.gen = noGen // it is going to join again
	}
	c.plain()
}

// learn is a client that is told its id, which may be gone already with a group whose first record could not be written.
func (c *client) learn() {
	if c.holds = goneID; c.inMemory() {
		c.holds = ownID
	}
}
