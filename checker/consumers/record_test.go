package consumers

import (
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/ownership"
)

// call is an answered one, from its Nth to its N+1th nanosecond.
func call(h *history.History, at int64, req kmsg.Request, version int16, resp kmsg.Response) *history.Call {
	c := history.Call{
		ID: int64(len(h.Calls) + 1), Client: "c", Key: req.Key(), Version: version, Request: history.EncodeRequest(req, version), Outcome: history.Answered, Call: at, Return: at + 1,
	}
	c.Response = history.EncodeResponse(resp, version)
	h.Calls = append(h.Calls, c)
	return &h.Calls[len(h.Calls)-1]
}

// TestEvents reads what calls tell of ownership, and nothing from what was refused.
func TestEvents(t *testing.T) {
	balancer := kgo.CooperativeStickyBalancer()
	join := kmsg.NewPtrJoinGroupRequest()
	join.MemberID, join.InstanceID = "m", kmsg.StringPtr("i")
	join.Protocols = []kmsg.JoinGroupRequestProtocol{
		{Name: "range", Metadata: kgo.RangeBalancer().JoinGroupMetadata([]string{"z"}, nil, 1)},
		{Name: balancer.ProtocolName(), Metadata: balancer.JoinGroupMetadata([]string{"s", "t"}, map[string][]int32{"t": {1, 0}}, 1)},
	}
	joined := kmsg.NewPtrJoinGroupResponse()
	joined.MemberID, joined.Generation, joined.LeaderID, joined.Protocol = "m", 3, "m", kmsg.StringPtr(balancer.ProtocolName())
	joined.Members = []kmsg.JoinGroupResponseMember{{MemberID: "m"}, {MemberID: "n"}}
	refused := kmsg.NewPtrJoinGroupResponse()
	refused.ErrorCode, refused.MemberID = 79, "m"

	plan := kmsg.ConsumerMemberAssignment{Topics: []kmsg.ConsumerMemberAssignmentTopic{{Topic: "t", Partitions: []int32{1, 0}}}}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.MemberID, sync.Generation = "m", 3
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: "m", MemberAssignment: plan.AppendTo(nil)}, {MemberID: "n"}}
	synced := kmsg.NewPtrSyncGroupResponse()
	synced.MemberAssignment = plan.AppendTo(nil)

	beat := kmsg.NewPtrHeartbeatRequest()
	beat.MemberID, beat.Generation = "m", 3
	late := kmsg.NewPtrHeartbeatResponse()
	late.ErrorCode = 27

	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.MemberID, commit.Generation = "m", 3
	committed := kmsg.NewPtrOffsetCommitResponse()
	committed.Topics = []kmsg.OffsetCommitResponseTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitResponseTopicPartition{{Partition: 0}, {Partition: 1, ErrorCode: 22}}}}

	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.MemberID = "m"
	gone := kmsg.NewPtrLeaveGroupResponse()
	gone.Members = []kmsg.LeaveGroupResponseMember{{MemberID: "m"}, {MemberID: "x", ErrorCode: 25}}

	h := &history.History{Faults: []history.Fault{{Kind: history.Restart, At: 1, Gone: 2, Until: 3}, {Kind: history.Pause, At: 4}}}
	call(h, 10, join, 9, refused)
	call(h, 20, join, 9, joined)
	call(h, 30, sync, 5, synced)
	call(h, 40, beat, 4, kmsg.NewPtrHeartbeatResponse())
	call(h, 50, beat, 4, late)
	call(h, 60, commit, 8, committed)
	call(h, 70, leave, 5, gone)
	call(h, 80, leave, 2, kmsg.NewPtrLeaveGroupResponse())
	call(h, 90, sync, 5, synced).Outcome = history.Lost

	owned := []ownership.Partition{"t/0", "t/1"}
	both := map[string][]ownership.Partition{"m": owned, "n": nil}
	want := []ownership.Event{
		{Kind: ownership.Restart, Began: 1, At: 3},
		{
			Kind: ownership.Joined, Began: 20, At: 21, Client: "c", Member: "m", Instance: "i", Generation: 3, Protocol: "cooperative-sticky", Cooperative: true, Leader: "m",
			Members: []string{"m", "n"}, Topics: []string{"s", "t"}, Owned: owned,
		},
		{Kind: ownership.Planned, At: 30, Client: "c", Member: "m", Generation: 3, Plan: both},
		{Kind: ownership.Synced, Began: 30, At: 31, Client: "c", Member: "m", Generation: 3, Partitions: owned},
		{Kind: ownership.Beat, Began: 40, At: 41, Client: "c", Member: "m", Generation: 3},
		{Kind: ownership.Commit, Began: 60, At: 61, Client: "c", Member: "m", Generation: 3, Partitions: owned[:1]},
		{Kind: ownership.Left, Began: 70, At: 71, Client: "c", Member: "m"},
		{Kind: ownership.Left, Began: 80, At: 81, Client: "c", Member: "m"},
		{Kind: ownership.Planned, At: 90, Client: "c", Member: "m", Generation: 3, Plan: both}, // what was sent may have had its effect
	}
	got := Events(h)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("event %d: got\n%+v\nwant\n%+v", i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}

// TestExcuse tells calls that have no answer since their client or the target was stopped from others.
func TestExcuse(t *testing.T) {
	g := Begin(Plan{Group: "g"}).group
	g.blind = []span{{client: "still", from: 10, to: 20}, {client: "killed", from: 50, everything: true}}
	h := &history.History{Faults: []history.Fault{{Kind: history.Restart, At: 30, Gone: 31, Until: 40}}}
	h.Calls = []history.Call{
		{Client: "still", Call: 5, Return: 12, Outcome: history.GivenUp},
		{Client: "still", Call: 21, Return: 25, Outcome: history.GivenUp},
		{Client: "other", Call: 5, Return: 12, Outcome: history.GivenUp},
		{Client: "killed", Call: 45, Return: 50, Outcome: history.Closed},
		{Client: "other", Call: 29, Return: 35, Outcome: history.Closed},
		{Client: "other", Call: 41, Return: 42, Outcome: history.Closed},
		{Client: "killed", Call: 45, Return: 46, Outcome: history.Answered},
		{Client: "other", Conn: 1, Call: 2, Return: 3, Outcome: history.Answered},
		{Client: "other", Conn: 1, Call: 47, Return: 48, Outcome: history.Closed},
		{Client: "other", Conn: 2, Call: 41, Return: 42, Outcome: history.Answered},
		{Client: "other", Conn: 2, Call: 47, Return: 48, Outcome: history.Closed},
	}
	for i := range h.Calls {
		if h.Calls[i].Conn == 0 {
			h.Calls[i].Conn = int64(10 + i)
		}
	}
	g.excuse(h)
	for i, want := range []history.Outcome{history.Lost, history.GivenUp, history.GivenUp, history.Lost, history.Lost, history.Closed, history.Answered, history.Answered, history.Lost, history.Answered, history.Closed} {
		if h.Calls[i].Outcome != want {
			t.Errorf("call %d of %s is %s, want %s", i, h.Calls[i].Client, h.Calls[i].Outcome, want)
		}
	}
}

// TestHappened counts a trigger once its effect is seen, and not before.
func TestHappened(t *testing.T) {
	event := func(kind ownership.Kind, client string, some ...ownership.Partition) ownership.Event {
		return ownership.Event{Kind: kind, Client: client, Member: client, Partitions: some}
	}
	joined := func(client, member string, topics ...string) ownership.Event {
		return ownership.Event{Kind: ownership.Joined, Client: client, Member: member, Topics: topics}
	}
	topic := func(name string, n int32) ownership.Event {
		return ownership.Event{Kind: ownership.Topic, Topic: name, Count: n}
	}
	static := func(client string) ownership.Event {
		e := joined(client, client)
		e.Instance = "i"
		return e
	}
	cooperative := joined("a", "a")
	cooperative.Cooperative = true
	absent := ownership.Event{Kind: ownership.Resumed, Client: "a", What: string(Absence)}
	changes := ownership.Event{Kind: ownership.Note, Client: "a", Topic: "u"}
	for trigger, test := range map[Trigger]struct{ cause, effect []ownership.Event }{
		Join:       {[]ownership.Event{event(ownership.Started, "a"), event(ownership.Started, "b"), event(ownership.Started, "c")}, []ownership.Event{event(ownership.Assigned, "c")}},
		Leave:      {[]ownership.Event{event(ownership.Left, "a")}, []ownership.Event{joined("b", "b")}},
		Crash:      {[]ownership.Event{event(ownership.Assigned, "a", "t/0", "t/1"), event(ownership.Revoked, "a", "t/1"), event(ownership.Crashed, "a"), event(ownership.Assigned, "b", "t/1")}, []ownership.Event{event(ownership.Assigned, "b", "t/0")}},
		Session:    {[]ownership.Event{event(ownership.Resumed, "a"), event(ownership.Lost, "b")}, []ownership.Event{event(ownership.Lost, "a")}},
		Poll:       {[]ownership.Event{joined("a", "a"), event(ownership.Note, "a")}, []ownership.Event{joined("a", "a2")}},
		Absence:    {[]ownership.Event{absent}, []ownership.Event{event(ownership.Lost, "a")}},
		Return:     {[]ownership.Event{static("a"), static("a")}, []ownership.Event{static("b")}},
		Subscribe:  {[]ownership.Event{joined("a", "a", "t"), changes, joined("a", "a", "t")}, []ownership.Event{joined("a", "a", "t", "u")}},
		Match:      {[]ownership.Event{topic("t", 1), event(ownership.Assigned, "a", "t/0"), topic("n", 2)}, []ownership.Event{event(ownership.Assigned, "a", "n/0", "n/1")}},
		Partitions: {[]ownership.Event{topic("t", 1), event(ownership.Assigned, "a", "t/0"), topic("t", 2)}, []ownership.Event{event(ownership.Assigned, "a", "t/1")}},
		Switch:     {[]ownership.Event{joined("a", "a")}, []ownership.Event{cooperative}},
	} {
		before := happened(&ownership.Log{Events: test.cause})
		after := happened(&ownership.Log{Events: append(test.cause, test.effect...)})
		if before[trigger] != 0 || after[trigger] != 1 {
			t.Errorf("%s: %d before its effect, %d after it", trigger, before[trigger], after[trigger])
		}
	}
	if len(Triggers()) != 11 {
		t.Errorf("there are %d triggers", len(Triggers()))
	}
}

// TestImpossible names what cannot happen on a target, with the reason.
func TestImpossible(t *testing.T) {
	plan := Plan{Static: true, Topics: nowhere{}}
	if not := plan.Impossible(); len(not) != 0 {
		t.Errorf("where all is possible: %v", not)
	}
	plan.Topics = nil
	if not := plan.Impossible(); len(not) != 3 || not[Match] == "" {
		t.Errorf("without topics: %v", not)
	}
	plan.Static = false
	r := Begin(plan).group
	order := r.order(false)
	if not := plan.Impossible(); len(not) != 5 || len(order) != len(Triggers())-1-5 {
		t.Errorf("without static members: %v, order %v", not, order)
	}
	if again := Begin(plan).group.order(false); !reflect.DeepEqual(order, again) {
		t.Errorf("one seed, two orders: %v and %v", order, again)
	}
}

type nowhere struct{ Topics }
