package core

import (
	"bytes"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeGroups is §2.10.
func (c *Coordinator) describeGroups(r Request, req *kmsg.DescribeGroupsRequest) kmsg.Response {
	if code := c.gate(); code != None {
		return describeError(r.Version, req, code)
	}
	resp := kmsg.NewPtrDescribeGroupsResponse()
	resp.SetVersion(r.Version)
	for _, id := range req.Groups {
		d := c.describeGroup(id, r.Version)
		if r.Version >= 3 && req.IncludeAuthorizedOperations && d.ErrorCode == None {
			d.AuthorizedOperations = allGroupAuthorizedOperation // verified item 7
		}
		resp.Groups = append(resp.Groups, d)
	}
	return resp
}

func (c *Coordinator) describeGroup(id string, version int16) kmsg.DescribeGroupsResponseGroup {
	d := kmsg.NewDescribeGroupsResponseGroup()
	d.Group = id
	d.AuthorizedOperations = noAuthorizedOperations
	g := c.groups[id]
	if g == nil { // describe.unknown
		d.State = Dead.String()
		if version >= 6 { // describe.unknown.code
			d.ErrorCode = GroupIDNotFound
			d.ErrorMessage = notFound(id)
		}
		return d
	}
	d.State = g.state.String() // describe.state
	d.ProtocolType = g.protocolType
	if g.state == Stable {
		d.Protocol = *g.protocol
	}
	for _, m := range g.order { // describe.members
		dm := kmsg.NewDescribeGroupsResponseGroupMember()
		dm.MemberID, dm.InstanceID, dm.ClientID, dm.ClientHost = m.id, m.instance, m.clientID, m.clientHost
		dm.ProtocolMetadata = []byte{}
		dm.MemberAssignment = orEmpty(bytes.Clone(m.assignment)) // describe.rebalancing.assignment
		if g.state == Stable {
			dm.ProtocolMetadata = orEmpty(bytes.Clone(m.metadata(*g.protocol)))
		}
		d.Members = append(d.Members, dm)
	}
	return d
}

func describeError(version int16, req *kmsg.DescribeGroupsRequest, code int16) kmsg.Response {
	resp := kmsg.NewPtrDescribeGroupsResponse()
	resp.SetVersion(version)
	for _, id := range req.Groups {
		d := kmsg.NewDescribeGroupsResponseGroup()
		d.Group, d.ErrorCode, d.AuthorizedOperations = id, code, noAuthorizedOperations
		resp.Groups = append(resp.Groups, d)
	}
	return resp
}

// notFound is Kafka's message for a group that does not exist, in a length that a client can read.
func notFound(group string) *string {
	return kmsg.StringPtr("Group " + cut(group, maxString/2) + " not found.")
}
