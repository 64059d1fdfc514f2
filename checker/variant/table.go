package variant

// predecessors is the table of section A: from which states each may be entered.
var predecessors = [...][]Phase{
	Empty:      {Preparing, Dead},
	Preparing:  {Empty, Stable, Completing},
	Completing: {Preparing},
	Stable:     {Completing},
	Dead:       {Empty, Preparing, Stable, Completing},
}

func contains(list []Phase, p Phase) bool {
	for _, each := range list {
		if each == p {
			return true
		}
	}
	return false
}

// allows says whether the table lets a group go from one state to another.
func (r *Reading) allows(from, to Phase) bool {
	if to == Empty && r.Table != TableAsWritten {
		return from != Empty && (from != Dead || r.Table == TableRevives)
	}
	return contains(predecessors[to], from)
}

// actionsAllow says whether the exit action of one state and the entry action of the other accept the transition (section B). Where the
// table has been amended they are amended with it, but for what they say of Dead.
func (r *Reading) actionsAllow(from, to Phase) bool {
	if to == Empty && from != Dead && r.Table != TableAsWritten {
		return true
	}
	switch from {
	case Empty:
		return to == Preparing || to == Dead
	case Preparing:
		return to == Empty || to == Completing || to == Dead
	case Completing:
		return to == Stable || to == Preparing || to == Dead
	case Stable:
		return to == Preparing || to == Dead
	}
	return false // Dead has no exit, and Empty refuses to be entered from it
}

// move is a transition that a handler asks for.
type move struct {
	from, to Phase
	outside  bool // of the table
	refused  bool // by an action, though it is in the table
}

// enter makes a transition: exit action, state, entry action. It says false where table or actions do not allow it; then the event has
// failed.
func (x *execution) enter(to Phase) bool {
	m := move{from: x.s.phase, to: to, outside: !x.r.allows(x.s.phase, to)}
	m.refused = !m.outside && !x.r.actionsAllow(m.from, to)
	x.moves = append(x.moves, m)
	if m.outside && x.r.Forbidden != ForbiddenPasses || m.refused {
		x.failed = true
		return false
	}
	x.exit(to)
	x.s.phase = to
	x.entry(m.from)
	return true
}

// exit runs the exit action of the present state.
func (x *execution) exit(to Phase) {
	switch {
	case x.s.phase == Empty && to == Preparing && x.r.Reset == ResetTwice:
		x.s.generation = 1
	case x.s.phase == Preparing && to == Completing:
		x.choose()
	}
}

// entry runs the entry action of the present state.
func (x *execution) entry(from Phase) {
	switch x.s.phase {
	case Empty:
		x.enterEmpty()
	case Preparing:
		x.enterPreparing(from)
	case Completing:
		x.enterCompleting()
	case Stable:
		x.enterStable()
	case Dead:
		x.enterDead()
	}
}

func (x *execution) enterEmpty() {
	s := &x.s
	x.removeAll()
	s.joinTimer, s.initial, s.former = false, false, nobody
	switch {
	case x.r.Reset != ResetNever:
		s.generation = 0
		for i := range s.clients {
			s.clients[i].stale = s.clients[i].held != 0
		}
	case x.r.RaisedAtEnd:
		x.raise()
		s.highest = s.generation
	default:
		s.highest = s.generation
	}
	x.save()
}

func (x *execution) enterPreparing(from Phase) {
	s := &x.s
	if !x.r.RaisedAtEnd {
		x.raise()
	}
	if s.leader != nobody {
		s.former = s.leader
	}
	s.leader, s.joinTimer, s.initial = nobody, true, from == Empty
	for i := range s.clients {
		c := &s.clients[i]
		if !c.member {
			continue
		}
		c.owes = owesJoin
		if x.r.MarkWaits {
			c.owes = owesNothing
		}
		if c.waits == forSync && x.r.SyncsAborted {
			x.answer(int8(i), rebalanceInProgress)
		}
	}
}

func (x *execution) enterCompleting() {
	s := &x.s
	if x.r.RaisedAtEnd {
		x.raise()
	}
	x.completed = s.generation
	s.highest = s.generation
	s.joinTimer, s.initial, s.former = false, false, nobody
	for i := range s.clients {
		c := &s.clients[i]
		if !c.member {
			continue
		}
		x.absent = x.absent || c.waits != forJoin
		// Only the leader is said to be told; taken at its word nobody else would ever know.
		if c.waits == forJoin && c.owes != owesJoin {
			x.answerJoin(int8(i))
		}
		c.owes = owesSync
	}
}

func (x *execution) enterStable() {
	for i := range x.s.clients {
		c := &x.s.clients[i]
		c.owes = owesNothing
		if c.waits == forSync {
			x.answer(int8(i), none)
		}
	}
	x.save()
}

func (x *execution) enterDead() {
	s := &x.s
	x.removeAll()
	s.joinTimer, s.initial, s.former = false, false, nobody
	s.saved = snapshot{leader: nobody}
	if x.r.Offsets {
		s.offsets = noOffsets
	}
}

// raise adds one to the generation.
func (x *execution) raise() {
	x.s.generation++
	x.overflow = x.overflow || x.s.generation > x.bound
}

// choose chooses the leader among those who have joined.
func (x *execution) choose() {
	s := &x.s
	if x.r.LeaderKept && s.former != nobody && s.joined(s.former) {
		s.leader = s.former
		return
	}
	s.leader = nobody
	for i := range int8(clients) {
		switch {
		case !s.joined(i):
		case s.leader == nobody:
			s.leader = i
		default:
			x.choices = true // two have joined: the other one may be it as well
			if x.second {
				s.leader = i
			}
		}
	}
	x.dethroned = s.former != nobody && s.joined(s.former) && s.former != s.leader
}

// remove takes a member out of the group.
func (x *execution) remove(i int8) {
	s, c := &x.s, &x.s.clients[i]
	c.member, c.owes, c.timer = false, owesNothing, false
	if c.dead {
		*c = client{} // another process may come in its place
	}
	if s.leader == i {
		s.leader = nobody
	}
	if s.former == i {
		s.former = nobody
	}
}

func (x *execution) removeAll() {
	for i := range x.s.clients {
		if x.s.clients[i].member {
			x.remove(int8(i))
		}
	}
}
