package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// coordinate lets those answer that coordinate the groups of a request, as far as the node that was asked does.
func (c *Cluster) coordinate(v *visit, r core.Request) (kmsg.Response, error) {
	n := v.node
	switch req := r.Message.(type) {
	case *kmsg.FindCoordinatorRequest:
		return c.find(r, req), nil
	case *kmsg.ListGroupsRequest:
		return c.list(v, r)
	case *kmsg.DescribeGroupsRequest:
		return c.describe(v, r, req)
	case *kmsg.DeleteGroupsRequest:
		return c.delete(v, r, req)
	case *kmsg.OffsetFetchRequest:
		if r.Version >= 8 {
			return c.fetch(v, r, req)
		}
	case *kmsg.TxnOffsetCommitRequest:
		if req.Group != "" && c.leads(n, req.Group) { // else the answer does not depend on it
			r.Verified = c.verify(req, r.Version)
		}
	}
	return v.ask(c.shardOf(groupOf(r.Message)), r)
}

// ask asks a coordinator for the node that the client has asked.
func (v *visit) ask(l *loop, r core.Request) (kmsg.Response, error) {
	g := v.node.cluster.gate
	v.at = g.meet(v.at, v.conn.active.Load())
	if !g.enter(r) {
		return l.ask(v.node.ID, r, v.conn.first)
	}
	inside := true
	leave := func() {
		if inside {
			inside = false
			g.leave()
		}
	}
	defer leave()
	return l.ask(v.node.ID, r, func() {
		leave()
		v.conn.first()
	})
}

func (c *Cluster) shardOf(group string) *loop { return c.shards[partitionOf(group, len(c.shards))] }

// leads says whether a node coordinates a group at the moment.
func (c *Cluster) leads(n *node, group string) bool {
	at, _ := c.Coordinator(group)
	return at == n.ID
}

// groupOf is the group that a request is about, of those that are about one.
func groupOf(req kmsg.Request) string {
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest:
		return req.Group
	case *kmsg.SyncGroupRequest:
		return req.Group
	case *kmsg.HeartbeatRequest:
		return req.Group
	case *kmsg.LeaveGroupRequest:
		return req.Group
	case *kmsg.OffsetCommitRequest:
		return req.Group
	case *kmsg.TxnOffsetCommitRequest:
		return req.Group
	case *kmsg.OffsetDeleteRequest:
		return req.Group
	case *kmsg.AddOffsetsToTxnRequest:
		return req.Group
	case *kmsg.OffsetFetchRequest:
		return req.Group
	}
	return ""
}

// groupsOf are the groups that a request is about; none where it is about none.
func groupsOf(req kmsg.Request) []string {
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest, *kmsg.HeartbeatRequest, *kmsg.LeaveGroupRequest, *kmsg.OffsetCommitRequest,
		*kmsg.TxnOffsetCommitRequest, *kmsg.OffsetDeleteRequest, *kmsg.AddOffsetsToTxnRequest:
		return []string{groupOf(req)}
	case *kmsg.OffsetFetchRequest:
		if req.Version < 8 {
			return []string{req.Group}
		}
		var groups []string
		for _, g := range req.Groups {
			groups = append(groups, g.Group)
		}
		return groups
	case *kmsg.DescribeGroupsRequest:
		return req.Groups
	case *kmsg.DeleteGroupsRequest:
		return req.Groups
	case *kmsg.FindCoordinatorRequest:
		switch {
		case req.Version >= 1 && req.CoordinatorType != 0:
		case req.Version >= 4:
			return req.CoordinatorKeys
		default:
			return []string{req.CoordinatorKey}
		}
	}
	return nil
}

// find answers FindCoordinator: any node can (find-coordinator.group, find-coordinator.batch).
func (c *Cluster) find(r core.Request, req *kmsg.FindCoordinatorRequest) kmsg.Response {
	effects := core.New(core.Settings{}).Step(time.Now(), r)
	resp := effects[0].(core.Answer).Message.(*kmsg.FindCoordinatorResponse)
	at := func(group string) core.Node {
		id, _ := c.Coordinator(group)
		return c.nodes[id].Node
	}
	if r.Version < 4 {
		if resp.ErrorCode == core.None {
			n := at(req.CoordinatorKey)
			resp.NodeID, resp.Host, resp.Port = n.ID, n.Host, n.Port
		}
		return resp
	}
	for i := range resp.Coordinators {
		if rc := &resp.Coordinators[i]; rc.ErrorCode == core.None {
			n := at(rc.Key)
			rc.NodeID, rc.Host, rc.Port = n.ID, n.Host, n.Port
		}
	}
	return resp
}

// list asks for all groups of a node. Where some are being loaded the others are listed, with the error, as Kafka does (loading.list).
func (c *Cluster) list(v *visit, r core.Request) (kmsg.Response, error) {
	all := kmsg.NewPtrListGroupsResponse()
	all.SetVersion(r.Version)
	for _, l := range c.shards {
		resp, err := v.ask(l, r)
		if err != nil {
			return nil, err
		}
		part := resp.(*kmsg.ListGroupsResponse)
		all.ErrorCode = cmp.Or(all.ErrorCode, part.ErrorCode)
		all.Groups = append(all.Groups, part.Groups...)
	}
	slices.SortFunc(all.Groups, func(a, b kmsg.ListGroupsResponseGroup) int { return cmp.Compare(a.Group, b.Group) })
	return all, nil
}

// split hands the groups of a request out to those who coordinate them: ask gets indexes into groups. One request without groups is asked of anyone.
func (c *Cluster) split(groups []string, ask func(l *loop, which []int) error) error {
	switch len(groups) {
	case 0:
		return ask(c.shards[0], nil)
	case 1:
		return ask(c.shardOf(groups[0]), []int{0})
	}
	of := map[int32][]int{}
	var order []int32
	for i, g := range groups {
		p := partitionOf(g, len(c.shards))
		if of[p] == nil {
			order = append(order, p)
		}
		of[p] = append(of[p], i)
	}
	for _, p := range order {
		if err := ask(c.shards[p], of[p]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) describe(v *visit, r core.Request, req *kmsg.DescribeGroupsRequest) (kmsg.Response, error) {
	all := kmsg.NewPtrDescribeGroupsResponse()
	all.SetVersion(r.Version)
	all.Groups = make([]kmsg.DescribeGroupsResponseGroup, len(req.Groups))
	return all, c.split(req.Groups, func(l *loop, which []int) error {
		part := *req
		part.Groups = pick(req.Groups, which)
		r.Message = &part
		resp, err := v.ask(l, r)
		if err == nil {
			place(all.Groups, which, resp.(*kmsg.DescribeGroupsResponse).Groups)
		}
		return err
	})
}

// delete deletes groups; one that is named twice is deleted, and answered, once.
func (c *Cluster) delete(v *visit, r core.Request, req *kmsg.DeleteGroupsRequest) (kmsg.Response, error) {
	var groups []string
	named := map[string]bool{}
	for _, g := range req.Groups {
		if !named[g] {
			named[g] = true
			groups = append(groups, g)
		}
	}
	all := kmsg.NewPtrDeleteGroupsResponse()
	all.SetVersion(r.Version)
	all.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(groups))
	return all, c.split(groups, func(l *loop, which []int) error {
		part := *req
		part.Groups = pick(groups, which)
		r.Message = &part
		resp, err := v.ask(l, r)
		if err == nil {
			place(all.Groups, which, resp.(*kmsg.DeleteGroupsResponse).Groups)
		}
		return err
	})
}

// fetch answers OffsetFetch from version 8 on, which asks of several groups.
func (c *Cluster) fetch(v *visit, r core.Request, req *kmsg.OffsetFetchRequest) (kmsg.Response, error) {
	all := kmsg.NewPtrOffsetFetchResponse()
	all.SetVersion(r.Version)
	all.Groups = make([]kmsg.OffsetFetchResponseGroup, len(req.Groups))
	return all, c.split(groupsOf(req), func(l *loop, which []int) error {
		part := *req
		part.Groups = pick(req.Groups, which)
		r.Message = &part
		resp, err := v.ask(l, r)
		if err == nil {
			place(all.Groups, which, resp.(*kmsg.OffsetFetchResponse).Groups)
		}
		return err
	})
}

func pick[T any](all []T, which []int) []T {
	some := make([]T, len(which))
	for i, at := range which {
		some[i] = all[at]
	}
	return some
}

func place[T any](all []T, which []int, some []T) {
	for i, at := range which {
		if i < len(some) {
			all[at] = some[i]
		}
	}
}
