package campaign

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/consumers"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/target"
)

// panicky is a target that panics at a request. From then on every connection is closed before an answer, which clients may take for bad luck.
type panicky struct {
	*loading
	at int64
}

func (p *panicky) gone() bool { return p.asked.Load() >= p.at }

func (p *panicky) Dead() (string, bool) {
	return "starting\npanic: no protocol in common\n\ngoroutine 7 [running]:", p.gone()
}

func (p *panicky) Dial(context.Context, string) (target.Conn, error) { return panickyConn{p}, nil }

type panickyConn struct{ *panicky }

func (c panickyConn) Close() error { return nil }
func (c panickyConn) Send(req kmsg.Request, version int16) *target.Call {
	if c.gone() {
		call := target.NewCall(req, version, time.Now())
		call.Finish(nil, errors.New("closed"), time.Now())
		return call
	}
	return loadingConn{c.loading}.Send(req, version)
}

// TestTargetEnds lets the target end by itself in the middle: the campaign ends, and says why in the target's own words.
func TestTargetEnds(t *testing.T) {
	t.Parallel()
	report, err := Run(t.Context(), &panicky{&loading{}, 60}, Options{Seed: 3, Budget: time.Minute, Steps: 200, Parallel: 2, Profiles: []string{"reference"}, Out: t.TempDir()})
	var ended *endedError
	if !errors.As(err, &ended) || err.Error() != "the target ended by itself: panic: no protocol in common" {
		t.Errorf("error %v", err)
	}
	if report.Elapsed > time.Minute/2 || report.Convergence.Apart > 0 || report.Unknown > 0 {
		t.Errorf("%+v", report)
	}
}

// mortality is a target that is dead or not.
type mortality struct {
	target.Target
	dead atomic.Bool
}

func (m *mortality) Dead() (string, bool) { return "", m.dead.Load() }

// TestOutlived judges what was recorded around the end of a target: what was over before stands, and so does what is illegal. Silence afterwards accuses nobody.
func TestOutlived(t *testing.T) {
	alive := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		dead      bool
		ended     time.Time
		code      int16
		want      Report
		wantApart int
	}{
		"alive":               {false, alive.Add(time.Second), 25, Report{Groups: 1, Legal: 1}, 0},
		"over before":         {true, alive.Add(-time.Second), 25, Report{Groups: 1, Legal: 1}, 0},
		"over after":          {true, alive.Add(time.Second), 25, Report{Left: 1}, 0},
		"illegal, over after": {true, alive.Add(time.Second), 0, Report{Groups: 1, Illegal: 1}, 0},
		"illegal, alive":      {false, alive.Add(time.Second), 0, Report{Groups: 1, Illegal: 1}, 1},
	} {
		c := judging(t, "reference")
		m := &mortality{}
		m.dead.Store(test.dead)
		c.target, c.canary = m, &canary{around: c.around}
		c.life.alive = alive
		one := judged(1, beat(test.code))
		one.ended = test.ended
		one.healed = []traffic.Healed{{Group: "g", Result: traffic.Apart, Began: one.started, Took: time.Second}}
		c.look(t.Context(), t.Context(), one)
		if r := c.report; r.Groups != test.want.Groups || r.Legal != test.want.Legal || r.Illegal != test.want.Illegal || r.Left != test.want.Left || r.Convergence.Apart != test.wantApart {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestOwnedByNobody judges the ownership of a group whose target has ended: that it does not come to rest accuses nobody.
func TestOwnedByNobody(t *testing.T) {
	const second = int64(time.Second)
	log := &ownership.Log{Header: ownership.Header{Group: "g", Calm: time.Second}, Events: []ownership.Event{
		{Kind: ownership.Started, At: 1, Client: "a"},
		{Kind: ownership.Joined, At: 3, Client: "a", Member: "A", Generation: 1},
		{Kind: ownership.Quiet, At: 9 * second, Began: 7, Patient: true},
	}}
	for _, dead := range []bool{false, true} {
		m := &mortality{}
		m.dead.Store(dead)
		c := &campaign{o: Options{Out: t.TempDir(), Profiles: []string{"4.3.1"}}, target: m}
		c.report.Consumers.Triggers = map[consumers.Trigger]int{}
		c.owned(t.Context(), consumers.Plan{Seed: 7, Group: "g"}, &consumers.Result{Log: log}, false)
		if broken := c.report.Consumers.Broken > 0; broken == dead {
			t.Errorf("dead %v: %+v", dead, c.report.Consumers)
		}
	}
}

// TestMoreTime holds that more time is offered where there was too little of it, and nowhere else.
func TestMoreTime(t *testing.T) {
	for _, late := range []bool{false, true} {
		var r Report
		r.add(1, linearize.GroupVerdict{Group: "g", Reason: "why", Late: late}, "h.jsonl")
		if got := r.Reasons[0]; strings.Contains(got, "more time") != late || !strings.Contains(got, "h.jsonl") {
			t.Errorf("late %v: %q", late, got)
		}
	}
}
