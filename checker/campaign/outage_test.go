package campaign

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/target"
)

// somebodys is a target that is not ours. Its connections end with the life in which they were dialled, and each that is asked when it is weary.
type somebodys struct {
	loading
	life  atomic.Int64 // odd: it is away
	weary func(n int64) bool
	sent  atomic.Int64
}

func (s *somebodys) Capabilities() target.Capabilities {
	caps := s.loading.Capabilities()
	caps.MaxGroups = 20
	return caps
}

func (s *somebodys) Dial(context.Context, string) (target.Conn, error) {
	life := s.life.Load()
	if life%2 == 1 {
		return nil, errors.New("refused")
	}
	return &somebodysConn{s, life, false}, nil
}

type somebodysConn struct {
	*somebodys
	life   int64
	closed bool
}

func (*somebodysConn) Close() error { return nil }

func (c *somebodysConn) Send(req kmsg.Request, version int16) *target.Call {
	call := target.NewCall(req, version, time.Now())
	n := c.sent.Add(1)
	if c.closed = c.closed || c.life != c.somebodys.life.Load() || c.weary != nil && c.weary(n); c.closed {
		call.Finish(nil, target.ErrClosed, time.Now())
		return call
	}
	call.Finish(kmsg.NewPtrDescribeGroupsResponse(), nil, time.Now())
	return call
}

// seen is what the canary sees of a target until it has been answered again after what is done.
func seen(t *testing.T, s *somebodys, do func(answered func())) *Outage {
	t.Helper()
	c := judging(t, "reference")
	c.target, c.caps = s, s.Capabilities()
	c.canary = newCanary(c)
	c.canary.pause = time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	began := time.Now()
	go func() { defer close(done); c.canary.watch(ctx) }()
	answered := func() {
		now := time.Now()
		c.settled(ctx, now)
		c.canary.mu.Lock()
		defer c.canary.mu.Unlock()
		if c.canary.alive.Before(now) {
			t.Error("the canary is not answered")
		}
	}
	answered()
	do(answered)
	stop()
	<-done
	return c.canary.away().report(began)
}

// TestCanarySeesRestart holds that the canary sees a target of somebody's go and come back, however fast, and takes nothing else for that.
func TestCanarySeesRestart(t *testing.T) {
	t.Parallel()
	slow := &somebodys{}
	if o := seen(t, slow, func(answered func()) {
		slow.life.Add(1)
		wait(t.Context(), 20*time.Millisecond)
		slow.life.Add(1)
		answered()
	}); o == nil || !o.Refused || o.Until <= o.From {
		t.Errorf("away for a while: %+v", o)
	}
	fast := &somebodys{}
	if o := seen(t, fast, func(answered func()) {
		fast.life.Add(2)
		answered()
	}); o == nil || o.Refused || o.Until <= o.From {
		t.Errorf("back at once: %+v", o)
	}
	weary := &somebodys{weary: func(n int64) bool { return n%5 == 0 }}
	if o := seen(t, weary, func(answered func()) {
		for range 20 {
			answered()
		}
	}); o != nil {
		t.Errorf("one connection after the other is closed: %+v", o)
	}
	gone := &somebodys{}
	if o := seen(t, gone, func(func()) {
		gone.life.Add(1)
		wait(t.Context(), 100*time.Millisecond)
	}); o == nil || o.Until != 0 {
		t.Errorf("gone for good: %+v", o)
	}
}

// TestInterrupted judges a history in which a group is forgotten when the target goes away: by what came before alone, so that it is right, unless it was wrong before.
func TestInterrupted(t *testing.T) {
	for name, test := range map[string]struct {
		theirs        bool
		before, after int16
		want          Report
	}{
		"nothing is lost":       {true, unknownMember, unknownMember, Report{Groups: 1, Calls: 1, Legal: 1}},
		"lost":                  {true, unknownMember, 0, Report{Groups: 1, Calls: 1, Legal: 1}},
		"wrong before":          {true, 0, unknownMember, Report{Groups: 1, Calls: 1, Illegal: 1}},
		"it is not to go away":  {false, unknownMember, 0, Report{Groups: 1, Calls: 2, Illegal: 1}},
		"wrong, and not theirs": {false, 0, unknownMember, Report{Groups: 1, Calls: 2, Illegal: 1}},
	} {
		c := judging(t, "reference")
		c.target, c.ready = &loading{}, make(chan *cell, 1)
		if test.theirs {
			c.caps.MaxGroups = 20
		}
		one := judged(7, beat(test.before), beat(test.after))
		at := func(ms int) time.Time { return one.started.Add(time.Duration(ms) * time.Millisecond) }
		one.ended, one.healed = at(5), []traffic.Healed{{Group: "g", Result: traffic.Apart}}
		c.canary = &canary{target: c.target, around: c.around, alive: at(9), outage: outage{from: at(2), until: at(2)}}
		c.interrupted(t.Context(), one)
		c.caps.MaxGroups = 0 // nothing is to be tidied
		c.handOver(t.Context(), one, false)
		c.look(t.Context(), t.Context(), <-c.ready)
		if got, want := c.report, test.want; got.Groups != want.Groups || got.Calls != want.Calls || got.Legal != want.Legal || got.Illegal != want.Illegal || got.Convergence.Apart > 0 && test.theirs {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if o := c.canary.away(); (o.Cut == 1) != test.theirs {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestForgotten holds that it is told where a member that there was is unknown afterwards, and not of one that nobody has had.
func TestForgotten(t *testing.T) {
	joined := func(id string) func(*history.Recorder, int64) {
		return func(rec *history.Recorder, until int64) {
			req, resp := kmsg.NewPtrJoinGroupRequest(), kmsg.NewPtrJoinGroupResponse()
			req.Group, resp.MemberID = "g", id
			rec.Finish(rec.Begin("c", 1, req, 5), resp, history.Answered, "", until)
		}
	}
	for id, want := range map[string]bool{"nobody": true, "another": false} {
		one := judged(7, joined(id), beat(unknownMember))
		if got := forgotten(one.history, cutOpen(one.history, int64(2*time.Millisecond)), int64(2*time.Millisecond)); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}

// TestOutageDoubts holds that a campaign in which the target went away does not pass, and says why, and what else it may have been.
func TestOutageDoubts(t *testing.T) {
	r := Report{Groups: 100, Legal: 100, Outage: &Outage{From: 3 * time.Second, Until: 3500 * time.Millisecond, Refused: true, Cut: 5, Unknown: 4}}
	doubts := strings.Join(r.Doubts(Faults{}), "\n")
	for _, want := range []string{
		"started again during the campaign, and not by Muster: 3.0 s after its beginning all connections to it broke at once, it took no new ones until 3.5 s",
		"in 4 of the 5 histories that were at work members were unknown afterwards", "kafka:VERSION, impl+serve", "because of what it was sent",
	} {
		if !strings.Contains(doubts, want) {
			t.Errorf("nothing is said of %q:\n%s", want, doubts)
		}
	}
	r.Left = 100
	if all := r.Doubts(Faults{Connections: true}); strings.Contains(strings.Join(all, "\n"), "more budget") {
		t.Errorf("what had no time is put down to the budget: %q", all)
	}
	r.Outage, r.Left = nil, 0
	if all := r.Doubts(Faults{}); len(all) > 0 {
		t.Error(all)
	}
}
