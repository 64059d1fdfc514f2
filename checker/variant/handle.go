package variant

// code is what a request is answered with.
type code uint8

const (
	none code = iota
	rebalanceInProgress
	illegalGeneration
	unknownMember
	groupIDNotFound
	nonEmptyGroup
	anError // of which the description says no more
)

func (c code) String() string {
	return [...]string{
		"NONE", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "GROUP_ID_NOT_FOUND", "NON_EMPTY_GROUP", "an error",
	}[c]
}

// kind is what happens.
type kind uint8

const (
	joinGroup kind = iota
	syncGroup
	heartbeat
	leaveGroup
	commit
	expiry
	crash
	joinTimeout
	restart
	deleteGroup
)

// event is one thing that happens, to one client where it is of one. Client 2 is a stranger that the group never knew.
type event struct {
	kind   kind
	client int8
}

const stranger int8 = clients

// reply is an answer to a client.
type reply struct {
	client int8
	code   code
	join   bool // of a JoinGroup, with the generation
	told   int8
}

// execution is an event that is being handled.
type execution struct {
	r      *Reading
	e      event
	before state
	s      state
	second bool // of two candidates the second leads
	bound  int8 // of the generation

	replies   []reply
	moves     []move
	parked    bool // the request waits
	failed    bool
	overflow  bool
	choices   bool
	completed int8 // the generation of the join that has completed; 0 if none has
	absent    bool // somebody is in it who has not joined
	dethroned bool // the former leader has joined and does not lead
}

func (x *execution) answer(client int8, c code) {
	if client != stranger && x.s.clients[client].waits != forNothing {
		x.s.clients[client].waits = forNothing
	}
	x.replies = append(x.replies, reply{client: client, code: c})
}

// answerJoin tells a member the generation.
func (x *execution) answerJoin(client int8) {
	c := &x.s.clients[client]
	c.waits, c.stale = forNothing, false
	if !c.dead {
		c.held = x.s.generation
	}
	x.replies = append(x.replies, reply{client: client, join: true, told: x.s.generation})
}

// code is what the event's own request was answered with.
func (x *execution) code() (c code, answered bool) {
	for _, r := range x.replies {
		if r.client == x.e.client {
			return r.code, true
		}
	}
	return none, false
}

// run handles the event. An event that fails leaves the group as it was, as far as the reading takes that.
func (x *execution) run() {
	switch x.e.kind {
	case joinGroup:
		x.join(x.e.client)
	case syncGroup:
		x.sync(x.e.client)
	case heartbeat:
		x.heartbeat(x.e.client)
	case leaveGroup:
		x.leave(x.e.client)
	case commit:
		x.commit(x.e.client)
	case expiry:
		x.expire(x.e.client)
	case crash:
		c := &x.s.clients[x.e.client]
		c.dead, c.held, c.stale = true, 0, false
		if c.waits == forRetry {
			c.waits = forNothing
		}
	case joinTimeout:
		x.timeout()
	case restart:
		x.restart()
	case deleteGroup:
		x.delete()
	}
	if x.failed {
		x.fail()
	}
}

// fail ends an event whose transition was refused.
func (x *execution) fail() {
	if x.r.Forbidden == ForbiddenUndone {
		x.s, x.replies, x.parked = x.before, x.replies[:0], false
	}
	switch x.e.kind {
	case expiry:
		x.s.clients[x.e.client].timer = false // it has fired
	case leaveGroup:
		// The process is gone, whatever it was answered.
		if c := &x.s.clients[x.e.client]; c.member {
			*c = client{member: true, owes: c.owes, timer: c.timer, dead: true}
		}
		x.replies = append(x.replies[:0], reply{client: x.e.client, code: anError})
	case joinGroup, deleteGroup:
		x.replies = append(x.replies[:0], reply{client: x.e.client, code: anError})
	}
}

// tryComplete completes the join if all have joined.
func (x *execution) tryComplete() {
	if x.s.phase == Preparing && x.s.allJoined() {
		x.enter(Completing)
	}
}

// recheck is tryComplete where the text does not ask for it.
func (x *execution) recheck() {
	if x.r.Recheck {
		x.tryComplete()
	}
}

func (x *execution) join(i int8) {
	s := &x.s
	switch s.phase {
	case Dead:
		switch x.r.DeadJoin {
		case DeadRefuses:
			x.answer(i, groupIDNotFound)
			return
		case DeadRevives:
			if !x.enter(Empty) {
				return
			}
		case DeadForgotten:
			x.renew()
		}
		x.join(i)
	case Empty:
		if x.r.AddFirst {
			x.add(i)
			x.enter(Preparing)
		} else if x.enter(Preparing) {
			x.add(i)
		}
	case Preparing:
		x.add(i)
		x.tryComplete()
	case Completing, Stable:
		c := &s.clients[i]
		if x.r.Repeats && c.member && (s.leader != i || s.phase == Completing) {
			x.answerJoin(i)
			c.timer = true
			return
		}
		if x.enter(Preparing) {
			x.add(i)
			x.recheck()
		}
	}
}

// add adds a member, or takes its JoinGroup over.
func (x *execution) add(i int8) {
	c := &x.s.clients[i]
	*c = client{member: true, timer: true, waits: forJoin}
	x.parked = true
}

// renew makes a new group of the name of one that is gone.
func (x *execution) renew() {
	s := &x.s
	s.phase, s.generation, s.highest = Empty, 0, 0
	for i := range s.clients {
		s.clients[i].stale = s.clients[i].held != 0
	}
	if s.offsets != noOffsets {
		s.offsets = foreignOffsets
	}
}

func (x *execution) sync(i int8) {
	if x.s.leader == i {
		if x.enter(Stable) {
			x.answer(i, none)
		}
		return
	}
	x.s.clients[i].waits = forSync
	x.parked = true
}

func (x *execution) heartbeat(i int8) { x.answerHeartbeat(i, x.heartbeatCode(i)) }

func (x *execution) answerHeartbeat(i int8, c code) {
	if i != stranger && x.s.clients[i].member && (c == none || c == rebalanceInProgress) {
		x.s.clients[i].timer = true
	}
	x.replies = append(x.replies, reply{client: i, code: c}) // whatever else it waits for, it waits on
}

// heartbeatCode is how the group answers a client's heartbeat.
func (x *execution) heartbeatCode(i int8) code {
	s := &x.s
	switch s.phase {
	case Empty:
		return unknownMember
	case Dead:
		if x.r.DeadCode {
			return unknownMember
		}
		return groupIDNotFound
	}
	if i == stranger || !s.clients[i].member {
		if x.r.UnknownCode {
			return unknownMember
		}
		return illegalGeneration
	}
	c := &s.clients[i]
	if s.phase == Preparing {
		switch x.r.Heartbeat {
		case HeartbeatMember:
			return none
		case HeartbeatRebalance:
			if c.held == s.highest && !c.stale {
				return rebalanceInProgress
			}
			return illegalGeneration
		}
	}
	if c.held != s.generation {
		return illegalGeneration
	}
	return none
}

func (x *execution) leave(i int8) {
	s := &x.s
	switch {
	case s.phase == Dead && !x.r.DeadCode:
		x.leaver(i, groupIDNotFound)
		return
	case s.phase == Dead, i == stranger, !s.clients[i].member:
		x.leaver(i, unknownMember)
		return
	}
	x.remove(i)
	x.leaver(i, none)
	switch {
	case s.members() == 0 && s.phase == Stable && x.r.LastLeave == LastToDead && s.offsets == noOffsets:
		x.enter(Dead)
	case s.members() == 0:
		x.enter(Empty)
	case s.phase == Preparing && x.r.LeaveInJoin == LeaveStays:
		x.recheck()
	default:
		x.enter(Preparing)
	}
}

// leaver answers a LeaveGroup, after which its client is gone.
func (x *execution) leaver(i int8, c code) {
	x.replies = append(x.replies, reply{client: i, code: c})
	if i != stranger {
		x.s.clients[i] = client{}
	}
}

func (x *execution) commit(i int8) {
	s, c := &x.s, &x.s.clients[i]
	served := s.phase != Dead
	switch x.r.CommitState {
	case CommitStable:
		served = s.phase == Stable
	case CommitGenerations:
		served = s.phase == Stable || s.phase == Preparing
	}
	switch {
	case s.phase == Dead:
		x.answerHeartbeat(i, groupIDNotFound)
	case x.r.CommitMember && !c.member:
		x.answerHeartbeat(i, unknownMember)
	case c.held != s.generation:
		x.answerHeartbeat(i, illegalGeneration)
	case !served:
		x.answerHeartbeat(i, rebalanceInProgress)
	default:
		x.answerHeartbeat(i, none)
		s.offsets = ownOffsets
	}
}

func (x *execution) expire(i int8) {
	s := &x.s
	x.remove(i)
	switch {
	case s.members() == 0:
		x.enter(Empty)
	case s.phase == Preparing:
		x.recheck()
	case s.phase == Stable || x.r.LeaderGone:
		x.enter(Preparing)
	}
}

func (x *execution) timeout() {
	s := &x.s
	s.joinTimer = false
	some := false
	for i := range int8(clients) {
		some = some || s.joined(i)
	}
	if !some {
		x.enter(Empty)
		return
	}
	for i := range int8(clients) {
		if s.clients[i].member && !s.joined(i) && !x.r.AbsentKept {
			x.remove(i)
		}
	}
	x.enter(Completing)
}

func (x *execution) delete() {
	switch {
	case x.r.DeleteEmpty && x.s.phase == Dead:
		x.answer(stranger, groupIDNotFound)
	case x.r.DeleteEmpty && x.s.phase != Empty:
		x.answer(stranger, nonEmptyGroup)
	default:
		if x.enter(Dead) {
			x.answer(stranger, none)
		}
	}
}

// save notes the group as the last one that was saved, where that is not simply what it is.
func (x *execution) save() {
	if !x.r.CompletedOnly {
		return
	}
	x.s.saved = snapshot{generation: x.s.generation, leader: x.s.leader}
	for i := range x.s.clients {
		x.s.saved.members[i] = x.s.clients[i].member
	}
}

// restart is that the coordinator is gone, and that another one loads the snapshot. Requests that waited are lost, which their clients
// see.
func (x *execution) restart() {
	s := &x.s
	s.joinTimer, s.initial, s.former = false, false, nobody
	if x.r.CompletedOnly {
		x.load()
	}
	for i := range s.clients {
		c := &s.clients[i]
		switch {
		case c.waits == forJoin && !c.dead:
			c.waits = forRetry
		case c.waits == forSync, c.dead:
			c.waits = forNothing
		}
		if !c.member {
			continue
		}
		c.timer = x.r.LoadTimers
		c.owes = owesNothing
		switch s.phase {
		case Preparing:
			c.owes = owesJoin // nobody's request is there
		case Completing:
			c.owes = owesSync
		}
	}
}

// load goes back to the last completed generation. The one after it may be used again, in Kafka too.
func (x *execution) load() {
	s := &x.s
	s.generation, s.highest, s.leader = s.saved.generation, s.saved.generation, s.saved.leader
	s.phase = Empty
	for i := range s.clients {
		c := &s.clients[i]
		in := s.saved.members[i]
		if in {
			s.phase = Stable
		}
		switch {
		case in && !c.member:
			// Who has left since comes back, without a process.
			gone := c.held == 0 && c.waits == forNothing
			c.member, c.dead = true, gone
		case !in && c.member && c.dead:
			*c = client{}
		case !in && c.member:
			c.member, c.owes, c.timer = false, owesNothing, false
		}
	}
}
