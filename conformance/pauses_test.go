package conformance_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// between is a target with something between it and its clients: what becomes of each request.
type between struct {
	target.Target
	send func(to target.Conn, req kmsg.Request, version int16) *target.Call
}

func (b between) Dial(ctx context.Context, client string) (target.Conn, error) {
	c, err := b.Target.Dial(ctx, client)
	return betweenConn{c, b.send}, err
}

type betweenConn struct {
	target.Conn
	send func(target.Conn, kmsg.Request, int16) *target.Call
}

func (c betweenConn) Send(req kmsg.Request, version int16) *target.Call {
	return c.send(c.Conn, req, version)
}

// late is the target behind something that holds requests up, each for as long as pause says, or until those before it that are held up have
// gone on: what pauses does not mix up their order.
func late(tg target.Target, pause func(kmsg.Request) time.Duration) between {
	clock := tg.Clock()
	var mu sync.Mutex
	last := make(chan struct{})
	close(last)
	return between{tg, func(to target.Conn, req kmsg.Request, version int16) *target.Call {
		d := pause(req)
		if d <= 0 {
			return to.Send(req, version)
		}
		call := target.NewCall(req, version, clock.Now())
		gone := make(chan struct{})
		mu.Lock()
		before := last
		last = gone
		mu.Unlock()
		time.AfterFunc(d, func() {
			<-before
			inner := to.Send(req, version)
			close(gone)
			<-inner.Done()
			resp, err := inner.Answer()
			call.Finish(resp, err, clock.Now())
		})
		return call
	}}
}

// pausing holds up the group protocol for a while.
func pausing(req kmsg.Request) time.Duration {
	switch req.(type) {
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest, *kmsg.HeartbeatRequest, *kmsg.LeaveGroupRequest, *kmsg.OffsetCommitRequest:
		return 200*time.Millisecond + rand.N(50*time.Millisecond)
	}
	return 0
}

// TestPausingCoordinator holds that a right coordinator which pauses is neither convicted nor called unsteady, unless it is
// this machine that stands still. Scenarios that let time pass are left out: there the pauses are no pauses but late timers.
func TestPausingCoordinator(t *testing.T) {
	if testing.Short() {
		t.Skip("waits in real time")
	}
	t.Parallel()
	tg := opened(t, "impl+tcp")
	quick := slices.DeleteFunc(scenarios(t), func(s *conformance.Scenario) bool {
		return slices.ContainsFunc(s.File.Blocks, func(b *script.Block) bool {
			return slices.ContainsFunc(b.Commands, func(c script.Command) bool { return c.Verb == "advance" })
		})
	})
	rep, err := conformance.Suite{Scenarios: quick, Parallel: len(quick), OutDir: t.TempDir()}.Run(t.Context(), late(tg, pausing), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rep.Results {
		if r.Status != conformance.Pass && r.Status != conformance.Skip || r.Unsteady != nil && !r.Unsteady.Stalled {
			t.Errorf("%s: %s %s %v %v", r.Scenario, r.Status, r.Reason, r.Failures(), r.Unsteady)
		}
	}
	if n := rep.Count(conformance.Pass); n < 50 {
		t.Errorf("only %d scenarios were judged", n)
	}
}
