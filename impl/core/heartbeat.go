package core

import "github.com/twmb/franz-go/pkg/kmsg"

// heartbeat is §2.4.
func (c *Coordinator) heartbeat(r Request, req *kmsg.HeartbeatRequest) kmsg.Response {
	if req.InstanceID != nil {
		return heartbeatAnswer(r.Version, UnsupportedVersion)
	}
	if req.Group == "" {
		return heartbeatAnswer(r.Version, InvalidGroupID) // heartbeat.group-id.empty
	}
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	if g == nil {
		return heartbeatAnswer(r.Version, UnknownMemberID) // heartbeat.group.unknown
	}
	m := g.members[req.MemberID]
	if m == nil {
		return heartbeatAnswer(r.Version, UnknownMemberID) // heartbeat.member.unknown
	}
	if req.Generation != g.generation {
		return heartbeatAnswer(r.Version, IllegalGeneration) // heartbeat.generation.illegal
	}
	c.renew(g, m)
	if g.state == PreparingRebalance {
		return heartbeatAnswer(r.Version, RebalanceInProgress) // heartbeat.preparing
	}
	return heartbeatAnswer(r.Version, None) // heartbeat.completing, heartbeat.stable
}

func heartbeatAnswer(version, code int16) kmsg.Response {
	resp := kmsg.NewPtrHeartbeatResponse()
	resp.SetVersion(version)
	resp.ErrorCode = code
	return resp
}
