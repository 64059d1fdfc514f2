package linearize

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// mints are the calls by which member ids were handed out. A call that speaks of an id is not shown without the one from which the id comes: else it
// would be wrong for another reason, that nobody knows the id.
func mints(h *history.History) map[string]int64 {
	by := map[string]int64{}
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Key != int16(kmsg.JoinGroup) || c.Outcome != history.Answered {
			continue
		}
		req, err := c.DecodeRequest()
		if err != nil || req.(*kmsg.JoinGroupRequest).MemberID != "" {
			continue
		}
		if resp, err := c.DecodeResponse(); err == nil {
			by[resp.(*kmsg.JoinGroupResponse).MemberID] = c.ID
		}
	}
	return by
}

// needs are the calls by which the ids were handed out that a call speaks of.
func needs(by map[string]int64, c *history.Call) (ids []int64) {
	req, err := c.DecodeRequest()
	if err != nil {
		return nil
	}
	add := func(member string) {
		if id, ok := by[member]; ok && id != c.ID {
			ids = append(ids, id)
		}
	}
	switch r := req.(type) {
	case *kmsg.JoinGroupRequest:
		add(r.MemberID)
	case *kmsg.SyncGroupRequest:
		add(r.MemberID)
		for _, a := range r.GroupAssignment {
			add(a.MemberID)
		}
	case *kmsg.HeartbeatRequest:
		add(r.MemberID)
	case *kmsg.OffsetCommitRequest:
		add(r.MemberID)
	case *kmsg.LeaveGroupRequest:
		add(r.MemberID)
		for _, m := range r.Members {
			add(m.MemberID)
		}
	}
	return ids
}
