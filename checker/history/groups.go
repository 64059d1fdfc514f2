package history

import "github.com/twmb/franz-go/pkg/kmsg"

// GroupsOf returns the groups that a request speaks of, each once. A request about every group (ListGroups) or about none
// returns all, which the caller must give, or nil.
func GroupsOf(req kmsg.Request, all []string) []string {
	var groups []string
	seen := map[string]bool{} // there may be very many
	add := func(group string) {
		if !seen[group] {
			seen[group] = true
			groups = append(groups, group)
		}
	}
	switch r := req.(type) {
	case *kmsg.JoinGroupRequest:
		add(r.Group)
	case *kmsg.SyncGroupRequest:
		add(r.Group)
	case *kmsg.HeartbeatRequest:
		add(r.Group)
	case *kmsg.LeaveGroupRequest:
		add(r.Group)
	case *kmsg.OffsetCommitRequest:
		add(r.Group)
	case *kmsg.TxnOffsetCommitRequest:
		add(r.Group)
	case *kmsg.OffsetDeleteRequest:
		add(r.Group)
	case *kmsg.OffsetFetchRequest:
		if r.Version < 8 {
			add(r.Group)
			break
		}
		for i := range r.Groups {
			add(r.Groups[i].Group)
		}
	case *kmsg.DescribeGroupsRequest:
		for _, g := range r.Groups {
			add(g)
		}
	case *kmsg.DeleteGroupsRequest:
		for _, g := range r.Groups {
			add(g)
		}
	case *kmsg.ListGroupsRequest:
		return all
	}
	return groups
}
