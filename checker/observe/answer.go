package observe

import (
	"math"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

const (
	errUnknownTopic     int16 = 3
	errUnknownTopicID   int16 = 100
	errMetadataTooLarge       = classic.CodeOffsetMetadataTooLarge
)

// scene is what an answer may have to look back on: the branch before the step, and the slots during it, since a slot may be free before
// and after.
type scene struct {
	former *Branch
	during [classic.MaxSlots]holder
}

// answer is what a reply of the model looks like on the wire. n is the branch after the event; p is the parked request that is answered,
// where it is not the caller.
func (w *World) answer(n *Branch, now *scene, c *call, t *classic.Transition, r *classic.Reply, p parked) Answer {
	a := Answer{Parked: r.To.Kind != classic.Caller}
	if !a.Parked {
		p = parked{ticket: c.request.Ticket, version: c.request.Version, id: c.id}
	}
	a.Ticket = p.ticket
	switch {
	case r.To.Kind == classic.ParkedJoin || !a.Parked && c.event.Kind == classic.JoinGroup:
		a.Message = w.joinAnswer(n, now, t, r, p)
	case !a.Parked && c.strangers && w.breaks(classic.SyncAssignsMembersOnly):
		a.Message = w.syncAnswer(n, &classic.Reply{Error: classic.CodeUnknownMemberID}, p)
	case r.To.Kind == classic.ParkedSync || !a.Parked && c.event.Kind == classic.SyncGroup:
		a.Message = w.syncAnswer(n, r, p)
	default:
		a.Message = w.otherAnswer(n, c, r)
	}
	a.Message.SetVersion(p.version)
	return a
}

func (w *World) joinAnswer(n *Branch, now *scene, t *classic.Transition, r *classic.Reply, p parked) kmsg.Response {
	names := w.symbols.Load()
	m := kmsg.NewPtrJoinGroupResponse()
	m.ErrorCode, m.Generation = r.Error, -1
	switch r.Echo {
	case classic.EchoRequest:
		m.MemberID = p.id
	case classic.EchoSlot:
		m.MemberID = now.during[r.Member].id
	case classic.EchoFormer:
		m.MemberID = now.former.holders[r.Member].id
	}
	if p.version < 7 {
		m.Protocol = kmsg.StringPtr("") // join.reply.error
	}
	if r.Error != 0 && !r.Filled {
		if w.breaks(classic.JoinReplyError) {
			m.Generation = 0
		}
		return m
	}
	state, generation := &n.state, n.generation
	if r.Midway && t.Midway != nil { // leave.one-by-one
		state, generation = t.Midway, now.former.generation+1
	}
	m.Generation = generation
	m.Protocol = kmsg.StringPtr(names.names[state.Protocol])
	if p.version >= 7 {
		m.ProtocolType = kmsg.StringPtr(names.types[state.Type])
	}
	switch {
	case r.Leader < 0:
	case r.FormerLeader:
		m.LeaderID = now.former.holders[r.Leader].id
	default:
		m.LeaderID = now.during[r.Leader].id
	}
	m.SkipAssignment = r.Skip
	if !r.Members {
		return m
	}
	for i := range now.during { // join.reply.leader
		if state.Slots[i].Kind != classic.Member {
			continue
		}
		one := kmsg.NewJoinGroupResponseMember()
		one.MemberID = now.during[i].id
		one.ProtocolMetadata = names.metadata(state.Slots[i].List, state.Protocol)
		if state.Slots[i].Static && p.version >= 5 && !w.breaks(classic.StaticListed) { // static.listed
			one.InstanceID = kmsg.StringPtr(now.during[i].instance)
		}
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
	case classic.OffsetCommit, classic.TxnOffsetCommit:
		return w.commitAnswer(c, r.Error, n.state.Serving != classic.Active)
	case classic.OffsetFetch:
		return w.fetchAnswer(n, c, r.Error)
	case classic.OffsetDelete:
		return w.offsetDeleteAnswer(c, r)
	case classic.DescribeGroups:
		return w.describeAnswer(n, c, r.Error)
	case classic.ListGroups:
		return w.listAnswer(n, c, r.Error)
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

// describeAnswer: describe.state, describe.members, describe.unknown, describe.unknown.code, describe.rebalancing.assignment.
func (w *World) describeAnswer(n *Branch, c *call, code int16) kmsg.Response {
	t := w.symbols.Load()
	g := kmsg.NewDescribeGroupsResponseGroup()
	if code != 0 {
		m := kmsg.NewPtrDescribeGroupsResponse()
		g.Group, g.ErrorCode = n.group, code
		m.Groups = append(m.Groups, g)
		return m
	}
	g.Group, g.State, g.ProtocolType = n.group, w.shown(n, classic.DescribeState), t.types[n.state.Type]
	if asked := c.request.Message.(*kmsg.DescribeGroupsRequest); c.request.Version >= 3 && asked.IncludeAuthorizedOperations {
		g.AuthorizedOperations = w.operations()
	} else if w.config.Profile.DescribesNoOperations {
		g.AuthorizedOperations = 0
	}
	switch n.state.Phase {
	case classic.Absent:
		g.State = w.shown(n, classic.DescribeUnknown)
		if c.request.Version >= 6 && !w.breaks(classic.DescribeUnknownCode) {
			g.AuthorizedOperations = math.MinInt32
			g.ErrorCode = classic.CodeGroupIDNotFound
		}
	case classic.Stable:
		g.Protocol = t.names[n.state.Protocol]
	}
	for i := range n.used() {
		slot := &n.state.Slots[i]
		if slot.Kind != classic.Member {
			continue
		}
		one := kmsg.NewDescribeGroupsResponseGroupMember()
		one.MemberID, one.ClientID = n.holders[i].id, n.holders[i].client
		if slot.Static && c.request.Version >= 4 { // static.listed
			one.InstanceID = kmsg.StringPtr(n.holders[i].instance)
		}
		stable := n.state.Phase == classic.Stable
		if stable && !w.breaks(classic.DescribeMembers) {
			one.ProtocolMetadata = t.metadata(slot.List, n.state.Protocol)
		}
		if stable || w.config.Profile.DescribesFormerAssignment != w.breaks(classic.DescribeRebalancingAssignment) {
			one.MemberAssignment = []byte(n.assignment(slot.Given))
		}
		g.Members = append(g.Members, one)
	}
	m := kmsg.NewPtrDescribeGroupsResponse()
	m.Groups = append(m.Groups, g)
	return m
}

// shown is the name of the group's state, by the rule that has it shown. Where that is broken all groups look the same.
func (w *World) shown(n *Branch, rule classic.RuleID) string {
	if w.breaks(rule) {
		return stateName(classic.PreparingRebalance)
	}
	return stateName(n.state.Phase)
}

func stateName(p classic.Phase) string {
	if p == classic.Absent {
		return "Dead"
	}
	return p.String()
}

// listAnswer has the group's entry, or none: list.state, list.filters.
func (w *World) listAnswer(n *Branch, c *call, code int16) kmsg.Response {
	m := kmsg.NewPtrListGroupsResponse()
	m.ErrorCode = code
	asked := c.request.Message.(*kmsg.ListGroupsRequest)
	listed := n.state.Phase != classic.Absent
	if c.request.Version >= 4 {
		states := asked.StatesFilter
		if w.breaks(classic.ListFilters) {
			states = nil
		}
		if w.java() { // list.filters: blanks around a state's name do not matter there
			states = trimmed(states)
		}
		if name := stateName(n.state.Phase); w.config.Profile.ListStatesExact {
			listed = listed && (len(states) == 0 || slices.Contains(states, name))
		} else {
			listed = listed && passes(states, name)
		}
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
		g.GroupState = w.shown(n, classic.ListState)
	}
	if c.request.Version >= 5 {
		g.GroupType = "classic"
	}
	m.Groups = append(m.Groups, g)
	return m
}

// java says whether the coordinator is the Java one, where answers differ by that alone and no rule is concerned.
func (w *World) java() bool { return w.config.Profile.CreationRecord }

func trimmed(filter []string) []string {
	all := make([]string, len(filter))
	for i, f := range filter {
		all[i] = strings.TrimSpace(f)
	}
	return all
}

// What anybody may do with a group where nobody is kept from anything: a bit for each operation.
const (
	groupOperations  = 1<<3 | 1<<6 | 1<<8
	configOperations = 1<<10 | 1<<11
)

func (w *World) operations() int32 {
	if w.config.Profile.ConfigOperations {
		return groupOperations | configOperations
	}
	return groupOperations
}

func passes(filter []string, name string) bool {
	for _, f := range filter {
		if strings.EqualFold(f, name) {
			return true
		}
	}
	return len(filter) == 0
}
