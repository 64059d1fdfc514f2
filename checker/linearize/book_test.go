package linearize

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// What Kafka has by default.
const (
	maxMetadata      = 4096
	newMemberTimeout = 5 * time.Minute
)

// book is a history written by hand. Instants are milliseconds; timers tick at 10 ms and may be 50 ms late; sessions are 100 ms and
// rebalances 300 ms long.
type book struct{ history.History }

func newBook(profile string) *book {
	return &book{history.History{Header: history.Header{
		Format: history.Format, Target: "book", Profile: profile, MinSession: time.Millisecond, MaxSession: time.Hour,
		NewMemberTimeout: newMemberTimeout, MaxMetadata: maxMetadata, Tick: 10 * time.Millisecond, Slack: 50 * time.Millisecond,
		Groups: []string{"g"}, Topics: map[string]int32{"t": 1},
	}}}
}

// versions are old enough to have few fields.
var versions = map[kmsg.Key]int16{
	kmsg.JoinGroup: 5, kmsg.SyncGroup: 3, kmsg.Heartbeat: 3, kmsg.LeaveGroup: 3, kmsg.OffsetCommit: 7, kmsg.OffsetFetch: 5,
}

// call notes a call; without a response it was given up.
func (b *book) call(client string, from, to int, req kmsg.Request, resp kmsg.Response) *history.Call {
	version := versions[kmsg.Key(req.Key())]
	c := history.Call{
		ID: int64(len(b.Calls) + 1), Groups: []string{"g"}, Client: client, Key: req.Key(), Version: version,
		Request: history.EncodeRequest(req, version), Outcome: history.GivenUp,
		Call: int64(from) * int64(time.Millisecond), Return: int64(to) * int64(time.Millisecond),
	}
	if resp != nil {
		c.Outcome, c.Response = history.Answered, history.EncodeResponse(resp, version)
	}
	b.Calls = append(b.Calls, c)
	return &b.Calls[len(b.Calls)-1]
}

func (b *book) join(client string, from, to int, member string, resp kmsg.Response) *history.Call {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType = "g", member, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 100, 300
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
	return b.call(client, from, to, r, resp)
}

func refusedJoin(code int16, member string) *kmsg.JoinGroupResponse {
	r := kmsg.NewPtrJoinGroupResponse()
	empty := ""
	r.ErrorCode, r.MemberID, r.Generation, r.Protocol = code, member, -1, &empty
	return r
}

// joined is a JoinGroup answer; members are what a leader is told.
func joined(generation int32, leader, member string, members ...string) *kmsg.JoinGroupResponse {
	r := kmsg.NewPtrJoinGroupResponse()
	protocol := "range"
	r.Generation, r.LeaderID, r.MemberID, r.Protocol = generation, leader, member, &protocol
	for _, id := range members {
		m := kmsg.NewJoinGroupResponseMember()
		m.MemberID, m.ProtocolMetadata = id, []byte("x")
		r.Members = append(r.Members, m)
	}
	return r
}

// sync gives each member of the list its own id as the assignment.
func (b *book) sync(client string, from, to int, member string, generation int32, assigns []string, code int16, assigned string) {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.MemberID, r.Generation = "g", member, generation
	for _, id := range assigns {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = id, []byte(id)
		r.GroupAssignment = append(r.GroupAssignment, a)
	}
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ErrorCode, resp.MemberAssignment = code, []byte(assigned)
	b.call(client, from, to, r, resp)
}

func (b *book) heartbeat(client string, from, to int, member string, generation int32, code int16) {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Group, r.MemberID, r.Generation = "g", member, generation
	resp := kmsg.NewPtrHeartbeatResponse()
	resp.ErrorCode = code
	b.call(client, from, to, r, resp)
}

func (b *book) leave(client string, from, to int, member string) {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group = "g"
	r.Members = []kmsg.LeaveGroupRequestMember{{MemberID: member}}
	resp := kmsg.NewPtrLeaveGroupResponse()
	resp.Members = []kmsg.LeaveGroupResponseMember{{MemberID: member}}
	b.call(client, from, to, r, resp)
}

// commit stores an offset for partition 0 of topic t.
func (b *book) commit(client string, from, to int, member string, generation int32, at int64, code int16) *history.Call {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.MemberID, r.Generation = "g", member, generation
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: at, LeaderEpoch: -1}}}}
	resp := kmsg.NewPtrOffsetCommitResponse()
	resp.Topics = []kmsg.OffsetCommitResponseTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitResponseTopicPartition{{ErrorCode: code}}}}
	return b.call(client, from, to, r, resp)
}

func (b *book) fetch(client string, from, to int, at int64) {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Group = "g"
	r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0}}}
	resp := kmsg.NewPtrOffsetFetchResponse()
	none := ""
	resp.Topics = []kmsg.OffsetFetchResponseTopic{{Topic: "t", Partitions: []kmsg.OffsetFetchResponseTopicPartition{{Offset: at, LeaderEpoch: -1, Metadata: &none}}}}
	b.call(client, from, to, r, resp)
}

// alone is the first generation of a group: A joins and syncs by 5 ms.
func (b *book) alone() {
	b.join("a", 0, 1, "", refusedJoin(79, "A"))
	b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
	b.sync("a", 4, 5, "A", 1, []string{"A"}, 0, "A")
}

// second adds B, which is parked until A rejoins, at 25 ms; A assigns at 30 ms.
func (b *book) second() {
	b.join("b", 10, 11, "", refusedJoin(79, "B"))
	b.join("b", 12, 25, "B", joined(2, "A", "B"))
	b.heartbeat("a", 14, 15, "A", 1, 27)
	b.join("a", 20, 25, "A", joined(2, "A", "A", "A", "B"))
}

// verdict puts the calls in the order of their beginnings, and judges them.
func (b *book) verdict(t *testing.T, want Result) {
	t.Helper()
	slices.SortStableFunc(b.Calls, func(x, y history.Call) int { return int(x.Call - y.Call) })
	v, err := Check(t.Context(), &b.History, Limits{})
	if err != nil || v.Result != want {
		t.Errorf("%v %s (%v), want %v", v.Result, v.Reason, err, want)
	}
}
