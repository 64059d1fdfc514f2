package linearize

import (
	"slices"

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
	members, _ := actsFor(c)
	if req, err := c.DecodeRequest(); err == nil {
		if sync, ok := req.(*kmsg.SyncGroupRequest); ok {
			for _, a := range sync.GroupAssignment {
				members = append(members, a.MemberID)
			}
		}
	}
	for _, member := range members {
		if id, ok := by[member]; ok && id != c.ID {
			ids = append(ids, id)
		}
	}
	return ids
}

// racing are the calls that were open at the same time as one, and are about a member id or an instance that it is about, or may overtake what it assigns.
func racing(h *history.History, wrong int64) map[int64]bool {
	at := slices.IndexFunc(h.Calls, func(c history.Call) bool { return c.ID == wrong })
	if at < 0 {
		return nil
	}
	one, all := &h.Calls[at], map[int64]bool{}
	members, instances := actsFor(one)
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Call > one.Return || one.Call > c.Return {
			continue
		}
		theirs, others := actsFor(c)
		overtakes := c.Key == int16(kmsg.JoinGroup) || c.Key == int16(kmsg.LeaveGroup)
		all[c.ID] = meet(members, theirs) || meet(instances, others) || one.Key == int16(kmsg.SyncGroup) && overtakes
	}
	return all
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// actsFor are the member ids and the instances that a request is about.
func actsFor(c *history.Call) (members, instances []string) {
	req, err := c.DecodeRequest()
	if err != nil {
		return nil, nil
	}
	add := func(member string, instance *string) {
		if member != "" {
			members = append(members, member)
		}
		if instance != nil {
			instances = append(instances, *instance)
		}
	}
	switch r := req.(type) {
	case *kmsg.JoinGroupRequest:
		add(r.MemberID, r.InstanceID)
	case *kmsg.SyncGroupRequest:
		add(r.MemberID, r.InstanceID)
	case *kmsg.HeartbeatRequest:
		add(r.MemberID, r.InstanceID)
	case *kmsg.OffsetCommitRequest:
		add(r.MemberID, r.InstanceID)
	case *kmsg.LeaveGroupRequest:
		add(r.MemberID, nil)
		for _, m := range r.Members {
			add(m.MemberID, m.InstanceID)
		}
	}
	return members, instances
}
