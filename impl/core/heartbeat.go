package core

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// heartbeat is §2.4.
func (c *Coordinator) heartbeat(r Request, req *kmsg.HeartbeatRequest) kmsg.Response {
	if req.Group == "" {
		return heartbeatAnswer(r.Version, InvalidGroupID) // heartbeat.group-id.empty
	}
	switch code := c.gate(); code {
	case None:
	case CoordinatorLoadInProgress:
		return heartbeatAnswer(r.Version, None) // loading.heartbeat: the member is as good as alive until the group is known
	default:
		return heartbeatAnswer(r.Version, code)
	}
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	if g == nil {
		return heartbeatAnswer(r.Version, UnknownMemberID) // heartbeat.group.unknown
	}
	m, code := g.validate(req.MemberID, from(3, r.Version, req.InstanceID))
	if code != None {
		return heartbeatAnswer(r.Version, code) // heartbeat.member.unknown
	}
	if req.Generation != g.generation {
		return heartbeatAnswer(r.Version, IllegalGeneration) // heartbeat.generation.illegal
	}
	c.renew(g, m)
	if g.state == PreparingRebalance {
		return c.afterWrites(r, heartbeatAnswer(r.Version, RebalanceInProgress)) // heartbeat.preparing
	}
	return c.afterWrites(r, heartbeatAnswer(r.Version, None)) // heartbeat.completing, heartbeat.stable
}

var heartbeatAnswers = sync.Pool{New: func() any { return kmsg.NewPtrHeartbeatResponse() }}

func heartbeatAnswer(version, code int16) kmsg.Response {
	resp := heartbeatAnswers.Get().(*kmsg.HeartbeatResponse)
	resp.SetVersion(version)
	resp.ErrorCode = code
	return resp
}

// Reuse takes an answer back from a caller that has no use for it any more, so that another one need not be made. That is as the caller likes.
func Reuse(answer kmsg.Response) {
	if resp, ok := answer.(*kmsg.HeartbeatResponse); ok {
		*resp = kmsg.NewHeartbeatResponse()
		heartbeatAnswers.Put(resp)
	}
}
