package core

import (
	"slices"
	"time"
)

// group is a group and its members.
type group struct {
	id           string
	state        State
	previous     State // before the last transition (§0.4 prevState)
	since        time.Time
	generation   int32
	protocolType string  // "" while none
	protocol     *string // chosen for the generation
	leader       string

	order   []*member          // members in the order in which they were added
	members map[string]*member // by id
	static  map[string]*member // by group.instance.id
	support map[string]int     // how many members list a protocol name
	pending map[string]struct{}

	joining  int // members with a parked JoinGroup
	unsynced int // members that owe a SyncGroup in this generation (§0.4 pendingSync)

	// The initial rebalance delay (§1.5).
	initial           bool // the rebalance waits for its delay, not for its members
	joinedDuringDelay bool // §0.4 newMemberAdded; it goes down when a delay is extended or ends
	wait, rest        time.Duration

	proposed map[string][]byte // the leader's assignment while it is being written
	writing  AppendID          // of that write, 0 for none
	creating AppendID          // of the record of the new group
	recorded bool              // a record of the group has been put out; false for a simple group (§1.12)
	kept     bool              // an offset of it has been durable: from then on only a deletion or a cleanup ends it

	// subscribed are the topics that the members of the generation consume (§0.4); nil where that is not known.
	subscribed map[string]struct{}

	offsets   map[partition]offset
	unstable  map[int64]map[partition]offset // of open transactions, by producer id
	commits   map[AppendID][]committed       // in flight
	deleting  AppendID                       // of the tombstones; 0 for none
	postponed []Request                      // until the deletion has ended
}

type member struct {
	id, clientID, clientHost string
	instance                 *string // group.instance.id of a static member; "" is one too
	sessionTimeout           time.Duration
	rebalanceTimeout         time.Duration
	protocols                []protocol
	assignment               []byte
	join, sync               *parked // parked requests
	isNew                    bool    // has not completed a join yet
	unsynced                 bool
}

type protocol struct {
	name     string
	metadata []byte
}

// parked is a request that waits for the group.
type parked struct {
	ticket  Ticket
	version int16
}

type partition struct {
	topic string
	index int32
}

func newGroup(id string, now time.Time) *group {
	return &group{
		id: id, state: Empty, previous: Dead, since: now,
		members: map[string]*member{}, static: map[string]*member{}, support: map[string]int{}, pending: map[string]struct{}{},
		offsets: map[partition]offset{}, unstable: map[int64]map[partition]offset{}, commits: map[AppendID][]committed{},
	}
}

// supports reports whether a member with these protocols may join (§1.7; join.protocol.inconsistent). A member that is in the group
// already is counted with its old protocols.
func (g *group) supports(protocolType string, protocols []protocol) bool {
	if g.state == Empty {
		return protocolType != "" && len(protocols) > 0
	}
	if protocolType != g.protocolType {
		return false
	}
	return slices.ContainsFunc(protocols, func(p protocol) bool { return g.support[p.name] == len(g.members) })
}

// add makes a member of the group; the caller parks its JoinGroup.
func (g *group) add(m *member, protocolType string) {
	if len(g.members) == 0 {
		g.protocolType = protocolType
	}
	if g.leader == "" {
		g.leader = m.id // §1.8
	}
	delete(g.pending, m.id)
	g.members[m.id] = m
	if m.instance != nil {
		g.static[*m.instance] = m
	}
	g.order = append(g.order, m)
	g.count(m, 1)
}

// drop takes a member out, with all that the group counts of it. Its timer, its parked requests and the leadership are the caller's.
func (g *group) drop(m *member) {
	g.count(m, -1)
	g.setSynced(m)
	if m.join != nil {
		g.joining--
	}
	delete(g.members, m.id)
	if m.instance != nil {
		delete(g.static, *m.instance)
	}
	g.order = slices.DeleteFunc(g.order, func(o *member) bool { return o == m })
}

// setProtocols replaces a member's list.
func (g *group) setProtocols(m *member, protocols []protocol) {
	g.count(m, -1)
	m.protocols = protocols
	g.count(m, 1)
}

// count adds a member to the support of its protocols, once for each name even where its list repeats it.
func (g *group) count(m *member, by int) {
	seen := make(map[string]struct{}, len(m.protocols))
	for _, p := range m.protocols {
		if _, twice := seen[p.name]; twice {
			continue
		}
		seen[p.name] = struct{}{}
		if g.support[p.name] += by; g.support[p.name] == 0 {
			delete(g.support, p.name)
		}
	}
}

func (g *group) setSynced(m *member) {
	if m.unsynced {
		m.unsynced = false
		g.unsynced--
	}
}

// allJoined is §0.4: every member waits in JoinGroup and no id is outstanding (join.pending.blocks).
func (g *group) allJoined() bool { return g.joining == len(g.members) && len(g.pending) == 0 }

// maxRebalanceTimeout is over the members present, at least 0 (§1.3).
func (g *group) maxRebalanceTimeout() (longest time.Duration) {
	for _, m := range g.order {
		longest = max(longest, m.rebalanceTimeout)
	}
	return longest
}

// candidates are the protocols that all members support, with the votes of the members (§1.7; join.complete.vote), in the order in
// which they were first voted for.
func (g *group) candidates() (names []string, votes map[string]int) {
	votes = map[string]int{}
	for _, m := range g.order {
		for _, p := range m.protocols {
			if g.support[p.name] != len(g.members) {
				continue
			}
			if votes[p.name] == 0 {
				names = append(names, p.name)
			}
			votes[p.name]++
			break
		}
	}
	return names, votes
}

func (m *member) metadata(name string) []byte {
	for _, p := range m.protocols {
		if p.name == name {
			return p.metadata
		}
	}
	return nil
}

// sameProtocols is §1.7: the same names and bytes in the same order.
func sameProtocols(a, b []protocol) bool {
	return slices.EqualFunc(a, b, func(p, q protocol) bool { return p.name == q.name && slices.Equal(p.metadata, q.metadata) })
}
