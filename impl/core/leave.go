package core

import "github.com/twmb/franz-go/pkg/kmsg"

// leaveGroup is §2.5. All entries are taken out first, then the group reacts once (§5.1 DF9).
func (c *Coordinator) leaveGroup(r Request, req *kmsg.LeaveGroupRequest) kmsg.Response {
	if req.Group == "" {
		return leaveError(r.Version, InvalidGroupID) // leave.group-id.empty
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
	before := c.lastID
	switch {
	case members:
		c.afterRemoval(g, false) // leave.member, leave.last.empties
	case pending:
		c.completeIfAllJoined(g, false) // leave.pending; no rebalance starts: leave.pending.rebalances, the contract
	}
	if c.lastID != before {
		c.answerAfter(c.lastID, r, resp) // the record of the Empty group (§5.1 DF10)
		return nil
	}
	return resp
}

// leave takes one entry out and says whether it was a member (false for a pending id).
func (c *Coordinator) leave(g *group, e kmsg.LeaveGroupRequestMember) (code int16, member bool) {
	if e.InstanceID != nil {
		return UnsupportedVersion, false
	}
	if _, pending := g.pending[e.MemberID]; pending { // leave.pending
		delete(g.pending, e.MemberID)
		c.cancel(g, PendingTimer, e.MemberID)
		c.reason = MemberLeft
		return None, false
	}
	m := g.members[e.MemberID]
	if m == nil {
		return UnknownMemberID, false // leave.member.unknown
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
