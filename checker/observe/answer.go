package observe

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

const (
	errUnknownTopic     int16 = 3
	errMetadataTooLarge       = classic.CodeOffsetMetadataTooLarge
)

// answer is what a reply of the model looks like on the wire. n is the branch after the event; ids are those of the slots during it, since
// a slot may be free before and after; p is the parked request that is answered, where it is not the caller.
func (w *World) answer(n *Branch, ids *slotIDs, c *call, r *classic.Reply, p parked) Answer {
	a := Answer{Parked: r.To.Kind != classic.Caller}
	if !a.Parked {
		p = parked{ticket: c.request.Ticket, version: c.request.Version, id: c.id}
	}
	a.Ticket = p.ticket
	switch {
	case r.To.Kind == classic.ParkedJoin || !a.Parked && c.event.Kind == classic.JoinGroup:
		a.Message = w.joinAnswer(n, ids, r, p)
	case r.To.Kind == classic.ParkedSync || !a.Parked && c.event.Kind == classic.SyncGroup:
		a.Message = w.syncAnswer(n, r, p)
	default:
		a.Message = w.otherAnswer(n, c, r)
	}
	a.Message.SetVersion(p.version)
	return a
}

type slotIDs [classic.MaxSlots]string

func (w *World) joinAnswer(n *Branch, ids *slotIDs, r *classic.Reply, p parked) kmsg.Response {
	t := w.symbols.Load()
	m := kmsg.NewPtrJoinGroupResponse()
	m.ErrorCode, m.Generation = r.Error, -1
	switch r.Echo {
	case classic.EchoRequest:
		m.MemberID = p.id
	case classic.EchoSlot:
		m.MemberID = ids[r.Member]
	}
	if p.version < 7 {
		m.Protocol = kmsg.StringPtr("") // join.reply.error
	}
	if r.Error != 0 {
		return m
	}
	m.Generation = n.generation
	m.Protocol = kmsg.StringPtr(t.names[n.state.Protocol])
	if p.version >= 7 {
		m.ProtocolType = kmsg.StringPtr(t.types[n.state.Type])
	}
	if r.Leader >= 0 {
		m.LeaderID = n.holders[r.Leader].id
	}
	if !r.Members {
		return m
	}
	for i := range n.holders { // join.reply.leader
		if n.state.Slots[i].Kind != classic.Member {
			continue
		}
		one := kmsg.NewJoinGroupResponseMember()
		one.MemberID = n.holders[i].id
		one.ProtocolMetadata = t.metadata(n.state.Slots[i].List, n.state.Protocol)
		m.Members = append(m.Members, one)
	}
	return m
}

func (w *World) syncAnswer(n *Branch, r *classic.Reply, p parked) kmsg.Response {
	m := kmsg.NewPtrSyncGroupResponse()
	m.ErrorCode = r.Error
	if r.Error != 0 {
		return m
	}
	if p.version >= 5 {
		t := w.symbols.Load()
		m.ProtocolType, m.Protocol = kmsg.StringPtr(t.types[n.state.Type]), kmsg.StringPtr(t.names[n.state.Protocol])
	}
	if r.Member >= 0 {
		m.MemberAssignment = []byte(n.assignment(n.state.Slots[r.Member].Given))
	}
	return m
}

func (w *World) otherAnswer(n *Branch, c *call, r *classic.Reply) kmsg.Response {
	switch c.event.Kind {
	case classic.Heartbeat:
		m := kmsg.NewPtrHeartbeatResponse()
		m.ErrorCode = r.Error
		return m
	case classic.LeaveGroup:
		return leaveAnswer(c, r)
	case classic.OffsetCommit:
		return w.commitAnswer(c, r.Error, false)
	case classic.OffsetFetch:
		return n.fetchAnswer(c)
	case classic.DescribeGroups:
		return w.describeAnswer(n, c)
	case classic.ListGroups:
		return w.listAnswer(n, c)
	default:
		m := kmsg.NewPtrDeleteGroupsResponse()
		one := kmsg.NewDeleteGroupsResponseGroup()
		one.Group, one.ErrorCode = n.group, r.Error
		m.Groups = append(m.Groups, one)
		return m
	}
}

// leaveAnswer: up to version 2 the one entry's error is at the top (leave.single); then each entry is answered on its own (leave.batch).
func leaveAnswer(c *call, r *classic.Reply) kmsg.Response {
	m := kmsg.NewPtrLeaveGroupResponse()
	m.ErrorCode = r.Error
	if c.event.OldLeave {
		if r.Error == 0 && len(r.Entries) == 1 {
			m.ErrorCode = r.Entries[0]
		}
		return m
	}
	for i, code := range r.Entries {
		asked := c.request.Message.(*kmsg.LeaveGroupRequest).Members[i]
		one := kmsg.NewLeaveGroupResponseMember()
		one.MemberID, one.InstanceID, one.ErrorCode = asked.MemberID, asked.InstanceID, code
		m.Members = append(m.Members, one)
	}
	return m
}

// commitAnswer gives each partition that the group was asked about the group's error, if any, and its own otherwise. Where the write
// failed, whole says whether that is the error of the whole request or only of the partitions that were to be written.
func (w *World) commitAnswer(c *call, code int16, whole bool) kmsg.Response {
	m := kmsg.NewPtrOffsetCommitResponse()
	m.SetVersion(c.request.Version)
	whole = whole || code != classic.CodeWriteFailed
	for _, t := range c.request.Message.(*kmsg.OffsetCommitRequest).Topics {
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			one := kmsg.NewOffsetCommitResponseTopicPartition()
			one.Partition = p.Partition
			one.ErrorCode = c.errors[partition{t.Topic, p.Partition}]
			if one.ErrorCode == 0 || one.ErrorCode == errMetadataTooLarge && whole && code != 0 {
				one.ErrorCode = code
			}
			topic.Partitions = append(topic.Partitions, one)
		}
		m.Topics = append(m.Topics, topic)
	}
	return m
}

// mayBlameWrite says whether an outcome is that of a failed write of some partitions, while others had too much metadata. Coordinators
// differ on which error those get, and nothing depends on it.
func (c *call) mayBlameWrite(o Outcome) bool {
	if c.event.Kind != classic.OffsetCommit || !c.request.WriteFails || o.Overflow || len(o.Answers) == 0 {
		return false
	}
	tooLarge, written := false, false
	for _, code := range c.errors {
		tooLarge = tooLarge || code == errMetadataTooLarge
	}
	for _, t := range o.Answers[0].Message.(*kmsg.OffsetCommitResponse).Topics {
		for _, p := range t.Partitions {
			written = written || p.ErrorCode == classic.CodeWriteFailed
		}
	}
	return tooLarge && written
}

// describeAnswer: describe.state, describe.members, describe.unknown, describe.unknown.code, describe.rebalancing.assignment.
func (w *World) describeAnswer(n *Branch, c *call) kmsg.Response {
	t := w.symbols.Load()
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group, g.State, g.ProtocolType = n.group, stateName(n.state.Phase), t.types[n.state.Type]
	switch n.state.Phase {
	case classic.Absent:
		if c.request.Version >= 6 {
			g.ErrorCode = classic.CodeGroupIDNotFound
		}
	case classic.Stable:
		g.Protocol = t.names[n.state.Protocol]
	}
	for i := range n.holders {
		slot := &n.state.Slots[i]
		if slot.Kind != classic.Member {
			continue
		}
		one := kmsg.NewDescribeGroupsResponseGroupMember()
		one.MemberID, one.ClientID = n.holders[i].id, n.holders[i].client
		stable := n.state.Phase == classic.Stable
		if stable {
			one.ProtocolMetadata = t.metadata(slot.List, n.state.Protocol)
		}
		if stable || w.config.Profile.DescribesFormerAssignment {
			one.MemberAssignment = []byte(n.assignment(slot.Given))
		}
		g.Members = append(g.Members, one)
	}
	m := kmsg.NewPtrDescribeGroupsResponse()
	m.Groups = append(m.Groups, g)
	return m
}

func stateName(p classic.Phase) string {
	if p == classic.Absent {
		return "Dead"
	}
	return p.String()
}

// listAnswer has the group's entry, or none: list.state, list.filters.
func (w *World) listAnswer(n *Branch, c *call) kmsg.Response {
	m := kmsg.NewPtrListGroupsResponse()
	asked := c.request.Message.(*kmsg.ListGroupsRequest)
	listed := n.state.Phase != classic.Absent
	if c.request.Version >= 4 {
		listed = listed && passes(asked.StatesFilter, stateName(n.state.Phase))
	}
	if c.request.Version >= 5 {
		listed = listed && passes(asked.TypesFilter, "classic")
	}
	if !listed {
		return m
	}
	g := kmsg.NewListGroupsResponseGroup()
	g.Group, g.ProtocolType = n.group, w.symbols.Load().types[n.state.Type]
	if c.request.Version >= 4 {
		g.GroupState = stateName(n.state.Phase)
	}
	if c.request.Version >= 5 {
		g.GroupType = "classic"
	}
	m.Groups = append(m.Groups, g)
	return m
}

func passes(filter []string, name string) bool {
	for _, f := range filter {
		if strings.EqualFold(f, name) {
			return true
		}
	}
	return len(filter) == 0
}
