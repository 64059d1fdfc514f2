package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/model/classic"
)

// Random walks leave a lot behind and keep next to nothing: the collector need not run for every 4 MB. A quarter of their time is saved so.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, name string) target.Target {
	t.Helper()
	var tgt target.Target
	var err error
	report := func(err error) { t.Error("reported:", err) }
	switch name {
	case "impl":
		tgt, err = embedded.New(embedded.Options{Seed: 1, Report: report})
	case "impl+tcp":
		tgt, err = embedded.NewTCP(t.Context(), embedded.Options{Report: report})
	case "impl+serve":
		tgt, err = embedded.NewServed(t.Context(), embedded.Options{Report: report})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tgt.Close(); err != nil {
			t.Error(err)
		}
	})
	if tgt.Name() != name || tgt.Capabilities().Release != embedded.Release {
		t.Errorf("target %q, release %q", tgt.Name(), tgt.Capabilities().Release)
	}
	return tgt
}

func dial(t *testing.T, tgt target.Target, clientID string) target.Conn {
	t.Helper()
	c, err := tgt.Dial(t.Context(), clientID)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func answer[T kmsg.Response](t *testing.T, tgt target.Target, call *target.Call) T {
	t.Helper()
	if !tgt.Clock().Await(t.Context(), call, 10*time.Second) {
		t.Fatalf("%T v%d: no answer", call.Request, call.Version)
	}
	resp, err := call.Answer()
	if err != nil {
		t.Fatalf("%T v%d: %v", call.Request, call.Version, err)
	}
	return resp.(T)
}

func join(group, member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 30_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
	return req
}

// A member's whole life, the same on virtual time and over a socket.
func TestLife(t *testing.T) {
	for _, name := range []string{"impl", "impl+tcp", "impl+serve"} {
		t.Run(name, func(t *testing.T) {
			tgt := open(t, name)
			group := tgt.Capabilities().Prefix + "g"
			c := dial(t, tgt, "client")
			first := answer[*kmsg.JoinGroupResponse](t, tgt, c.Send(join(group, ""), 9))
			if first.ErrorCode != 79 {
				t.Fatalf("first JoinGroup: error %d, want 79", first.ErrorCode)
			}
			id := first.MemberID
			joined := answer[*kmsg.JoinGroupResponse](t, tgt, c.Send(join(group, id), 9))
			if joined.ErrorCode != 0 || joined.Generation != 1 || joined.LeaderID != id || len(joined.Members) != 1 {
				t.Fatalf("second JoinGroup: %+v", joined)
			}
			sync := kmsg.NewPtrSyncGroupRequest()
			sync.Group, sync.MemberID, sync.Generation = group, id, 1
			sync.ProtocolType, sync.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
			sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: id, MemberAssignment: []byte("all")}}
			synced := answer[*kmsg.SyncGroupResponse](t, tgt, c.Send(sync, 5))
			if synced.ErrorCode != 0 || string(synced.MemberAssignment) != "all" {
				t.Fatalf("SyncGroup: %+v", synced)
			}
			commit := kmsg.NewPtrOffsetCommitRequest()
			commit.Group, commit.MemberID, commit.Generation = group, id, 1
			commit.Topics = []kmsg.OffsetCommitRequestTopic{{
				Topic: tgt.Capabilities().Topics["t"], Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 1, Offset: 5, LeaderEpoch: -1}},
			}}
			if r := answer[*kmsg.OffsetCommitResponse](t, tgt, c.Send(commit, 9)); r.Topics[0].Partitions[0].ErrorCode != 0 {
				t.Fatalf("OffsetCommit: %+v", r)
			}
			beat := kmsg.NewPtrHeartbeatRequest()
			beat.Group, beat.MemberID, beat.Generation = group, id, 1
			if r := answer[*kmsg.HeartbeatResponse](t, tgt, c.Send(beat, 4)); r.ErrorCode != 0 {
				t.Fatalf("Heartbeat: error %d", r.ErrorCode)
			}
			leave := kmsg.NewPtrLeaveGroupRequest()
			leave.Group, leave.Members = group, []kmsg.LeaveGroupRequestMember{{MemberID: id}}
			if r := answer[*kmsg.LeaveGroupResponse](t, tgt, c.Send(leave, 5)); r.ErrorCode != 0 || r.Members[0].ErrorCode != 0 {
				t.Fatalf("LeaveGroup: %+v", r)
			}
		})
	}
}

// A parked call ends at the virtual instant of the timer that ends it, and holds the next one on its connection.
func TestVirtualTime(t *testing.T) {
	tgt := open(t, "impl")
	clock := tgt.Clock()
	a, b := dial(t, tgt, "a"), dial(t, tgt, "b")
	start := clock.Now()
	first := answer[*kmsg.JoinGroupResponse](t, tgt, a.Send(join("g", ""), 3))
	parked := b.Send(join("g", ""), 3)
	behind := b.Send(join("other", ""), 9)
	if parked.Ended() || behind.Ended() {
		t.Fatal("the second member is to wait for the first, and what is behind it too")
	}
	if err := clock.Sleep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	joined := answer[*kmsg.JoinGroupResponse](t, tgt, parked)
	if joined.Generation != 2 || joined.LeaderID == first.MemberID {
		t.Errorf("after the silent member's session: %+v", joined)
	}
	if got := parked.Finished().Sub(start); got != 10*time.Second {
		t.Errorf("joined after %v, want the silent member's session, 10s", got)
	}
	if r := answer[*kmsg.JoinGroupResponse](t, tgt, behind); r.ErrorCode != 79 {
		t.Errorf("behind the parked call: error %d, want 79", r.ErrorCode)
	}
}

// The same seed and the same calls give the same answers.
func TestDeterminism(t *testing.T) {
	run := func(seed uint64) (log string) {
		tgt, err := embedded.New(embedded.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var calls []*target.Call
		for i := range 5 {
			calls = append(calls, dial(t, tgt, fmt.Sprint("c", i)).Send(join("g", ""), 3))
		}
		if err := tgt.Clock().Sleep(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			if call.Ended() {
				resp, _ := call.Answer()
				log += fmt.Sprintf("%v %x\n", call.Finished(), resp.AppendTo(nil))
			}
		}
		return log
	}
	if a, b := run(7), run(7); a != b || a == "" {
		t.Errorf("one seed, two runs:\n%s\n%s", a, b)
	}
	if run(7) == run(8) {
		t.Error("two seeds, one run")
	}
}

func TestClosing(t *testing.T) {
	tgt := open(t, "impl")
	a, b := dial(t, tgt, "a"), dial(t, tgt, "b")
	answer[*kmsg.JoinGroupResponse](t, tgt, a.Send(join("g", ""), 3))
	parked := b.Send(join("g", ""), 3)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]*target.Call{"parked": parked, "later": b.Send(join("g", ""), 3)} {
		if !call.Ended() {
			t.Fatalf("%s call on a closed connection has not ended", name)
		}
		if _, err := call.Answer(); !errors.Is(err, target.ErrClosed) {
			t.Errorf("%s call on a closed connection: %v", name, err)
		}
	}
	// The member is still there: the group waits for it to come back or to time out.
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{"g"}
	if r := answer[*kmsg.DescribeGroupsResponse](t, tgt, a.Send(describe, 5)); len(r.Groups[0].Members) != 2 {
		t.Errorf("after the disconnect: %+v", r.Groups[0])
	}
}

func TestVersionsThatAreNotServed(t *testing.T) {
	tgt := open(t, "impl")
	call := dial(t, tgt, "a").Send(kmsg.NewPtrOffsetCommitRequest(), 1)
	if _, err := call.Answer(); !call.Ended() || err == nil {
		t.Errorf("OffsetCommit v1: %v, want the connection closed", err)
	}
}

func TestSleepStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open(t, "impl").Clock().Sleep(ctx, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("Sleep under a cancelled context: %v", err)
	}
}

func TestMachine(t *testing.T) {
	m := embedded.NewMachine(1)
	m.Request(checker.Request{Ticket: 1, Message: join("g", ""), Version: 9, ClientID: "c"})
	out := m.Drain()
	if len(out.Answers) != 1 || len(out.Records) != 1 || out.Records[0] != (checker.Record{Group: "g", Kind: classic.GroupRecord}) {
		t.Fatalf("after the first JoinGroup: %+v", out)
	}
	id := out.Answers[0].Message.(*kmsg.JoinGroupResponse).MemberID
	timers := m.Timers()
	if len(timers) != 1 || timers[0].Kind != classic.SessionTimer || timers[0].Member != id || timers[0].Deadline.Sub(m.Now()) != 10*time.Second {
		t.Fatalf("timers: %+v", timers)
	}
	m.Advance(9 * time.Second)
	if len(m.Timers()) != 1 {
		t.Fatal("the pending timer has fired early")
	}
	m.Fire(timers[0])
	if len(m.Timers()) != 0 || !m.Now().Equal(timers[0].Deadline) {
		t.Fatalf("after firing: %v, %+v", m.Now(), m.Timers())
	}
	m.FailWrites(true)
	m.Request(checker.Request{Ticket: 2, Message: join("h", ""), Version: 3, ClientID: "c"})
	out = m.Drain()
	if len(out.Answers) != 1 || out.Answers[0].Message.(*kmsg.JoinGroupResponse).ErrorCode != 15 {
		t.Fatalf("a group whose record is not written: %+v", out)
	}
	m.Request(checker.Request{Ticket: 3, Message: join("h", ""), Version: 3, ClientID: "c"})
	if out = m.Drain(); out.Answers[0].Message.(*kmsg.JoinGroupResponse).ErrorCode != 0 {
		t.Fatalf("after the failed write: %+v", out)
	}
	if len(m.Reported()) > 0 {
		t.Error("reported:", m.Reported())
	}
}
