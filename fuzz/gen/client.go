package gen

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Protocol is an entry of a JoinGroup's protocol list.
type Protocol struct{ Name, Metadata string }

// Client is what one group member knows, and builds its requests from that. It learns from answers as a consumer does. The zero
// generation of a client that never joined is -1.
type Client struct {
	Name  string // also its client id
	Group string

	Session, Rebalance time.Duration
	Type               string
	List               []Protocol // of its last JoinGroup
	Instance           *string    // its group.instance.id; nil for a dynamic member

	Ids        []string // every id that it was handed, oldest first
	JoinID     string   // the id for its next JoinGroup: empty again once the coordinator has disowned it
	Generation int32
	Protocol   string   // of the generation
	Leader     string   // id of the leader of the generation
	Members    []string // of the generation, if it leads
	Synced     bool     // has its assignment of the generation
	Rejoin     bool     // was told to join again

	Joins, Syncs int // requests of each kind that wait for an answer

	lists [][]Protocol // the lists that it may have

	// Where its last JoinGroup went, and as whom: scenario text takes its next request to go there, as the same.
	hasJoined    bool
	lastGroup    string
	lastInstance *string

	// What scenario text takes the client to know, where answers get lost on their way to it: all that the coordinator has told it. nil
	// where that is the same.
	shown *Client
}

// known is the client as scenario text takes it to be.
func (c *Client) known() *Client {
	if c.shown != nil {
		return c.shown
	}
	return c
}

// NewClient returns a client that has done nothing yet.
func NewClient(name, group string) *Client {
	return &Client{Name: name, Group: group, Session: 10 * time.Second, Rebalance: 30 * time.Second, Type: "consumer", Generation: -1}
}

// ID is the id that it was handed last.
func (c *Client) ID() string {
	if len(c.Ids) == 0 {
		return ""
	}
	return c.Ids[len(c.Ids)-1]
}

// Leads says whether the client leads the generation that it knows.
func (c *Client) Leads() bool { return c.Leader != "" && c.Leader == c.ID() }

// JoinGroup builds a JoinGroup with its own list.
func (c *Client) JoinGroup() *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType, r.InstanceID = c.Group, c.JoinID, c.Type, c.Instance
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = int32(c.Session/time.Millisecond), int32(c.Rebalance/time.Millisecond)
	for _, p := range c.List {
		one := kmsg.NewJoinGroupRequestProtocol()
		one.Name, one.Metadata = p.Name, []byte(p.Metadata)
		r.Protocols = append(r.Protocols, one)
	}
	return r
}

// SyncGroup builds a SyncGroup with what assign gives each member of the generation, where the client leads. nil is nobody.
func (c *Client) SyncGroup(assign func(member string) string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.MemberID, r.Generation, r.InstanceID = c.Group, c.ID(), c.Generation, c.Instance
	typ, protocol := c.Type, c.Protocol
	r.ProtocolType, r.Protocol = &typ, &protocol
	if !c.Leads() || assign == nil {
		return r
	}
	for _, m := range c.Members {
		Assign(r, m, assign(m))
	}
	return r
}

// Assign adds an assignment.
func Assign(r *kmsg.SyncGroupRequest, member, bytes string) {
	a := kmsg.NewSyncGroupRequestGroupAssignment()
	a.MemberID, a.MemberAssignment = member, []byte(bytes)
	r.GroupAssignment = append(r.GroupAssignment, a)
}

// Heartbeat builds a Heartbeat.
func (c *Client) Heartbeat() *kmsg.HeartbeatRequest {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Group, r.MemberID, r.Generation, r.InstanceID = c.Group, c.ID(), c.Generation, c.Instance
	return r
}

// LeaveGroup builds a LeaveGroup for the given ids; versions up to 2 carry the first. One alone comes with the client's instance id.
func (c *Client) LeaveGroup(ids ...string) *kmsg.LeaveGroupRequest {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group = c.Group
	for i, id := range ids {
		if i == 0 {
			r.MemberID = id
		}
		one := kmsg.NewLeaveGroupRequestMember()
		one.MemberID = id
		if len(ids) == 1 {
			one.InstanceID = c.Instance
		}
		r.Members = append(r.Members, one)
	}
	return r
}

// OffsetCommit builds an OffsetCommit without offsets.
func (c *Client) OffsetCommit() *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.MemberID, r.Generation, r.InstanceID = c.Group, c.ID(), c.Generation, c.Instance
	return r
}

// Commit adds an offset.
func Commit(r *kmsg.OffsetCommitRequest, topic string, partition int32, at int64, metadata string) {
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata = partition, at, &metadata
	for i := range r.Topics {
		if r.Topics[i].Topic == topic {
			r.Topics[i].Partitions = append(r.Topics[i].Partitions, p)
			return
		}
	}
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.OffsetCommitRequestTopicPartition{p}
	r.Topics = append(r.Topics, t)
}

// Sent notes that a request of the client is on its way.
func (c *Client) Sent(req kmsg.Request) {
	if c.shown != nil {
		c.shown.Sent(req)
	}
	switch req.(type) {
	case *kmsg.JoinGroupRequest:
		c.Joins++
	case *kmsg.SyncGroupRequest:
		c.Syncs++
	}
}

// Lost notes that a request of the client will not be answered.
func (c *Client) Lost(req kmsg.Request) {
	switch req.(type) {
	case *kmsg.JoinGroupRequest:
		c.Joins--
	case *kmsg.SyncGroupRequest:
		c.Syncs--
	}
}

// Learn takes in an answer to a request that was Sent.
func (c *Client) Learn(req kmsg.Request, resp kmsg.Response) {
	c.Lost(req)
	switch m := resp.(type) {
	case *kmsg.JoinGroupResponse:
		c.joined(req.(*kmsg.JoinGroupRequest), m)
	case *kmsg.SyncGroupResponse:
		r := req.(*kmsg.SyncGroupRequest)
		if m.ErrorCode == 0 && r.MemberID == c.ID() && r.Generation == c.Generation {
			c.Synced = true
		}
		c.refused(r.MemberID, m.ErrorCode)
	case *kmsg.HeartbeatResponse:
		c.refused(req.(*kmsg.HeartbeatRequest).MemberID, m.ErrorCode)
	case *kmsg.OffsetCommitResponse:
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				c.refused(req.(*kmsg.OffsetCommitRequest).MemberID, p.ErrorCode)
			}
		}
	case *kmsg.LeaveGroupResponse:
		for _, l := range req.(*kmsg.LeaveGroupRequest).Members {
			if l.MemberID == c.ID() && m.ErrorCode == 0 {
				c.JoinID, c.Synced, c.Rejoin = "", false, true
			}
		}
	}
}

func (c *Client) joined(req *kmsg.JoinGroupRequest, m *kmsg.JoinGroupResponse) {
	const memberIDRequired = 79
	switch m.ErrorCode {
	case 0, memberIDRequired:
		if req.MemberID == "" && m.MemberID != "" {
			c.Ids = append(c.Ids, m.MemberID)
		}
		c.JoinID = m.MemberID
	default:
		c.refused(req.MemberID, m.ErrorCode)
	}
	if m.ErrorCode != 0 {
		return
	}
	if m.Generation != c.Generation || req.MemberID == "" {
		c.Synced = false
	}
	c.Rejoin = false
	c.Generation, c.Leader, c.Protocol, c.Members = m.Generation, m.LeaderID, "", nil
	if m.Protocol != nil {
		c.Protocol = *m.Protocol
	}
	for _, one := range m.Members {
		c.Members = append(c.Members, one.MemberID)
	}
}

// refused takes in an error that a request with the given member id got.
func (c *Client) refused(id string, code int16) {
	const (
		illegalGeneration = 22
		unknownMemberID   = 25
		inProgress        = 27
		fencedInstanceID  = 82
	)
	if id != c.ID() || id == "" {
		return
	}
	switch code {
	case unknownMemberID, fencedInstanceID: // one that is fenced drives the other out again
		c.JoinID, c.Synced, c.Rejoin = "", false, true
	case illegalGeneration, inProgress:
		c.Synced, c.Rejoin = false, true
	}
}
