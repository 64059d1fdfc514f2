package conformance_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// pausing is a right coordinator behind something that holds up each request of the group protocol for a while, in order.
type pausing struct{ target.Target }

func (p pausing) Dial(ctx context.Context, client string) (target.Conn, error) {
	c, err := p.Target.Dial(ctx, client)
	return &lateConn{c, p.Clock(), func(req kmsg.Request) time.Duration {
		switch req.(type) {
		case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest, *kmsg.HeartbeatRequest, *kmsg.LeaveGroupRequest, *kmsg.OffsetCommitRequest:
			return 200*time.Millisecond + rand.N(50*time.Millisecond)
		}
		return 0
	}}, err
}

// lateConn sends requests on after a pause.
type lateConn struct {
	target.Conn
	clock target.Clock
	pause func(kmsg.Request) time.Duration
}

func (c *lateConn) Send(req kmsg.Request, version int16) *target.Call {
	pause := c.pause(req)
	if pause <= 0 {
		return c.Conn.Send(req, version)
	}
	call := target.NewCall(req, version, c.clock.Now())
	time.AfterFunc(pause, func() {
		inner := c.Conn.Send(req, version)
		<-inner.Done()
		resp, err := inner.Answer()
		call.Finish(resp, err, c.clock.Now())
	})
	return call
}

// TestPausingCoordinator holds that a right coordinator which pauses is neither convicted nor called unsteady. Scenarios that let time pass
// are left out: there the pauses are no pauses but late timers.
func TestPausingCoordinator(t *testing.T) {
	if testing.Short() {
		t.Skip("waits in real time")
	}
	tg := opened(t, "impl+tcp")
	quick := slices.DeleteFunc(scenarios(t), func(s *conformance.Scenario) bool {
		return slices.ContainsFunc(s.File.Blocks, func(b *script.Block) bool {
			return slices.ContainsFunc(b.Commands, func(c script.Command) bool { return c.Verb == "advance" })
		})
	})
	rep, err := conformance.Suite{Scenarios: quick, Parallel: len(quick), OutDir: t.TempDir()}.Run(t.Context(), pausing{tg}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rep.Results {
		if r.Status != conformance.Pass && r.Status != conformance.Skip || r.Unsteady != nil {
			t.Errorf("%s: %s %s %v %v", r.Scenario, r.Status, r.Reason, r.Failures(), r.Unsteady)
		}
	}
	if n := rep.Count(conformance.Pass); n < 50 {
		t.Errorf("only %d scenarios were judged", n)
	}
}
