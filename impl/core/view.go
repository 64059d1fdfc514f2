package core

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// View is a group as it is in memory: all that what it does next depends on, but for the values of its offsets. Two groups with equal
// views answer alike, apart from ages. It shares byte strings with the coordinator; they never change in place.
type View struct {
	State, Previous  State // Previous is before the last transition
	Generation       int32
	ProtocolType     string
	Protocol         *string
	Leader           string
	Members          []MemberView // in the order in which they were added
	Pending          []string     // ids that are only handed out, sorted
	Support          []Support    // by name: as the group has counted it
	Joining, Syncing int          // how many wait in JoinGroup, and owe a SyncGroup, as the group has counted it

	Initial, JoinedDuringDelay bool
	Wait, Rest                 time.Duration

	Writing                       AppendID // of the leader's assignment; 0 for none
	Creating                      AppendID // of the record of the new group
	Proposes                      bool     // an assignment is on its way to the log
	Recorded, Kept                bool     // there has been a record of the group, an offset of it
	Subscribed                    []string // topics, sorted; nil where they are not known
	Offsets, Unstable, Committing int      // partitions with an offset, producers and writes with offsets on their way
	Deleting                      bool
	Postponed                     int // requests that wait for the deletion
}

// MemberView is a member.
type MemberView struct {
	ID, ClientID                     string
	Instance                         *string
	SessionTimeout, RebalanceTimeout time.Duration
	Protocols                        []Protocol
	Assignment, Proposed             []byte
	Join, Sync                       Ticket // of parked requests, 0 for none
	New, OwesSync                    bool
}

// Protocol is one entry of a member's protocol list.
type Protocol struct {
	Name     string
	Metadata []byte
}

// Support is how many members list a protocol.
type Support struct {
	Name  string
	Count int
}

// View fills in what the group is, false where there is no such group. The slices of v are used again.
func (c *Coordinator) View(id string, v *View) bool {
	members, pending, support := v.Members, v.Pending[:0], v.Support[:0]
	*v = View{}
	g := c.groups[id]
	if g == nil {
		v.Members, v.Pending, v.Support = members[:0], pending, support
		return false
	}
	v.State, v.Previous, v.Generation, v.ProtocolType, v.Protocol, v.Leader = g.state, g.previous, g.generation, g.protocolType, g.protocol, g.leader
	v.Joining, v.Syncing = g.joining, g.unsynced
	v.Initial, v.JoinedDuringDelay, v.Wait, v.Rest = g.initial, g.joinedDuringDelay, g.wait, g.rest
	v.Writing, v.Creating, v.Proposes, v.Recorded, v.Kept = g.writing, g.creating, g.proposed != nil, g.recorded, g.kept
	v.Offsets, v.Unstable, v.Committing, v.Deleting, v.Postponed = len(g.offsets), len(g.unstable), len(g.commits), g.deleting != 0, len(g.postponed)
	if g.subscribed != nil {
		v.Subscribed = slices.Sorted(maps.Keys(g.subscribed))
	}
	for id := range g.pending {
		pending = append(pending, id)
	}
	slices.Sort(pending)
	for name, n := range g.support {
		support = append(support, Support{name, n})
	}
	slices.SortFunc(support, func(a, b Support) int { return cmp.Compare(a.Name, b.Name) })
	members = slices.Grow(members[:0], len(g.order))[:len(g.order)]
	for i, m := range g.order {
		m.view(&members[i], g.proposed[m.id])
	}
	v.Members, v.Pending, v.Support = members, pending, support
	return true
}

func (m *member) view(v *MemberView, proposed []byte) {
	protocols := v.Protocols[:0]
	for _, p := range m.protocols {
		protocols = append(protocols, Protocol{p.name, p.metadata})
	}
	*v = MemberView{
		ID: m.id, ClientID: m.clientID, Instance: m.instance, SessionTimeout: m.sessionTimeout, RebalanceTimeout: m.rebalanceTimeout,
		Protocols: protocols, Assignment: m.assignment, Proposed: proposed, New: m.isNew, OwesSync: m.unsynced,
	}
	if m.join != nil {
		v.Join = m.join.ticket
	}
	if m.sync != nil {
		v.Sync = m.sync.ticket
	}
}

// Serves says whether the coordinator serves its groups, and if it does not, whether it is loading them.
func (c *Coordinator) Serves() (serves, loads bool) { return c.status == serving, c.status == loading }
