package core

import (
	"bytes"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinGroup is §2.2.
func (c *Coordinator) joinGroup(r Request, req *kmsg.JoinGroupRequest) kmsg.Response {
	refuse := func(code int16) kmsg.Response { return joinError(r.Version, code, req.MemberID) }
	session := time.Duration(req.SessionTimeoutMillis) * time.Millisecond
	instance := from(5, r.Version, req.InstanceID)
	switch {
	case req.Group == "":
		return refuse(InvalidGroupID) // join.group-id.empty
	case session < c.settings.MinSessionTimeout || session > c.settings.MaxSessionTimeout:
		return refuse(InvalidSessionTimeout) // join.session.bounds
	case c.gate() != None:
		return joinError(r.Version, c.gate(), "") // gate.session-first, gate.echo
	}
	g := c.groups[req.Group]
	if g == nil {
		if req.MemberID != "" {
			return refuse(UnknownMemberID) // join.group.unknown
		}
		g = c.create(req.Group, r.Ticket) // join.group.created
	}
	if c.postpone(g, r) {
		return nil
	}
	if !c.hasRoom(g, req.MemberID) {
		return c.refuseForSize(g, r, req.MemberID)
	}
	protocols := protocolsOf(req)
	if !g.supports(req.ProtocolType, protocols) {
		return refuse(InconsistentGroupProtocol) // join.protocol.inconsistent, join.protocol.before-member
	}
	if req.MemberID == "" {
		return c.joinNew(g, r, req, instance, session, protocols)
	}
	if _, pending := g.pending[req.MemberID]; pending && instance == nil {
		c.cancel(g, PendingTimer, req.MemberID)
		return c.addMember(g, r, req, &member{id: req.MemberID}, protocols) // join.pending.joins
	}
	m, code := g.validate(req.MemberID, instance) // join.member.unknown; static.pending: an id that is pending is no member
	if code != None {
		return refuse(code)
	}
	return c.rejoin(g, r, req, m, protocols)
}

// joinNew is §2.2.3: a JoinGroup without member id.
func (c *Coordinator) joinNew(
	g *group, r Request, req *kmsg.JoinGroupRequest, instance *string, session time.Duration, protocols []protocol,
) kmsg.Response {
	switch {
	case instance != nil && g.static[*instance] != nil:
		return c.replace(g, r, req, g.static[*instance], protocols) // static.replaced
	case instance == nil && r.Version >= 4:
		return c.handOutID(g, r, session)
	}
	of := r.ClientID
	if instance != nil {
		of = *instance
	}
	id, ok := c.newMemberID(g, of)
	if !ok {
		return nil
	}
	return c.addMember(g, r, req, &member{id: id, instance: instance}, protocols) // join.new.old-version, static.joins
}

// create makes the group of a JoinGroup, and writes it down even if the request is then refused (§1.12, §5.1 DF11).
func (c *Coordinator) create(id string, creator Ticket) *group {
	g := newGroup(id, c.now)
	c.groups[id] = g
	c.reason = Created
	c.observe(g, Dead)
	g.creating = c.append(g, []Record{c.newGroupRecord(g)}, &created{g, creator})
	return g
}

// newMemberID is §1.11: the client's id, or the instance's of a static member, and something unique. An id that is known already would
// merge two members.
func (c *Coordinator) newMemberID(g *group, of string) (string, bool) {
	id := c.settings.NewMemberID(cut(of, maxString-memberIDRoom))
	_, pending := g.pending[id]
	if _, member := g.members[id]; id == "" || member || pending {
		_ = c.inconsistent(g.id, "NewMemberID returned an empty id or one in use: "+id)
		return "", false
	}
	return id, true
}

// handOutID is the first round of a dynamic member (join.new.member-id-required).
func (c *Coordinator) handOutID(g *group, r Request, session time.Duration) kmsg.Response {
	id, ok := c.newMemberID(g, r.ClientID)
	if !ok {
		return nil
	}
	g.pending[id] = struct{}{}
	c.arm(g, PendingTimer, id, session)
	return joinError(r.Version, MemberIDRequired, id)
}

// addMember is ADD (§2.2.3, §1.10), of a member that has its ids.
func (c *Coordinator) addMember(g *group, r Request, req *kmsg.JoinGroupRequest, m *member, protocols []protocol) kmsg.Response {
	id := m.id
	m.clientID, m.clientHost, m.isNew, m.protocols = r.ClientID, r.ClientHost, true, protocols
	m.setTimeouts(r.Version, req)
	if g.state == PreparingRebalance && g.previous == Empty {
		g.joinedDuringDelay = true // §1.5, §5.1 DF5
	}
	g.add(m, req.ProtocolType)
	c.parkJoin(g, m, r)
	c.arm(g, NewMemberTimer, id, newMemberTimeout) // join.new.timeout
	c.reason = MemberJoined
	c.observe(g, g.state)
	if g.state.canRebalance() {
		c.prepare(g) // join.new.rebalances, join.empty.rebalances
	} else {
		c.completeIfAllJoined(g, false)
	}
	return nil
}

// rejoin is the JoinGroup of a known member (§2.2.4). It never renews the session timer (join.repeat.keeps-timer).
func (c *Coordinator) rejoin(g *group, r Request, req *kmsg.JoinGroupRequest, m *member, protocols []protocol) kmsg.Response {
	same := sameProtocols(m.protocols, protocols)
	switch {
	case g.state == CompletingRebalance && same: // join.completing.same
		return joined(g, m, r.Version)
	case g.state == Stable && same && m.id != g.leader: // join.stable.follower-repeats
		return joined(g, m, r.Version)
	}
	g.setProtocols(m, protocols)
	m.setTimeouts(r.Version, req)
	c.parkJoin(g, m, r) // join.preparing.parks
	switch {
	case !same:
		c.reason = ProtocolsChanged
	case m.id == g.leader:
		c.reason = LeaderRejoined
	default:
		c.reason = MemberRejoined
	}
	if g.state.canRebalance() {
		c.prepare(g) // join.stable.leader-repeats, join.stable.changed, join.completing.changed
	} else {
		c.completeIfAllJoined(g, false)
	}
	return nil
}

// parkJoin lets the member wait for the join. An earlier JoinGroup of it is answered now: Kafka forgets it (join.parked.superseded).
func (c *Coordinator) parkJoin(g *group, m *member, r Request) {
	earlier := m.join
	m.join = &parked{r.Ticket, r.Version}
	if earlier == nil {
		g.joining++
		return
	}
	c.answer(earlier.ticket, joinError(earlier.version, RebalanceInProgress, m.id))
}

func (m *member) setTimeouts(version int16, req *kmsg.JoinGroupRequest) {
	m.sessionTimeout = time.Duration(req.SessionTimeoutMillis) * time.Millisecond
	m.rebalanceTimeout = time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond
	if version == 0 {
		m.rebalanceTimeout = m.sessionTimeout // the field came with version 1 (§2.2.5)
	}
}

func protocolsOf(req *kmsg.JoinGroupRequest) []protocol {
	protocols := make([]protocol, 0, len(req.Protocols))
	for _, p := range req.Protocols {
		protocols = append(protocols, protocol{p.Name, bytes.Clone(p.Metadata)})
	}
	return protocols
}

// joined is a member's answer for the current generation (join.reply.leader, join.reply.follower).
func joined(g *group, m *member, version int16) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.SetVersion(version)
	resp.Generation = g.generation
	if version >= 7 {
		resp.ProtocolType = kmsg.StringPtr(g.protocolType)
	}
	resp.Protocol = kmsg.StringPtr(*g.protocol)
	resp.LeaderID = g.leader
	resp.MemberID = m.id
	if m.id != g.leader {
		return resp
	}
	resp.Members = slices.Grow(resp.Members, len(g.order))
	for _, o := range g.order {
		rm := kmsg.NewJoinGroupResponseMember()
		rm.MemberID, rm.InstanceID = o.id, o.instance
		rm.ProtocolMetadata = orEmpty(bytes.Clone(o.metadata(*g.protocol)))
		resp.Members = append(resp.Members, rm)
	}
	return resp
}

// joinError is join.reply.error.
func joinError(version, code int16, memberID string) kmsg.Response {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.SetVersion(version)
	resp.ErrorCode = code
	resp.Generation = -1
	resp.MemberID = memberID
	if version < 7 {
		resp.Protocol = kmsg.StringPtr("")
	}
	return resp
}
