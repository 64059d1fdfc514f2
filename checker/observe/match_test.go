package observe

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// Every field that Match judges is changed once; the change must be seen in the versions that have the field, and in no other.
func TestMatchSeesEveryField(t *testing.T) {
	str := kmsg.StringPtr
	joined := func(v int16) *kmsg.JoinGroupResponse {
		m := kmsg.NewPtrJoinGroupResponse()
		m.Version, m.Generation, m.Protocol, m.ProtocolType, m.LeaderID, m.MemberID = v, 3, str("range"), str("consumer"), "a", "a"
		m.Members = []kmsg.JoinGroupResponseMember{{MemberID: "a", ProtocolMetadata: []byte("x")}, {MemberID: "b"}}
		return m
	}
	synced := func(v int16) *kmsg.SyncGroupResponse {
		m := kmsg.NewPtrSyncGroupResponse()
		m.Version, m.Protocol, m.ProtocolType, m.MemberAssignment = v, str("range"), str("consumer"), []byte("x")
		return m
	}
	left := func(v int16) *kmsg.LeaveGroupResponse {
		m := kmsg.NewPtrLeaveGroupResponse()
		m.Version = v
		m.Members = []kmsg.LeaveGroupResponseMember{{MemberID: "a"}, {MemberID: "b", ErrorCode: 25}}
		return m
	}
	fetched := func(v int16) *kmsg.OffsetFetchResponse {
		m := kmsg.NewPtrOffsetFetchResponse()
		m.Version = v
		m.Topics = []kmsg.OffsetFetchResponseTopic{{Topic: "t", Partitions: []kmsg.OffsetFetchResponseTopicPartition{{Partition: 1, Offset: 4, LeaderEpoch: 2, Metadata: str("m")}}}}
		return m
	}
	described := func(v int16) *kmsg.DescribeGroupsResponse {
		m := kmsg.NewPtrDescribeGroupsResponse()
		m.Version = v
		m.Groups = []kmsg.DescribeGroupsResponseGroup{{Group: "g", State: "Stable", Members: []kmsg.DescribeGroupsResponseGroupMember{{MemberID: "a", ClientHost: "/127.0.0.1"}}}}
		return m
	}
	listed := func(v int16) *kmsg.ListGroupsResponse {
		m := kmsg.NewPtrListGroupsResponse()
		m.Version = v
		m.Groups = []kmsg.ListGroupsResponseGroup{{Group: "g", GroupState: "Stable", GroupType: "classic"}}
		return m
	}
	const always, never = -1, 99
	type change struct {
		name  string
		since int16 // the first version that has the field
		make  func(v int16) (predicted, actual kmsg.Response)
	}
	j := func(f func(*kmsg.JoinGroupResponse)) func(int16) (kmsg.Response, kmsg.Response) {
		return func(v int16) (kmsg.Response, kmsg.Response) { a := joined(v); f(a); return joined(v), a }
	}
	s := func(f func(*kmsg.SyncGroupResponse)) func(int16) (kmsg.Response, kmsg.Response) {
		return func(v int16) (kmsg.Response, kmsg.Response) { a := synced(v); f(a); return synced(v), a }
	}
	l := func(f func(*kmsg.LeaveGroupResponse)) func(int16) (kmsg.Response, kmsg.Response) {
		return func(v int16) (kmsg.Response, kmsg.Response) { a := left(v); f(a); return left(v), a }
	}
	o := func(f func(*kmsg.OffsetFetchResponseTopicPartition)) func(int16) (kmsg.Response, kmsg.Response) {
		return func(v int16) (kmsg.Response, kmsg.Response) {
			a := fetched(v)
			f(&a.Topics[0].Partitions[0])
			return fetched(v), a
		}
	}
	d := func(f func(*kmsg.DescribeGroupsResponseGroup)) func(int16) (kmsg.Response, kmsg.Response) {
		return func(v int16) (kmsg.Response, kmsg.Response) {
			a := described(v)
			f(&a.Groups[0])
			return described(v), a
		}
	}
	g := func(f func(*kmsg.ListGroupsResponseGroup)) func(int16) (kmsg.Response, kmsg.Response) {
		return func(v int16) (kmsg.Response, kmsg.Response) { a := listed(v); f(&a.Groups[0]); return listed(v), a }
	}
	for _, c := range []change{
		{"join throttle", never, j(func(m *kmsg.JoinGroupResponse) { m.ThrottleMillis = 9 })},
		{"join error", always, j(func(m *kmsg.JoinGroupResponse) { m.ErrorCode = 27 })},
		{"join generation", always, j(func(m *kmsg.JoinGroupResponse) { m.Generation++ })},
		{"join type", 7, j(func(m *kmsg.JoinGroupResponse) { m.ProtocolType = nil })},
		{"join protocol", always, j(func(m *kmsg.JoinGroupResponse) { m.Protocol = str("sticky") })},
		{"join leader", always, j(func(m *kmsg.JoinGroupResponse) { m.LeaderID = "b" })},
		{"join id", always, j(func(m *kmsg.JoinGroupResponse) { m.MemberID = "b" })},
		{"join skip", 9, j(func(m *kmsg.JoinGroupResponse) { m.SkipAssignment = true })},
		{"join order", never, j(func(m *kmsg.JoinGroupResponse) { slices.Reverse(m.Members) })},
		{"join member missing", always, j(func(m *kmsg.JoinGroupResponse) { m.Members = m.Members[:1] })},
		{"join member twice", always, j(func(m *kmsg.JoinGroupResponse) { m.Members = append(m.Members, m.Members[0]) })},
		{"join stranger", always, j(func(m *kmsg.JoinGroupResponse) { m.Members[1].MemberID = "c" })},
		{"join metadata", always, j(func(m *kmsg.JoinGroupResponse) { m.Members[1].ProtocolMetadata = []byte("y") })},
		{"join instance", 5, j(func(m *kmsg.JoinGroupResponse) { m.Members[1].InstanceID = str("i") })},
		{"sync error", always, s(func(m *kmsg.SyncGroupResponse) { m.ErrorCode = 27 })},
		{"sync type", 5, s(func(m *kmsg.SyncGroupResponse) { m.ProtocolType = str("") })},
		{"sync protocol", 5, s(func(m *kmsg.SyncGroupResponse) { m.Protocol = nil })},
		{"sync assignment", always, s(func(m *kmsg.SyncGroupResponse) { m.MemberAssignment = nil })},
		{"leave error", always, l(func(m *kmsg.LeaveGroupResponse) { m.ErrorCode = 25 })},
		{"leave entry", 3, l(func(m *kmsg.LeaveGroupResponse) { m.Members[0].ErrorCode = 25 })},
		{"leave order", 3, l(func(m *kmsg.LeaveGroupResponse) { slices.Reverse(m.Members) })},
		{"leave entries", 3, l(func(m *kmsg.LeaveGroupResponse) { m.Members = m.Members[:1] })},
		{"fetch offset", always, o(func(p *kmsg.OffsetFetchResponseTopicPartition) { p.Offset-- })},
		{"fetch epoch", 5, o(func(p *kmsg.OffsetFetchResponseTopicPartition) { p.LeaderEpoch-- })},
		{"fetch metadata", always, o(func(p *kmsg.OffsetFetchResponseTopicPartition) { p.Metadata = str("") })},
		{"fetch null metadata", always, o(func(p *kmsg.OffsetFetchResponseTopicPartition) { p.Metadata = nil })},
		{"fetch error", always, o(func(p *kmsg.OffsetFetchResponseTopicPartition) { p.ErrorCode = 3 })},
		{"fetch partition", always, o(func(p *kmsg.OffsetFetchResponseTopicPartition) { p.Partition++ })},
		{"describe state", always, d(func(g *kmsg.DescribeGroupsResponseGroup) { g.State = "Empty" })},
		{"describe message", never, d(func(g *kmsg.DescribeGroupsResponseGroup) { g.ErrorMessage = str("m") })},
		{"describe operations", never, d(func(g *kmsg.DescribeGroupsResponseGroup) { g.AuthorizedOperations = 3400 })},
		{"describe host", never, d(func(g *kmsg.DescribeGroupsResponseGroup) { g.Members[0].ClientHost = "/::1" })},
		{"describe client", always, d(func(g *kmsg.DescribeGroupsResponseGroup) { g.Members[0].ClientID = "c" })},
		{"describe assignment", always, d(func(g *kmsg.DescribeGroupsResponseGroup) { g.Members[0].MemberAssignment = []byte("x") })},
		{"list state", 4, g(func(g *kmsg.ListGroupsResponseGroup) { g.GroupState = "Empty" })},
		{"list type", 5, g(func(g *kmsg.ListGroupsResponseGroup) { g.GroupType = "consumer" })},
		{"list protocol type", always, g(func(g *kmsg.ListGroupsResponseGroup) { g.ProtocolType = "connect" })},
	} {
		p0, _ := c.make(0)
		for v := int16(1); v <= p0.MaxVersion() && v <= 7; v++ {
			p, a := c.make(v)
			err := Match(p, a)
			if (err != nil) != (v >= c.since) {
				t.Errorf("%s, version %d: %v", c.name, v, err)
			}
		}
		if c.since == 9 {
			p, a := c.make(9)
			if Match(p, a) == nil {
				t.Errorf("%s is not seen in version 9", c.name)
			}
		}
	}
}

func TestMatchTakesAnyWriteError(t *testing.T) {
	p, a := kmsg.NewPtrSyncGroupResponse(), kmsg.NewPtrSyncGroupResponse()
	p.ErrorCode = classic.CodeWriteFailed
	for _, code := range []int16{-1, 7, 14, 15, 16, 27} {
		if a.ErrorCode = code; Match(p, a) != nil {
			t.Errorf("%d: %v", code, Match(p, a))
		}
	}
	for _, code := range []int16{0, 25} {
		if a.ErrorCode = code; Match(p, a) == nil {
			t.Errorf("%d passes for a write error", code)
		}
	}
	if a.ErrorCode = 25; !strings.Contains(Match(p, a).Error(), "got UNKNOWN_MEMBER_ID") {
		t.Errorf("text: %v", Match(p, a))
	}
}

func TestSplitAndJoinByGroup(t *testing.T) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{"a", "b", "a"}
	parts := SplitByGroup(req)
	if len(parts) != 2 || parts[1].Group != "b" || len(parts[1].Message.(*kmsg.DescribeGroupsRequest).Groups) != 1 {
		t.Fatalf("parts: %+v", parts)
	}
	one := func(g string) kmsg.Response {
		m := kmsg.NewPtrDescribeGroupsResponse()
		m.Groups = []kmsg.DescribeGroupsResponseGroup{{Group: g}}
		return m
	}
	whole := JoinByGroup(req, 5, []kmsg.Response{one("a"), one("b")}).(*kmsg.DescribeGroupsResponse)
	if len(whole.Groups) != 2 || whole.Version != 5 {
		t.Fatalf("whole: %+v", whole)
	}
	if b := Only(whole, "b").(*kmsg.DescribeGroupsResponse); len(b.Groups) != 1 || b.Groups[0].Group != "b" || len(whole.Groups) != 2 {
		t.Fatalf("only b: %+v", b)
	}
	if none := Only(whole, "c").(*kmsg.DescribeGroupsResponse); len(none.Groups) != 0 {
		t.Fatalf("only c: %+v", none)
	}
}
