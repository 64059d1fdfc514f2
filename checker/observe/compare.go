package observe

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// One comparison an API; each looks only at the fields that the version has.

func (d *diff) join(p, a *kmsg.JoinGroupResponse) {
	d.code("error", p.ErrorCode, a.ErrorCode)
	d.number("generation", int64(p.Generation), int64(a.Generation))
	if d.version >= 7 {
		d.nullable("protocol type", p.ProtocolType, a.ProtocolType)
		d.nullable("protocol", p.Protocol, a.Protocol)
	} else {
		d.text("protocol", orEmpty(p.Protocol), orEmpty(a.Protocol))
	}
	d.text("member id", d.name(p.MemberID), a.MemberID)
	d.text("leader", d.name(p.LeaderID), a.LeaderID)
	if d.version >= 9 && p.SkipAssignment != a.SkipAssignment {
		d.say("skip assignment: expected %v, got %v", p.SkipAssignment, a.SkipAssignment)
	}
	pairs(d, "members", p.Members, a.Members, func(m kmsg.JoinGroupResponseMember) string { return m.MemberID },
		func(what string, p, a kmsg.JoinGroupResponseMember) {
			if d.version >= 5 {
				d.nullable(what+": instance id", p.InstanceID, a.InstanceID)
			}
			d.bytes(what+": metadata", p.ProtocolMetadata, a.ProtocolMetadata)
		})
}

func (d *diff) sync(p, a *kmsg.SyncGroupResponse) {
	d.code("error", p.ErrorCode, a.ErrorCode)
	if d.version >= 5 {
		d.nullable("protocol type", p.ProtocolType, a.ProtocolType)
		d.nullable("protocol", p.Protocol, a.Protocol)
	}
	d.bytes("assignment", p.MemberAssignment, a.MemberAssignment)
}

// leave: entries come in the order of the request.
func (d *diff) leave(p, a *kmsg.LeaveGroupResponse) {
	d.code("error", p.ErrorCode, a.ErrorCode)
	if d.version < 3 {
		return
	}
	if len(p.Members) != len(a.Members) {
		d.say("entries: expected %d, got %d", len(p.Members), len(a.Members))
		return
	}
	for i := range p.Members {
		what := fmt.Sprintf("entry %d", i+1)
		d.text(what+": member id", d.name(p.Members[i].MemberID), a.Members[i].MemberID)
		d.nullable(what+": instance id", p.Members[i].InstanceID, a.Members[i].InstanceID)
		d.code(what+": error", p.Members[i].ErrorCode, a.Members[i].ErrorCode)
	}
}

func (d *diff) describe(p, a *kmsg.DescribeGroupsResponse) {
	pairs(d, "groups", p.Groups, a.Groups, func(g kmsg.DescribeGroupsResponseGroup) string { return g.Group },
		func(what string, p, a kmsg.DescribeGroupsResponseGroup) {
			d.code(what+": error", p.ErrorCode, a.ErrorCode)
			d.text(what+": state", p.State, a.State)
			d.text(what+": protocol type", p.ProtocolType, a.ProtocolType)
			d.text(what+": protocol", p.Protocol, a.Protocol)
			pairs(d, "members", p.Members, a.Members, func(m kmsg.DescribeGroupsResponseGroupMember) string { return m.MemberID },
				func(what string, p, a kmsg.DescribeGroupsResponseGroupMember) {
					if d.version >= 4 {
						d.nullable(what+": instance id", p.InstanceID, a.InstanceID)
					}
					d.text(what+": client id", p.ClientID, a.ClientID)
					d.bytes(what+": metadata", p.ProtocolMetadata, a.ProtocolMetadata)
					d.bytes(what+": assignment", p.MemberAssignment, a.MemberAssignment)
				})
		})
}

func (d *diff) list(p, a *kmsg.ListGroupsResponse) {
	d.code("error", p.ErrorCode, a.ErrorCode)
	pairs(d, "groups", p.Groups, a.Groups, func(g kmsg.ListGroupsResponseGroup) string { return g.Group },
		func(what string, p, a kmsg.ListGroupsResponseGroup) {
			d.text(what+": protocol type", p.ProtocolType, a.ProtocolType)
			if d.version >= 4 {
				d.text(what+": state", p.GroupState, a.GroupState)
			}
			if d.version >= 5 {
				d.text(what+": type", p.GroupType, a.GroupType)
			}
		})
}

func (d *diff) delete(p, a *kmsg.DeleteGroupsResponse) {
	pairs(d, "groups", p.Groups, a.Groups, func(g kmsg.DeleteGroupsResponseGroup) string { return g.Group },
		func(what string, p, a kmsg.DeleteGroupsResponseGroup) {
			d.code(what+": error", p.ErrorCode, a.ErrorCode)
		})
}

// find: find-coordinator.group wants a node, whichever it is; find-coordinator.batch an answer to each key.
func (d *diff) find(p, a *kmsg.FindCoordinatorResponse) {
	node := func(what string, code int16, id int32, host string) {
		if code == 0 && (id < 0 || host == "") {
			d.say("%s: expected a node, got node %d on host %q", what, id, host)
		}
	}
	if d.version < 4 {
		d.code("error", p.ErrorCode, a.ErrorCode)
		node("coordinator", p.ErrorCode, a.NodeID, a.Host)
		return
	}
	pairs(d, "keys", p.Coordinators, a.Coordinators, func(c kmsg.FindCoordinatorResponseCoordinator) string { return c.Key },
		func(what string, p, a kmsg.FindCoordinatorResponseCoordinator) {
			d.code(what+": error", p.ErrorCode, a.ErrorCode)
			node(what, p.ErrorCode, a.NodeID, a.Host)
		})
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
