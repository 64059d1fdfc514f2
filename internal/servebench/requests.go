package main

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The versions are the newest that all servers have, but for JoinGroup 3, which needs no second request for a member id.
const (
	joinVersion      = 7
	oneJoinVersion   = 3
	syncVersion      = 5
	heartbeatVersion = 4
	commitVersion    = 8
	fetchVersion     = 8
	leaveVersion     = 5
	deleteVersion    = 2
)

// topic has one partition, which offsets are committed of.
const topic = "bench"

// sessionMillis is long enough for no member to be expelled while others are measured, and as much as all servers allow.
const sessionMillis = 240_000

// subscription is what a consumer of the topic sends; mark makes it another one.
func subscription(mark uint32) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = []string{topic}
	m.UserData = binary.BigEndian.AppendUint32(nil, mark)
	return m.AppendTo(nil)
}

func joinOf(group, member string, version int16, mark uint32) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Version = version
	r.Group, r.MemberID, r.ProtocolType = group, member, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = sessionMillis, sessionMillis
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", subscription(mark)
	r.Protocols = append(r.Protocols, p)
	return r
}

func syncOf(group, member string, generation int32, assigned ...string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Version = syncVersion
	r.Group, r.MemberID, r.Generation = group, member, generation
	r.ProtocolType, r.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for _, m := range assigned {
		a := kmsg.NewConsumerMemberAssignment()
		t := kmsg.NewConsumerMemberAssignmentTopic()
		t.Topic, t.Partitions = topic, []int32{0}
		a.Topics = append(a.Topics, t)
		r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m, MemberAssignment: a.AppendTo(nil)})
	}
	return r
}

func beatOf(group, member string, generation int32) *kmsg.HeartbeatRequest {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version = heartbeatVersion
	r.Group, r.MemberID, r.Generation = group, member, generation
	return r
}

func commitOf(group, member string, generation int32) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version = commitVersion
	r.Group, r.MemberID, r.Generation = group, member, generation
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset = 4711
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	return r
}

func fetchOf(group string) *kmsg.OffsetFetchRequest {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Version = fetchVersion
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	g.Topics = append(g.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: topic, Partitions: []int32{0}})
	r.Groups = append(r.Groups, g)
	return r
}

func leaveOf(group, member string) *kmsg.LeaveGroupRequest {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Version = leaveVersion
	r.Group = group
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = member
	r.Members = append(r.Members, m)
	return r
}

func deleteOf(groups ...string) *kmsg.DeleteGroupsRequest {
	r := kmsg.NewPtrDeleteGroupsRequest()
	r.Version = deleteVersion
	r.Groups = groups
	return r
}

// good is nil where an answer says that all has been done.
func good(resp kmsg.Response) error {
	var codes []int16
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		codes = append(codes, r.ErrorCode)
	case *kmsg.SyncGroupResponse:
		codes = append(codes, r.ErrorCode)
	case *kmsg.HeartbeatResponse:
		codes = append(codes, r.ErrorCode)
	case *kmsg.OffsetCommitResponse:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				codes = append(codes, p.ErrorCode)
			}
		}
	case *kmsg.OffsetFetchResponse:
		for _, g := range r.Groups {
			codes = append(codes, g.ErrorCode)
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					if codes = append(codes, p.ErrorCode); p.Offset != 4711 {
						return fmt.Errorf("%w: offset %d, 4711 was committed", errWrong, p.Offset)
					}
				}
			}
		}
	case *kmsg.LeaveGroupResponse:
		codes = append(codes, r.ErrorCode)
		for _, m := range r.Members {
			codes = append(codes, m.ErrorCode)
		}
	case *kmsg.DeleteGroupsResponse:
		for _, g := range r.Groups {
			codes = append(codes, g.ErrorCode)
		}
	}
	if len(codes) == 0 {
		return fmt.Errorf("%w: %T says nothing", errWrong, resp)
	}
	for _, code := range codes {
		if code != 0 {
			return fmt.Errorf("%w: %T with %w", errWrong, resp, kerr.ErrorForCode(code))
		}
	}
	return nil
}

// must asks and expects success.
func must[R kmsg.Response](c *conn, req kmsg.Request) (r R, err error) {
	resp, err := c.ask(req)
	if err == nil {
		err = good(resp)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", kmsg.NameForKey(req.Key()), err)
	}
	return resp.(R), nil
}

// member is who is in a group alone.
type member struct {
	conn       *conn
	group, id  string
	generation int32
	mark       uint32
}

// enter makes a group with one member, as clients do: the member id first.
func enter(c *conn, group string) (*member, error) {
	m := &member{conn: c, group: group}
	resp, err := c.ask(joinOf(group, "", joinVersion, 0))
	if err != nil {
		return nil, err
	}
	r := resp.(*kmsg.JoinGroupResponse)
	if r.ErrorCode != kerr.MemberIDRequired.Code {
		return nil, fmt.Errorf("%w: the first JoinGroup has %w", errWrong, kerr.ErrorForCode(r.ErrorCode))
	}
	m.id = r.MemberID
	return m, m.rebalance()
}

// rebalance lets the member join with another subscription, and sync.
func (m *member) rebalance() error {
	m.mark++
	r, err := must[*kmsg.JoinGroupResponse](m.conn, joinOf(m.group, m.id, joinVersion, m.mark))
	if err != nil {
		return err
	}
	if r.Generation <= m.generation {
		return fmt.Errorf("%w: generation %d after %d", errWrong, r.Generation, m.generation)
	}
	m.generation = r.Generation
	_, err = must[*kmsg.SyncGroupResponse](m.conn, syncOf(m.group, m.id, m.generation, m.id))
	return err
}

// quit ends the group.
func (m *member) quit() error {
	if _, err := must[*kmsg.LeaveGroupResponse](m.conn, leaveOf(m.group, m.id)); err != nil {
		return err
	}
	_, err := must[*kmsg.DeleteGroupsResponse](m.conn, deleteOf(m.group))
	return err
}
