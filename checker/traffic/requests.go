package traffic

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/fuzz/gen"
)

// newest are the versions that clients speak where the target does; older ones are drawn now and then.
var newest = map[kmsg.Key]int16{
	kmsg.JoinGroup: 9, kmsg.SyncGroup: 5, kmsg.Heartbeat: 4, kmsg.LeaveGroup: 5, kmsg.OffsetCommit: 9, kmsg.OffsetFetch: 9,
	kmsg.DescribeGroups: 5, kmsg.ListGroups: 5, kmsg.DeleteGroups: 2, kmsg.OffsetDelete: 0,
}

// oldest are the lowest versions with the meaning that clients rely on.
var oldest = map[kmsg.Key]int16{kmsg.OffsetCommit: 5, kmsg.OffsetFetch: 2}

// newest is a request at the newest version that both speak.
func (c *Client) newest(req kmsg.Request) Step {
	_, version, ok := c.setup.versions(kmsg.Key(req.Key()))
	if !ok {
		return Step{}
	}
	req.SetVersion(version)
	return Step{Request: req, Version: version}
}

// versions are those that both speak; not ok where the target does not offer the request.
func (s *Setup) versions(key kmsg.Key) (low, high int16, ok bool) {
	low, high = oldest[key], newest[key]
	if _, ok := s.Versions[int16(key)]; !ok && len(s.Versions) > 0 {
		return 0, 0, false
	}
	if r, ok := s.Versions[int16(key)]; ok {
		low, high = max(low, r.Min), min(high, r.Max)
	}
	return low, high, true
}

func (c *Client) step(req kmsg.Request) Step {
	low, high, ok := c.setup.versions(kmsg.Key(req.Key()))
	if !ok {
		return Step{}
	}
	version := high
	if high > low && c.rand.IntN(8) == 0 {
		version = low + int16(c.rand.IntN(int(high-low)+1))
	}
	req.SetVersion(version)
	return Step{Request: req, Version: version}
}

func (c *Client) join(member string) Step {
	r := c.JoinGroup()
	r.MemberID = member
	return c.step(r)
}

func (c *Client) sync(member string, generation int32, assigns bool) Step {
	c.commits++
	n := 0
	r := c.SyncGroup(func(string) string {
		n++
		return fmt.Sprintf("%s#%d/%d", c.Name, c.commits, n)
	})
	r.MemberID, r.Generation = member, generation
	if len(r.GroupAssignment) > 1 && c.rand.IntN(6) == 0 {
		r.GroupAssignment = r.GroupAssignment[1:] // a member may be left without
	}
	switch {
	case !assigns:
		r.GroupAssignment = nil
	case !c.Leads(): // followers' assignments are not asked for
		gen.Assign(r, member, fmt.Sprintf("%s#%d/follower", c.Name, c.commits))
	}
	if c.rand.IntN(30) == 0 {
		protocol := "other"
		r.Protocol = &protocol
	}
	return c.step(r)
}

func (c *Client) heartbeat(member string, generation int32) Step {
	r := c.Heartbeat()
	r.MemberID, r.Generation = member, generation
	return c.step(r)
}

func (c *Client) leave(member string) Step {
	ids := []string{member}
	if former := c.former(); former != "" && former != member && c.rand.IntN(5) == 0 {
		ids = append(ids, former)
	}
	r := c.LeaveGroup(ids...)
	if c.Instance != nil && c.rand.IntN(3) == 0 { // as a tool removes a static member, and another one with it
		r.Members[0].MemberID, r.Members[0].InstanceID = "", c.Instance
		if c.rand.IntN(2) == 0 {
			other := kmsg.NewLeaveGroupRequestMember()
			other.InstanceID = instance(2, 0)
			r.Members = append(r.Members, other)
		}
	}
	return c.step(r)
}

// commit never commits the same offset twice, so that a fetch tells which commit it has seen.
func (c *Client) commit(member string, generation int32) Step {
	c.commits++
	r := c.OffsetCommit()
	r.MemberID, r.Generation = member, generation
	for partition := range int32(2) {
		if partition == 0 || c.rand.IntN(2) == 0 {
			gen.Commit(r, c.setup.Topic, partition, c.commits, fmt.Sprintf("%s#%d", c.Name, c.commits))
		}
	}
	return c.step(r)
}

// wrong is a request that must be refused whoever sends it.
func (c *Client) wrong() Step {
	switch c.rand.IntN(7) {
	case 6:
		r := c.JoinGroup()
		r.Protocols = nil
		return c.step(r)
	case 0:
		r := c.JoinGroup()
		r.SessionTimeoutMillis = int32(c.setup.MinSession/time.Millisecond) - 1
		return c.step(r)
	case 1:
		r := c.JoinGroup()
		r.MemberID, r.Protocols[0].Name = gen.Stranger, "lonely"
		r.Protocols = r.Protocols[:1]
		return c.step(r)
	case 2:
		r := c.JoinGroup()
		r.ProtocolType = "connect"
		return c.step(r)
	case 3:
		r := c.SyncGroup(nil)
		r.Protocol = nil
		return c.step(r)
	case 4:
		r := c.OffsetCommit()
		c.commits++
		gen.Commit(r, c.setup.Topic, 0, c.commits, "")
		gen.Commit(r, c.setup.Topic, 1, c.commits, strings.Repeat("x", c.setup.MaxMetadata+1))
		return c.step(r)
	default:
		r := c.OffsetCommit()
		c.commits++
		gen.Commit(r, c.setup.Topic, 0, c.commits, "")
		gen.Commit(r, c.setup.Topic+"-nosuch", 0, c.commits, "")
		return c.step(r)
	}
}

func (c *Client) fetch() Step {
	r := kmsg.NewPtrOffsetFetchRequest()
	step := c.step(r)
	partitions := []int32{0, 1}
	if step.Version < 8 {
		r.Group = c.Group
		t := kmsg.NewOffsetFetchRequestTopic()
		t.Topic, t.Partitions = c.setup.Topic, partitions
		r.Topics = append(r.Topics, t)
		return step
	}
	for i, group := range c.someGroups() {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = group
		if i > 0 || c.rand.IntN(3) > 0 { // else all topics
			t := kmsg.NewOffsetFetchRequestGroupTopic()
			t.Topic, t.Partitions = c.setup.Topic, partitions
			g.Topics = append(g.Topics, t)
		}
		r.Groups = append(r.Groups, g)
	}
	return step
}

// look only reads.
func (c *Client) look() Step {
	switch n := c.rand.IntN(8); {
	case n < 4:
		return c.fetch()
	case n < 7:
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups = c.someGroups()
		return c.step(r)
	default:
		return c.step(kmsg.NewPtrListGroupsRequest())
	}
}

func (c *Client) deleteOffsets() Step {
	r := kmsg.NewPtrOffsetDeleteRequest()
	r.Group = c.Group
	t := kmsg.NewOffsetDeleteRequestTopic()
	t.Topic = c.setup.Topic
	first := c.rand.Int32N(2)
	for partition := range int32(2) { // one of them, or both
		if partition == first || c.rand.IntN(2) == 0 {
			one := kmsg.NewOffsetDeleteRequestTopicPartition()
			one.Partition = partition
			t.Partitions = append(t.Partitions, one)
		}
	}
	r.Topics = append(r.Topics, t)
	return c.step(r)
}

func (c *Client) delete() Step {
	r := kmsg.NewPtrDeleteGroupsRequest()
	r.Groups = c.someGroups()
	return c.step(r)
}

// someGroups are mostly the client's own, now and then another one as well.
func (c *Client) someGroups() []string {
	groups := []string{c.Group}
	if other := c.setup.Groups[c.rand.IntN(len(c.setup.Groups))]; other != c.Group && c.rand.IntN(4) == 0 {
		groups = append(groups, other)
	}
	return groups
}
