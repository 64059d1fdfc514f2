package variant

import "github.com/muster-kafka/muster/checker/explore"

// Property is something that a sound group keeps to.
type Property struct {
	Name   string
	Kind   string // what breaking it is: one of the kinds below
	Rule   string // Kafka's rule, an id of model/classic; "" where the description breaks its own word only
	Source string // the section of the fact sheet
}

// Kinds of properties.
const (
	OwnTable   = "breaks its own table"
	Deadlock   = "never ends"
	Generation = "generations"
	Kafka      = "differs from Kafka"
)

// The properties. The numbers are positions in the registry.
const (
	tableStable = iota
	tableCompleting
	tablePreparing
	tableDead
	actionsDead
	joinAnswered
	syncAnswered
	rebalanceEnds
	deadRemoved
	firstIsOne
	onlyOnce
	neverBack
	emptyTakes
	fence
	leaves
	lastEmpties
	completesAtOnce
	allIn
	toldToRejoin
	heartbeatPreparing
	heartbeatUnknown
	heartbeatDead
	leaveDead
	joinDead
	deleteMembers
	deletedOffsets
	repeatStable
	repeatCompleting
	leaderStays
	syncAborted
	commitStranger
	commitCompleting
	commitPreparing
	loadsCompleted
	loadsTimers
)

var properties = [...]Property{
	tableStable:        {"a Stable group can lose its last member", OwnTable, "leave.last.empties", "§1.1"},
	tableCompleting:    {"a CompletingRebalance group can lose its last member", OwnTable, "leave.last.empties", "§1.1"},
	tablePreparing:     {"a member can leave a PreparingRebalance group that has others", OwnTable, "leave.member", "§2.5"},
	tableDead:          {"deleting asks only for transitions of the table", OwnTable, "delete.unknown", "§2.12"},
	actionsDead:        {"what the table allows the actions allow", OwnTable, "", "§1.12"},
	joinAnswered:       {"a JoinGroup that waits is answered at last", Deadlock, "join.complete.timeout", "§7.3 L8"},
	syncAnswered:       {"a SyncGroup that waits is answered at last", Deadlock, "sync.timer.expels", "§7.3 L3"},
	rebalanceEnds:      {"a rebalance ends at last", Deadlock, "session.expires", "§7.3 L2, L3"},
	deadRemoved:        {"a member that is gone is removed at last", Deadlock, "session.expires", "§7.3 L5"},
	firstIsOne:         {"each completed join raises the generation by one", Generation, "join.complete.generation", "§1.6"},
	onlyOnce:           {"a generation is completed only once", Generation, "join.complete.generation", "§7.1 I1"},
	neverBack:          {"the generation of a group never goes back", Generation, "join.complete.empty", "§7.1 I1"},
	emptyTakes:         {"a group that becomes Empty takes a generation", Generation, "leave.last.empties", "§1.6"},
	fence:              {"a commit of an earlier life of the group is refused", Generation, "commit.member.unknown", "§2.6.2 OC6"},
	leaves:             {"a member that leaves is gone", Kafka, "leave.member", "§2.5"},
	lastEmpties:        {"the last member's leaving empties the group", Kafka, "leave.last.empties", "§1.1"},
	completesAtOnce:    {"a join completes as soon as all have joined", Kafka, "join.complete.all-joined", "§1.3"},
	allIn:              {"who is in a completed join has joined", Kafka, "join.complete.timeout", "§1.4"},
	toldToRejoin:       {"a member that does what it is told is not removed by the join timer", Kafka, "heartbeat.preparing", "§2.4 HB7"},
	heartbeatPreparing: {"a member's heartbeat in PreparingRebalance is answered REBALANCE_IN_PROGRESS", Kafka, "heartbeat.preparing", "§2.4 HB7"},
	heartbeatUnknown:   {"an unknown member's heartbeat is answered UNKNOWN_MEMBER_ID", Kafka, "heartbeat.member.unknown", "§2.4 HB4"},
	heartbeatDead:      {"a heartbeat for a group that is gone is answered UNKNOWN_MEMBER_ID", Kafka, "heartbeat.group.unknown", "§2.4 HB2"},
	leaveDead:          {"a LeaveGroup for a group that is gone is answered UNKNOWN_MEMBER_ID", Kafka, "leave.group.unknown", "§2.5 LG2"},
	joinDead:           {"a deleted group's name can be used again", Kafka, "delete.empty", "§1.12"},
	deleteMembers:      {"a group that is not Empty is not deleted", Kafka, "delete.non-empty", "§2.12"},
	deletedOffsets:     {"a deleted group's offsets are gone", Kafka, "delete.empty", "§2.12"},
	repeatStable:       {"a follower that repeats its JoinGroup in Stable is answered at once", Kafka, "join.stable.follower-repeats", "§1.2 T6"},
	repeatCompleting:   {"a member that repeats its JoinGroup in CompletingRebalance is answered at once", Kafka, "join.completing.same", "§1.2 T14"},
	leaderStays:        {"a leader that rejoins stays leader", Kafka, "join.complete.leader", "§1.8"},
	syncAborted:        {"a rebalance answers the SyncGroups that wait", Kafka, "sync.parked.aborted", "§1.3"},
	commitStranger:     {"a commit of who is no member is refused", Kafka, "commit.member.unknown", "§2.6.2 OC6"},
	commitCompleting:   {"a commit in CompletingRebalance is refused", Kafka, "commit.completing", "§2.6.2 OC8"},
	commitPreparing:    {"a member's commit in PreparingRebalance is accepted until it has rejoined", Kafka, "commit.member.accepted", "§2.6.2 OC9"},
	loadsCompleted:     {"a loaded group is Stable or Empty", Kafka, "load.state", "§4.4"},
	loadsTimers:        {"each member of a loaded group has its session timer", Kafka, "load.sessions", "§4.4"},
}

// Properties are everything that is judged.
func Properties() []Property { return properties[:] }

// FindProperty returns the property of a name.
func FindProperty(name string) (Property, bool) {
	for _, p := range properties {
		if p.Name == name {
			return p, true
		}
	}
	return Property{}, false
}

// found notes that a property is broken.
func found(out *explore.Expansion, edge, property, detail int) {
	p := &properties[property]
	out.Findings = append(out.Findings, explore.Finding{Edge: edge, Property: p.Name, Rule: p.Rule, Detail: detail})
}

// judge judges one transition.
func (x *execution) judge(broken func(property int)) {
	when := func(holdsNot bool, property int) {
		if holdsNot {
			broken(property)
		}
	}
	x.judgeMoves(broken)
	x.judgeGenerations(when)
	s, b, e := &x.s, &x.before, x.e
	own := &client{}
	if e.client != stranger {
		own = &b.clients[e.client]
	}
	c, answered := x.code()
	switch e.kind {
	case heartbeat:
		known := own.member && b.phase != Empty && b.phase != Dead
		when(known && b.phase == Preparing && own.held == b.highest && !own.stale && c != rebalanceInProgress, heartbeatPreparing)
		when(!known && b.phase != Dead && c != unknownMember, heartbeatUnknown)
		when(b.phase == Dead && c != unknownMember, heartbeatDead)
	case leaveGroup:
		when(own.member && (c != none || s.clients[e.client].member), leaves)
		when(b.phase == Dead && c != unknownMember, leaveDead)
		when(own.member && c == none && s.members() == 0 && s.phase != Empty, lastEmpties)
	case joinGroup:
		when(b.phase == Dead && answered && c == groupIDNotFound, joinDead)
		when(b.phase == Dead && s.phase != Dead && s.offsets == foreignOffsets, deletedOffsets)
		again := own.member && s.phase == Preparing
		when(again && b.phase == Stable && b.leader != e.client, repeatStable)
		when(again && b.phase == Completing, repeatCompleting)
	case deleteGroup:
		when(b.phase != Empty && b.phase != Dead && s.phase == Dead, deleteMembers)
	case commit:
		when(c == none && own.stale, fence)
		when(c == none && !own.member, commitStranger)
		when(c == none && own.member && b.phase == Completing, commitCompleting)
		when(c != none && own.member && b.phase == Preparing && own.held == b.highest && !own.stale, commitPreparing)
	case joinTimeout:
		when(x.removesObedient(), toldToRejoin)
	case restart:
		when(s.phase == Preparing || s.phase == Completing, loadsCompleted)
		timerless := false
		for i := range s.clients {
			timerless = timerless || s.clients[i].member && !s.clients[i].timer
		}
		when(timerless, loadsTimers)
	}
	when(x.absent, allIn)
	when(x.dethroned, leaderStays)
	when(x.leavesSyncs(), syncAborted)
}

// judgeMoves judges the transitions that the handler asked for by table and actions.
func (x *execution) judgeMoves(broken func(int)) {
	for _, m := range x.moves {
		switch {
		case m.refused:
			broken(actionsDead)
		case !m.outside:
		case m.from == Stable && m.to == Empty:
			broken(tableStable)
		case m.from == Completing && m.to == Empty:
			broken(tableCompleting)
		case m.from == Preparing && m.to == Preparing:
			broken(tablePreparing)
		default:
			broken(tableDead)
		}
	}
}

func (x *execution) judgeGenerations(when func(bool, int)) {
	was := x.before.highest
	if x.before.phase == Dead {
		was = 0 // a new group
	}
	if x.completed != 0 {
		when(x.completed > was+1, firstIsOne)
		when(x.completed <= was, onlyOnce)
	}
	emptied := x.s.phase == Empty && x.before.phase != Empty && x.before.phase != Dead && x.e.kind != restart
	when(emptied && x.s.generation <= was, emptyTakes)
	when(x.s.generation < x.before.generation && x.e.kind != restart && x.before.phase != Dead, neverBack)
}

// removesObedient says whether the join timer removes a member that lives, and that no answer has told to rejoin.
func (x *execution) removesObedient() bool {
	if x.s.phase == Preparing {
		return false
	}
	for i := range x.s.clients {
		c := &x.before.clients[i]
		if c.member && !c.dead && c.waits != forJoin && c.waits != forRetry && !x.s.clients[i].member && !rejoins(x.r, &x.before, int8(i)) {
			return true
		}
	}
	return false
}

// leavesSyncs says whether a rebalance starts and leaves a SyncGroup waiting.
func (x *execution) leavesSyncs() bool {
	if x.before.phase != Completing || x.s.phase != Preparing || x.e.kind == restart {
		return false
	}
	for i := range x.s.clients {
		if c := &x.s.clients[i]; c.member && c.waits == forSync {
			return true
		}
	}
	return false
}

// judgeState judges what a state is, not how it came about.
func judgeState(s *state, broken func(property int)) {
	// The first rebalance may wait for more members.
	if s.phase == Preparing && !s.initial && s.allJoined() {
		broken(completesAtOnce)
	}
}
