package core

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupType is what this coordinator's groups are; it knows no other type.
const groupType = "classic"

// listGroups is §2.11 (list.state, list.filters).
func (c *Coordinator) listGroups(r Request, req *kmsg.ListGroupsRequest) kmsg.Response {
	resp := kmsg.NewPtrListGroupsResponse()
	resp.SetVersion(r.Version)
	if c.gate() == CoordinatorLoadInProgress {
		resp.ErrorCode = CoordinatorLoadInProgress // loading.list; of a coordinator that is none, there is nothing to list
		return resp
	}
	if r.Version >= 5 && !passes(req.TypesFilter, groupType) {
		return resp
	}
	for _, id := range sortedKeys(c.groups) {
		g := c.groups[id]
		if r.Version >= 4 && !passes(req.StatesFilter, g.state.String()) {
			continue
		}
		l := kmsg.NewListGroupsResponseGroup()
		l.Group, l.ProtocolType = id, g.protocolType
		if r.Version >= 4 {
			l.GroupState = g.state.String()
		}
		if r.Version >= 5 {
			l.GroupType = groupType
		}
		resp.Groups = append(resp.Groups, l)
	}
	return resp
}

// passes is a filter: empty lets everything through; case and blanks around a name do not matter (§5.1 DF25).
func passes(filter []string, name string) bool {
	return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(strings.TrimSpace(f), name) })
}
