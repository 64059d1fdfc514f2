package observe

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Part is the part of a request that concerns one group.
type Part struct {
	Group   string
	Message kmsg.Request
}

// SplitByGroup splits a request into one for each group that it names, each named once. ListGroups and FindCoordinator name none:
// ListGroups is over every group there is (each gets the request as it is), FindCoordinator over no group's state.
func SplitByGroup(req kmsg.Request) []Part { return AppendParts(nil, req) }

// AppendParts is SplitByGroup for callers that have room.
func AppendParts(parts []Part, req kmsg.Request) []Part {
	switch m := req.(type) {
	case *kmsg.DescribeGroupsRequest:
		return each(parts, m.Groups, func(g string) kmsg.Request {
			one := *m
			one.Groups = []string{g}
			return &one
		})
	case *kmsg.DeleteGroupsRequest:
		return each(parts, m.Groups, func(g string) kmsg.Request {
			one := *m
			one.Groups = []string{g}
			return &one
		})
	case *kmsg.OffsetFetchRequest:
		if len(m.Groups) == 0 {
			return append(parts, Part{m.Group, m})
		}
		for _, g := range m.Groups {
			one := *m
			one.Groups = []kmsg.OffsetFetchRequestGroup{g}
			parts = append(parts, Part{g.Group, &one})
		}
		return parts
	case *kmsg.JoinGroupRequest:
		return append(parts, Part{m.Group, m})
	case *kmsg.SyncGroupRequest:
		return append(parts, Part{m.Group, m})
	case *kmsg.HeartbeatRequest:
		return append(parts, Part{m.Group, m})
	case *kmsg.LeaveGroupRequest:
		return append(parts, Part{m.Group, m})
	case *kmsg.OffsetCommitRequest:
		return append(parts, Part{m.Group, m})
	case *kmsg.TxnOffsetCommitRequest:
		return append(parts, Part{m.Group, m})
	case *kmsg.OffsetDeleteRequest:
		return append(parts, Part{m.Group, m})
	default:
		return parts
	}
}

func each(parts []Part, groups []string, one func(string) kmsg.Request) []Part {
	var seen map[string]bool // there may be very many
	for i, g := range groups {
		if i == 1 {
			seen = map[string]bool{groups[0]: true}
		}
		if i > 0 {
			if seen[g] {
				continue
			}
			seen[g] = true
		}
		parts = append(parts, Part{g, one(g)})
	}
	return parts
}

// JoinByGroup puts the answers to the parts of one request together. The version is that of the request.
func JoinByGroup(req kmsg.Request, version int16, parts []kmsg.Response) kmsg.Response {
	whole := req.ResponseKind()
	whole.SetVersion(version)
	for _, p := range parts {
		switch w := whole.(type) {
		case *kmsg.DescribeGroupsResponse:
			w.Groups = append(w.Groups, p.(*kmsg.DescribeGroupsResponse).Groups...)
		case *kmsg.DeleteGroupsResponse:
			w.Groups = append(w.Groups, p.(*kmsg.DeleteGroupsResponse).Groups...)
		case *kmsg.ListGroupsResponse:
			one := p.(*kmsg.ListGroupsResponse)
			w.ErrorCode = max(w.ErrorCode, one.ErrorCode)
			w.Groups = append(w.Groups, one.Groups...)
		case *kmsg.OffsetFetchResponse:
			if version < 8 {
				return p
			}
			w.Groups = append(w.Groups, p.(*kmsg.OffsetFetchResponse).Groups...)
		default:
			return p
		}
	}
	return whole
}

// Only is what an answer says of one group: the answer itself where it is over one group.
func Only(resp kmsg.Response, group string) kmsg.Response { return ByGroup(resp)(group) }

// ByGroup is Only for all groups of an answer, of which there may be very many.
func ByGroup(resp kmsg.Response) func(group string) kmsg.Response {
	switch m := resp.(type) {
	case *kmsg.DescribeGroupsResponse:
		of := index(m.Groups, func(g *kmsg.DescribeGroupsResponseGroup) string { return g.Group })
		return func(group string) kmsg.Response {
			one := *m
			one.Groups = of[group]
			return &one
		}
	case *kmsg.DeleteGroupsResponse:
		of := index(m.Groups, func(g *kmsg.DeleteGroupsResponseGroup) string { return g.Group })
		return func(group string) kmsg.Response {
			one := *m
			one.Groups = of[group]
			return &one
		}
	case *kmsg.ListGroupsResponse:
		of := index(m.Groups, func(g *kmsg.ListGroupsResponseGroup) string { return g.Group })
		return func(group string) kmsg.Response {
			one := *m
			one.Groups = of[group]
			return &one
		}
	case *kmsg.OffsetFetchResponse:
		if m.Version < 8 {
			break
		}
		of := index(m.Groups, func(g *kmsg.OffsetFetchResponseGroup) string { return g.Group })
		return func(group string) kmsg.Response {
			one := *m
			one.Groups = of[group]
			return &one
		}
	}
	return func(string) kmsg.Response { return resp }
}

// index puts the entries of a group together, in their order.
func index[T any](all []T, group func(*T) string) map[string][]T {
	of := make(map[string][]T, len(all))
	for i := range all {
		g := group(&all[i])
		of[g] = append(of[g], all[i])
	}
	return of
}
