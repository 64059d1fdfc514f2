package joint

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// answers says whether an answer is the one that the specification predicts.
func (m *machine) answers(x *explanation, n *candidate, t *classic.Transition, r *classic.Reply, req request, got kmsg.Response) bool {
	ok := false
	switch a := got.(type) {
	case *kmsg.JoinGroupResponse:
		ok = m.sameJoin(n, t, r, req, a)
	case *kmsg.SyncGroupResponse:
		ok = m.sameSync(n, r, req, a)
	case *kmsg.HeartbeatResponse:
		ok = r.Error == a.ErrorCode
	case *kmsg.LeaveGroupResponse:
		ok = m.sameLeave(r, a)
	case *kmsg.OffsetCommitResponse:
		ok = len(a.Topics) == 1 && len(a.Topics[0].Partitions) == 1 && r.Error == a.Topics[0].Partitions[0].ErrorCode
	case *kmsg.DescribeGroupsResponse:
		ok = m.sameDescribe(n, r, a)
	case *kmsg.ListGroupsResponse:
		ok = m.sameList(n, r, a)
	case *kmsg.DeleteGroupsResponse:
		ok = len(a.Groups) == 1 && r.Error == a.Groups[0].ErrorCode
	}
	api := m.apiOf(r.To)
	if kmsg.NameForKey(got.Key()) != api {
		ok = false
	}
	return ok || m.differs(1, "the answer to", api, t, func() (string, string) { return m.show(n, t, r), m.showAnswer(got) })
}

// former is the id that a slot had before the step.
func (m *machine) former(slot int8) string {
	if int(slot) < len(m.from.rows) {
		return m.from.rows[slot].id
	}
	return m.minted
}

func (m *machine) echoed(n *candidate, r *classic.Reply, req request) string {
	switch r.Echo {
	case classic.EchoRequest:
		return req.id
	case classic.EchoSlot:
		return n.names[r.Member].id
	case classic.EchoFormer:
		return m.former(r.Member)
	}
	return ""
}

func (m *machine) sameJoin(n *candidate, t *classic.Transition, r *classic.Reply, req request, a *kmsg.JoinGroupResponse) bool {
	if r.Error != 0 && slices.Contains(t.Rules, classic.StaticPending) { // static.pending: its contract is any refusal
		refused := a.ErrorCode == r.Error || a.ErrorCode == classic.CodeUnknownMemberID || a.ErrorCode == classic.CodeFencedInstanceID
		return refused && a.Generation == -1 && len(a.Members) == 0 && (a.MemberID == req.id || a.MemberID == "")
	}
	if r.Error != a.ErrorCode || a.MemberID != m.echoed(n, r, req) {
		return false
	}
	protocol, old := "", req.version < 7
	if a.Protocol != nil {
		protocol = *a.Protocol
	}
	if r.Error != 0 && !r.Filled {
		return a.Generation == -1 && a.LeaderID == "" && len(a.Members) == 0 && protocol == "" && (a.Protocol != nil) == old
	}
	g := &n.state
	leader := ""
	switch {
	case r.Leader < 0:
	case r.FormerLeader:
		leader = m.former(r.Leader)
	default:
		leader = n.names[r.Leader].id
	}
	if a.Generation != n.generation || protocol != protocolName(g.Protocol) || a.LeaderID != leader || a.SkipAssignment != r.Skip {
		return false
	}
	if !old && (a.ProtocolType == nil || *a.ProtocolType != types[g.Type]) {
		return false
	}
	members := 0
	for i := range g.Slots[:room] {
		if !r.Members || g.Slots[i].Kind != classic.Member {
			continue
		}
		members++
		has := false
		for j := range a.Members {
			o := &a.Members[j]
			if o.MemberID != n.names[i].id {
				continue
			}
			in := ""
			if o.InstanceID != nil {
				in = *o.InstanceID
			}
			has = bytes.Equal(o.ProtocolMetadata, metadata) && (in == n.names[i].instance || req.version < 5)
		}
		if !has {
			return false
		}
	}
	return members == len(a.Members)
}

func (m *machine) sameSync(n *candidate, r *classic.Reply, req request, a *kmsg.SyncGroupResponse) bool {
	if r.Error != a.ErrorCode {
		return false
	}
	if r.Error != 0 {
		return len(a.MemberAssignment) == 0
	}
	if req.version >= 5 && (a.ProtocolType == nil || a.Protocol == nil || *a.ProtocolType != types[n.state.Type] || *a.Protocol != protocolName(n.state.Protocol)) {
		return false
	}
	var given []byte
	if r.Member >= 0 {
		given = assignment(n.state.Slots[r.Member].Given)
	}
	return bytes.Equal(a.MemberAssignment, given)
}

func (m *machine) sameLeave(r *classic.Reply, a *kmsg.LeaveGroupResponse) bool {
	code := r.Error
	if m.e.OldLeave {
		if code == 0 && len(r.Entries) == 1 {
			code = r.Entries[0]
		}
		return code == a.ErrorCode
	}
	if code != a.ErrorCode || len(a.Members) != len(r.Entries) {
		return false
	}
	for i, e := range r.Entries {
		if e != a.Members[i].ErrorCode {
			return false
		}
	}
	return true
}

func stateName(p classic.Phase) string {
	if p == classic.Absent {
		return "Dead"
	}
	return p.String()
}

func (m *machine) sameDescribe(n *candidate, r *classic.Reply, a *kmsg.DescribeGroupsResponse) bool {
	if len(a.Groups) != 1 || r.Error != a.Groups[0].ErrorCode {
		return false
	}
	if r.Error != 0 {
		return true
	}
	d, g := &a.Groups[0], &n.state
	stable, members := g.Phase == classic.Stable, 0
	if d.State != stateName(g.Phase) || d.ProtocolType != types[g.Type] || stable && d.Protocol != protocolName(g.Protocol) {
		return false
	}
	for i := range g.Slots[:room] {
		if g.Slots[i].Kind != classic.Member {
			continue
		}
		members++
		has := false
		for j := range d.Members {
			if o := &d.Members[j]; o.MemberID == n.names[i].id {
				// describe.rebalancing.assignment: what a group that rebalances shows is what it still has
				has = bytes.Equal(o.MemberAssignment, assignment(g.Slots[i].Given)) && (!stable || bytes.Equal(o.ProtocolMetadata, metadata))
			}
		}
		if !has {
			return false
		}
	}
	return members == len(d.Members)
}

func (m *machine) sameList(n *candidate, r *classic.Reply, a *kmsg.ListGroupsResponse) bool {
	if r.Error != a.ErrorCode {
		return false
	}
	if n.state.Phase == classic.Absent || r.Error != 0 {
		return len(a.Groups) == 0
	}
	return len(a.Groups) == 1 && a.Groups[0].GroupState == stateName(n.state.Phase) && a.Groups[0].ProtocolType == types[n.state.Type]
}

// errorOf is the error of an answer that has one at the top.
func errorOf(a kmsg.Response) (int16, bool) {
	switch a := a.(type) {
	case *kmsg.HeartbeatResponse:
		return a.ErrorCode, true
	case *kmsg.LeaveGroupResponse:
		return a.ErrorCode, true
	}
	return 0, false
}

// show is a prediction in words.
func (m *machine) show(n *candidate, t *classic.Transition, r *classic.Reply) string {
	s := checker.ErrorName(r.Error)
	if r.Echo == classic.EchoSlot {
		s += " member=" + n.names[r.Member].id
	}
	if r.Leader >= 0 {
		s += fmt.Sprintf(" generation=%d leader=%s members=%v skip=%v", n.generation, n.names[r.Leader].id, r.Members, r.Skip)
	}
	if len(r.Entries) > 0 {
		s += fmt.Sprint(" entries=", r.Entries)
	}
	return s + " (the group then: " + m.group(n) + ")"
}
