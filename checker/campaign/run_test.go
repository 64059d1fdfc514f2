package campaign

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/conformance/target"
)

// loading is a target that answers every request that it loads the group, but for each tenth, whose connection it closes.
type loading struct{ asked atomic.Int64 }

func (*loading) Name() string        { return "loading" }
func (*loading) Close() error        { return nil }
func (*loading) Clock() target.Clock { return target.WallClock{} }
func (*loading) Capabilities() target.Capabilities {
	versions := map[int16]target.VersionRange{}
	for key, most := range map[int16]int16{8: 9, 9: 7, 11: 9, 12: 4, 13: 5, 14: 5, 15: 5, 16: 4, 42: 2} {
		versions[key] = target.VersionRange{Max: most}
	}
	return target.Capabilities{Versions: versions, MinSession: 10 * time.Millisecond, MaxSession: time.Minute, Topics: map[string]string{"t": "t"}}
}

func (l *loading) Dial(context.Context, string) (target.Conn, error) { return loadingConn{l}, nil }

type loadingConn struct{ *loading }

func (c loadingConn) Close() error { return nil }
func (c loadingConn) Send(req kmsg.Request, version int16) *target.Call {
	call := target.NewCall(req, version, time.Now())
	resp := kmsg.ResponseForKey(req.Key())
	resp.SetVersion(version)
	const code = 14
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		r.ErrorCode = code
	case *kmsg.HeartbeatResponse:
		r.ErrorCode = code
	case *kmsg.DescribeGroupsResponse:
		for _, name := range req.(*kmsg.DescribeGroupsRequest).Groups {
			g := kmsg.NewDescribeGroupsResponseGroup()
			g.Group, g.ErrorCode = name, code
			r.Groups = append(r.Groups, g)
		}
	}
	var err error
	if c.asked.Add(1)%10 == 0 {
		resp, err = nil, errors.New("closed")
	}
	call.Finish(resp, err, time.Now())
	return call
}

// ours is one that Muster has started.
type ours struct{ *loading }

func (ours) Crash() error                  { return nil }
func (ours) Recover(context.Context) error { return nil }

// TestNotServing runs a campaign on a target that does not serve. Of a broker of our own that proves nothing; of somebody else's it does.
func TestNotServing(t *testing.T) {
	for name, test := range map[string]struct {
		target  target.Target
		illegal int
		stalled int
	}{"ours": {ours{&loading{}}, 0, 1}, "somebody else's": {&loading{}, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // clients try to heal for seconds
			report, err := Run(t.Context(), test.target, Options{Seed: 3, Budget: time.Minute, Groups: 1, Steps: 30, Parallel: 1, Profiles: []string{"reference"}, Out: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if report.Illegal != test.illegal || report.Stalled != test.stalled || report.Legal > 0 {
				t.Errorf("%+v", report)
			}
			if report.Made < 20 || report.NotAnswered == 0 || report.Answered+report.NotAnswered != report.Made {
				t.Errorf("of %d calls %d were answered and %d not", report.Made, report.Answered, report.NotAnswered)
			}
		})
	}
}

// TestCanaryNotServed lets the canary see that the target does not serve: all that goes on then is concerned.
func TestCanaryNotServed(t *testing.T) {
	c := judging(t, "reference")
	c.target, c.caps = &loading{}, (&loading{}).Capabilities()
	c.canary = newCanary(c)
	one := begun("k")
	c.around.join(one)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	done := make(chan struct{})
	go func() { defer close(done); c.canary.watch(ctx) }()
	moved := func() bool {
		c.around.mu.Lock()
		defer c.around.mu.Unlock()
		return one.moved
	}
	for !moved() && ctx.Err() == nil {
		wait(ctx, time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Error("it has not noticed")
	}
	stop()
	<-done
}

// TestSlackOfDisturbed puts histories together. Where requests are held back on purpose, all may be later by as much.
func TestSlackOfDisturbed(t *testing.T) {
	c := judging(t, "reference")
	c.target = &loading{}
	c.canary = &canary{around: c.around}
	for _, disturbed := range []bool{false, true} {
		one := begun("k")
		one.disturbed = disturbed
		c.finish(one, one.rec.History(history.Header{}), time.Now())
		want := c.o.Slack
		if disturbed {
			want += longestHold
		}
		if h := one.history.Header; h.Slack != want || h.Format != history.Format || h.Stall != 0 {
			t.Errorf("disturbed %v: %+v", disturbed, h)
		}
	}
}

// fenced is a target that its controller has just taken for dead.
type fenced struct{ loading }

func (*fenced) Fenced() bool { return true }

// TestFenced throws away what was made while the target was taken for dead: the history that ends, and those that go on.
func TestFenced(t *testing.T) {
	c := judging(t, "reference")
	c.canary = &canary{around: c.around}
	for _, dead := range []bool{false, true} {
		c.target = &loading{}
		if dead {
			c.target = &fenced{}
		}
		one, other := begun("k"), begun("l")
		c.around.join(other)
		c.finish(one, one.rec.History(history.Header{}), time.Now())
		if one.moved != dead || other.moved != dead {
			t.Errorf("taken for dead %v: thrown away are %v and %v", dead, one.moved, other.moved)
		}
	}
}

// TestSlackOfAStall puts a history together in which the target stood still by itself for longer than the slack: a timer may have done so too.
func TestSlackOfAStall(t *testing.T) {
	for _, stall := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond} {
		c := judging(t, "reference")
		c.target, c.o.Slack = &loading{}, 100*time.Millisecond
		c.canary = &canary{around: c.around}
		one := begun("k")
		now := time.Now()
		one.started, one.disturbed = now.Add(-time.Second), false
		one.rec.Start = one.started
		c.canary.saw(now.Add(-time.Millisecond), stall)
		c.finish(one, one.rec.History(history.Header{}), now)
		want := c.o.Slack
		if stall > c.o.Slack {
			want += stall
		}
		if got := one.history.Header.Slack; got != want {
			t.Errorf("with a stall of %v the slack is %v, want %v", stall, got, want)
		}
	}
}
