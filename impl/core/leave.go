package core

import "github.com/twmb/franz-go/pkg/kmsg"

// leaveGroup is §2.5. All entries are taken out first, then the group reacts once (§5.1 DF9).
func (c *Coordinator) leaveGroup(r Request, req *kmsg.LeaveGroupRequest) kmsg.Response {
	if req.Group == "" {
		return leaveError(r.Version, InvalidGroupID) // leave.group-id.empty
	}
	if code := c.gate(); code != None {
		return leaveError(r.Version, code)
	}
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	entries := req.Members
	if r.Version < 3 { // leave.single
		entries = []kmsg.LeaveGroupRequestMember{{MemberID: req.MemberID}}
	}
	resp := kmsg.NewPtrLeaveGroupResponse()
	resp.SetVersion(r.Version)
	members, pending := false, false
	for _, e := range entries {
		code := UnknownMemberID // leave.group.unknown
		if g != nil {
			var member bool
			code, member = c.leave(g, e)
			members = members || member
			pending = pending || code == None && !member
		}
		rm := kmsg.NewLeaveGroupResponseMember() // leave.batch
		rm.MemberID, rm.InstanceID, rm.ErrorCode = e.MemberID, e.InstanceID, code
		resp.Members = append(resp.Members, rm)
	}
	if r.Version < 3 {
		resp.ErrorCode, resp.Members = resp.Members[0].ErrorCode, nil
	}
	switch {
	case members:
		c.afterRemoval(g, false) // leave.member, leave.last.empties
	case pending:
		c.completeIfAllJoined(g, false) // leave.pending; no rebalance starts: leave.pending.rebalances, the contract
	}
	return c.afterWrites(r, resp) // among them the record of a group that is Empty now (§5.1 DF10)
}

// leave takes one entry out (§2.5) and says whether it was a member (false for a pending id).
func (c *Coordinator) leave(g *group, e kmsg.LeaveGroupRequestMember) (code int16, member bool) {
	if e.MemberID == "" { // whoever owns the instance id: for tools
		if e.InstanceID == nil || g.static[*e.InstanceID] == nil {
			return UnknownMemberID, false
		}
		c.remove(g, g.static[*e.InstanceID]) // leave.instance
		return None, true
	}
	if _, pending := g.pending[e.MemberID]; pending { // leave.pending
		delete(g.pending, e.MemberID)
		c.cancel(g, PendingTimer, e.MemberID)
		c.reason = MemberLeft
		return None, false
	}
	m, code := g.validate(e.MemberID, e.InstanceID)
	if code != None {
		return code, false // leave.member.unknown
	}
	c.reason = MemberLeft
	c.remove(g, m)
	return None, true
}

func leaveError(version, code int16) kmsg.Response {
	resp := kmsg.NewPtrLeaveGroupResponse()
	resp.SetVersion(version)
	resp.ErrorCode = code
	return resp
}
