package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
)

type actor struct {
	t    *testing.T
	tg   *model.Target
	name string
	id   string
}

func open(t *testing.T, name string, choose func(int) int) *model.Target {
	t.Helper()
	tg, err := model.New(model.Options{Name: name}, choose)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

func (a *actor) dial() target.Conn {
	a.t.Helper()
	c, err := a.tg.Dial(context.Background(), a.name)
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

func (a *actor) join(protocols ...string) *target.Call {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType = "g", a.id, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 10_000, 30_000
	for _, p := range protocols {
		one := kmsg.NewJoinGroupRequestProtocol()
		one.Name = p
		r.Protocols = append(r.Protocols, one)
	}
	return a.dial().Send(r, 9)
}

func joined(t *testing.T, c *target.Call) *kmsg.JoinGroupResponse {
	t.Helper()
	if !c.Ended() {
		t.Fatal("no answer")
	}
	resp, err := c.Answer()
	if err != nil {
		t.Fatal(err)
	}
	return resp.(*kmsg.JoinGroupResponse)
}

// enter goes through MEMBER_ID_REQUIRED and returns the second JoinGroup.
func (a *actor) enter(protocols ...string) *target.Call {
	a.t.Helper()
	a.id = joined(a.t, a.join(protocols...)).MemberID
	return a.join(protocols...)
}

func TestVirtualTimeExpelsTheSilent(t *testing.T) {
	tg := open(t, "", nil)
	ctx, clock := context.Background(), tg.Clock()
	a, b := &actor{t: t, tg: tg, name: "a"}, &actor{t: t, tg: tg, name: "b"}
	if got := joined(t, a.enter("range")); got.Generation != 1 || got.MemberID != "a-1" {
		t.Fatalf("first: %+v", got)
	}
	waits := b.enter("range")
	if clock.Await(ctx, waits, time.Hour) {
		t.Fatal("the second JoinGroup does not wait for the first member")
	}
	start := clock.Now()
	if err := clock.Sleep(ctx, 10*time.Second-time.Nanosecond); err != nil || waits.Ended() {
		t.Fatalf("a nanosecond early: %v, ended %v", err, waits.Ended())
	}
	if err := clock.Sleep(ctx, time.Second); err != nil {
		t.Fatal(err)
	}
	if got := joined(t, waits); got.Generation != 2 || len(got.Members) != 1 || got.LeaderID != b.id {
		t.Fatalf("after the first member's session: %+v", got)
	}
	if d := waits.Finished().Sub(start); d != 10*time.Second {
		t.Fatalf("answered after %v", d)
	}
	if d := clock.Now().Sub(start); d != 11*time.Second-time.Nanosecond {
		t.Fatalf("%v have passed", d)
	}
}

func TestConnectionServesOneRequestAtATime(t *testing.T) {
	tg := open(t, "model", nil)
	a, b := &actor{t: t, tg: tg, name: "a"}, &actor{t: t, tg: tg, name: "b"}
	a.enter("range")
	b.id = joined(t, b.join("range")).MemberID
	conn := b.dial()
	j := kmsg.NewPtrJoinGroupRequest()
	j.Group, j.MemberID, j.ProtocolType, j.SessionTimeoutMillis, j.RebalanceTimeoutMillis = "g", b.id, "consumer", 10_000, 30_000
	j.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	parked := conn.Send(j, 9)
	h := kmsg.NewPtrHeartbeatRequest()
	h.Group, h.MemberID = "g", b.id
	behind := conn.Send(h, 4)
	if parked.Ended() || behind.Ended() {
		t.Fatal("a request overtakes the parked one before it")
	}
	a.join("range")
	if !parked.Ended() || !behind.Ended() {
		t.Fatal("the connection is not served once its first request is answered")
	}
	if got, _ := behind.Answer(); got.(*kmsg.HeartbeatResponse).ErrorCode != 22 {
		t.Fatalf("heartbeat of generation 0: %+v", got)
	}
}

func TestClosedConnectionsEndTheirCallsOnly(t *testing.T) {
	tg := open(t, "model", nil)
	a, b := &actor{t: t, tg: tg, name: "a"}, &actor{t: t, tg: tg, name: "b"}
	a.enter("range")
	b.id = joined(t, b.join("range")).MemberID
	conn := b.dial()
	j := kmsg.NewPtrJoinGroupRequest()
	j.Group, j.MemberID, j.ProtocolType, j.SessionTimeoutMillis = "g", b.id, "consumer", 10_000
	j.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	call := conn.Send(j, 9)
	conn.Close()
	if _, err := call.Answer(); !call.Ended() || !errors.Is(err, target.ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
	if got := joined(t, a.join("range")); len(got.Members) != 2 {
		t.Fatalf("the coordinator forgot the member: %+v", got)
	}
	if late := conn.Send(j, 9); !late.Ended() {
		t.Fatal("a closed connection takes requests")
	}
}

// Three members vote x, y, y and x: a tie that only choose decides.
func TestChoicesAreAskedAndDecide(t *testing.T) {
	winner := func(pick int) string {
		asked := 0
		tg := open(t, "model", func(n int) int {
			if asked++; n < 2 {
				t.Fatalf("asked for one of %d", n)
			}
			return pick
		})
		a, b := &actor{t: t, tg: tg, name: "a"}, &actor{t: t, tg: tg, name: "b"}
		a.enter("x", "y")
		b.enter("y", "x")
		got := joined(t, a.join("x", "y"))
		if asked != 1 {
			t.Fatalf("asked %d times", asked)
		}
		tg.Reset(nil)
		if calls := a.dial(); calls == nil || !tg.Clock().Now().Equal(time.Unix(0, 0)) {
			t.Fatal("Reset does not start anew")
		}
		return *got.Protocol
	}
	if one, other := winner(0), winner(1); one == other {
		t.Fatalf("both choices elect %s", one)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ name, release, fails string }{
		{"", "4.3.1", ""},
		{"model", "4.3.1", ""},
		{"model:3.9.2", "3.9.2", ""},
		{"model:reference", "reference", ""},
		{"model:2.8", "2.8.2", ""},
		{"model:3.9+java", "3.9.2+java", ""},
		{"model:2.3.1", "", "from 2.4 to 4.4"},
		{"model:", "", "is called"},
		{"model:new", "", "not a Kafka release"},
		{"model:3.10.0", "", "from 2.4 to 4.4"},
		{"model:4.5.0", "", "from 2.4 to 4.4"},
		{"model:9.9.9", "", "from 2.4 to 4.4"},
		{"kafka", "", "is called"},
	} {
		tg, err := model.New(model.Options{Name: c.name}, nil)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v", c.name, err)
			}
		case err != nil:
			t.Errorf("%q: %v", c.name, err)
		default:
			if got := tg.Capabilities(); got.Release != c.release || !got.Virtual || got.Topics["t"] == "" {
				t.Errorf("%q: %+v", c.name, got)
			}
		}
	}
}

func TestVersionsAreThoseOfTheRelease(t *testing.T) {
	scala, java := open(t, "model:3.9.2", nil).Capabilities().Versions, open(t, "model", nil).Capabilities().Versions
	for _, c := range []struct {
		key         kmsg.Key
		scala, java target.VersionRange
	}{
		{kmsg.OffsetCommit, target.VersionRange{Min: 1, Max: 9}, target.VersionRange{Min: 2, Max: 9}},
		{kmsg.DescribeGroups, target.VersionRange{Max: 5}, target.VersionRange{Max: 6}},
		{kmsg.FindCoordinator, target.VersionRange{Max: 6}, target.VersionRange{Max: 6}},
	} {
		if scala[int16(c.key)] != c.scala || java[int16(c.key)] != c.java {
			t.Errorf("%s: %v, %v", c.key.Name(), scala[int16(c.key)], java[int16(c.key)])
		}
	}
	old := open(t, "model:2.8.1", nil).Capabilities().Versions
	if old[int16(kmsg.OffsetFetch)].Max != 7 || old[int16(kmsg.JoinGroup)].Max != 7 || old[int16(kmsg.FindCoordinator)].Max != 3 {
		t.Errorf("2.8.1: %v", old)
	}
	a := &actor{t: t, tg: open(t, "model", nil), name: "a"}
	call := a.dial().Send(kmsg.NewPtrDescribeGroupsRequest(), 7)
	if _, err := call.Answer(); err == nil || !strings.Contains(err.Error(), "0 to 6, not 7") {
		t.Errorf("a version that is not offered: %v", err)
	}
}
