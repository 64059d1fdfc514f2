package kafka

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/muster-kafka/muster/conformance/targets/wire"
	"github.com/muster-kafka/muster/internal/kafka"
	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// TestParkedRequestsHoldNobody joins a second member, whose JoinGroup is parked until the first rejoins, and sees that others are
// served meanwhile by a broker that has one thread of each kind.
func TestParkedRequestsHoldNobody(t *testing.T) {
	const version = "4.3.1"
	kafkatest.Need(t, version)
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	start := time.Now()
	tg, err := Open(ctx, version, "", Options{Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	}()
	caps := tg.Capabilities()
	t.Logf("open after %v: %+v; %+v", time.Since(start), caps, tg.Findings())
	if tg.Name() != "kafka:4.3.1" || caps.Release != version || caps.MinSession != 10*time.Millisecond || caps.InitialDelay != 0 || caps.Profile != "default" {
		t.Errorf("name %q, capabilities %+v", tg.Name(), caps)
	}
	send := func(client string, req kmsg.Request, version int16) func(wait time.Duration) kmsg.Response {
		c, err := tg.Dial(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		call := c.Send(req, version)
		return func(wait time.Duration) kmsg.Response {
			if !tg.Clock().Await(ctx, call, wait) {
				return nil
			}
			resp, err := call.Answer()
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
	}
	join := func(member string) *kmsg.JoinGroupRequest {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group, req.MemberID = caps.Prefix+"g", member
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 20000, 20000
		req.ProtocolType = "consumer"
		req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
		return req
	}
	const answer = 10 * time.Second
	a, ok := send("A", join(""), 3)(answer).(*kmsg.JoinGroupResponse) // version 3 needs no second round
	if !ok || a.ErrorCode != 0 {
		t.Fatalf("A joins: %+v", a)
	}
	b := send("B", join(""), 3)
	if resp := b(caps.Settle); resp != nil {
		t.Fatalf("B is not parked: %+v", resp)
	}
	hb := kmsg.NewPtrHeartbeatRequest()
	hb.Group, hb.MemberID, hb.Generation = caps.Prefix+"g", a.MemberID, a.Generation
	beat, ok := send("A", hb, 3)(answer).(*kmsg.HeartbeatResponse)
	if !ok || beat.ErrorCode != 27 { // REBALANCE_IN_PROGRESS
		t.Fatalf("A's heartbeat while B is parked: %+v", beat)
	}
	if resp := send("A", join(a.MemberID), 3)(answer); resp == nil {
		t.Fatal("A's rejoin is not answered")
	}
	if resp, ok := b(answer).(*kmsg.JoinGroupResponse); !ok || resp.ErrorCode != 0 {
		t.Fatalf("B joins: %+v", resp)
	}
}

func TestUnknownProfile(t *testing.T) {
	if _, err := Open(context.Background(), "4.3.1", "nonsense", Options{}); err == nil {
		t.Fatal("an unknown profile was accepted")
	}
}

// TestForeign opens a broker with Kafka's own defaults as a stranger would, and sees that the run leaves nothing there.
func TestForeign(t *testing.T) {
	const version = "4.3.1"
	kafkatest.Need(t, version)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	b, err := kafka.Start(ctx, kafka.Options{Version: version, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	start := time.Now()
	tg, err := wire.Open(ctx, wire.Options{Addr: b.Addr})
	if err != nil {
		t.Fatal(err)
	}
	caps := tg.Capabilities()
	t.Logf("open after %v; %+v", time.Since(start), tg.Findings())
	if caps.MinSession != 6*time.Second || caps.InitialDelay != 3*time.Second || caps.Scale != 1 || caps.MaxGroups != 20 || caps.Release != "" {
		t.Errorf("capabilities %+v", caps)
	}
	c, err := tg.Dial(ctx, "A")
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group = caps.Prefix + "g"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 6000, 6000
	req.ProtocolType = "consumer"
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
	call := c.Send(req, 3)
	if !tg.Clock().Await(ctx, call, 10*time.Second) {
		t.Fatal("JoinGroup is not answered")
	}
	if took := call.Finished().Sub(call.Sent); took < 2900*time.Millisecond {
		t.Errorf("the first JoinGroup took %v with an initial delay of 3 s", took)
	}
	if err := tg.Close(); err != nil {
		t.Error(err)
	}
	left, err := wire.Cleanup(ctx, wire.Options{Addr: b.Addr}, caps.Prefix)
	if err != nil || len(left.Groups)+len(left.Topics) != 0 {
		t.Errorf("Close had left %+v (%v)", left, err)
	}
}
