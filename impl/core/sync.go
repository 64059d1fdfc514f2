package core

import (
	"bytes"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// syncGroup is §2.3.
func (c *Coordinator) syncGroup(r Request, req *kmsg.SyncGroupRequest) kmsg.Response {
	refuse := func(code int16) kmsg.Response { return syncError(r.Version, code) }
	switch {
	case r.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil):
		return refuse(InconsistentGroupProtocol) // sync.protocol.missing
	case req.Group == "":
		return refuse(InvalidGroupID) // sync.group-id.empty
	case c.gate() != None:
		return refuse(c.gate()) // loading.sync
	}
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	if g == nil || g.state == Empty {
		return refuse(UnknownMemberID) // sync.group.unknown
	}
	m, code := g.validate(req.MemberID, from(3, r.Version, req.InstanceID))
	switch {
	case code != None:
		return refuse(code) // sync.member.unknown
	case req.Generation != g.generation:
		return refuse(IllegalGeneration) // sync.generation.illegal
	case r.Version >= 5 && *req.ProtocolType != g.protocolType:
		return refuse(InconsistentGroupProtocol) // sync.protocol.inconsistent
	case r.Version >= 5 && g.protocol != nil && *req.Protocol != *g.protocol:
		return refuse(InconsistentGroupProtocol) // a group without protocol agrees with any (§5.1 DF15)
	case g.state == PreparingRebalance:
		return refuse(RebalanceInProgress) // sync.preparing
	}
	g.setSynced(m)
	if g.unsynced == 0 {
		c.cancel(g, SyncTimer, "")
	}
	if g.state == Stable {
		return synced(g, m, r.Version) // sync.stable.repeats; sync.stable.keeps-timer
	}
	c.parkSync(m, r) // sync.follower.parks
	if m.id == g.leader && g.writing == 0 {
		g.propose(req)
		g.writing = c.append(g, []Record{c.groupRecord(g)}, &assigned{g})
	}
	return nil
}

// parkSync lets the member wait for the assignment. An earlier SyncGroup of it is answered now: Kafka forgets it
// (sync.parked.superseded).
func (c *Coordinator) parkSync(m *member, r Request) {
	earlier := m.sync
	m.sync = &parked{r.Ticket, r.Version}
	if earlier != nil {
		c.answer(earlier.ticket, syncError(earlier.version, RebalanceInProgress))
	}
}

// propose keeps the leader's assignment, for members only, the last entry of each (sync.leader.strangers).
func (g *group) propose(req *kmsg.SyncGroupRequest) {
	g.proposed = make(map[string][]byte, len(g.members))
	for _, a := range req.GroupAssignment {
		if _, ok := g.members[a.MemberID]; ok {
			g.proposed[a.MemberID] = bytes.Clone(a.MemberAssignment)
		}
	}
}

func synced(g *group, m *member, version int16) kmsg.Response {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.SetVersion(version)
	if version >= 5 {
		resp.ProtocolType = kmsg.StringPtr(g.protocolType)
		resp.Protocol = kmsg.StringPtr(*g.protocol)
	}
	resp.MemberAssignment = orEmpty(bytes.Clone(m.assignment))
	return resp
}

func syncError(version, code int16) kmsg.Response {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.SetVersion(version)
	resp.ErrorCode = code
	resp.MemberAssignment = []byte{}
	return resp
}
