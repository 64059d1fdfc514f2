package traffic_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/target"
)

// fake is a target on wall time whose answers are those of a function; nil is none.
type fake struct {
	virtual bool
	dial    error
	answer  func(req kmsg.Request) (kmsg.Response, error)

	mu      sync.Mutex
	open    map[*target.Call]bool
	busiest int
}

func (f *fake) Name() string        { return "fake" }
func (f *fake) Close() error        { return nil }
func (f *fake) Clock() target.Clock { return target.WallClock{} }
func (f *fake) Capabilities() target.Capabilities {
	versions := map[int16]target.VersionRange{}
	for _, key := range []int16{8, 9, 12, 13, 14, 15, 16, 42} {
		versions[key] = target.VersionRange{Max: 9}
	}
	versions[11] = target.VersionRange{Min: 4, Max: 6}
	return target.Capabilities{Virtual: f.virtual, Versions: versions}
}

func (f *fake) Dial(context.Context, string) (target.Conn, error) {
	if f.dial != nil {
		return nil, f.dial
	}
	return &conn{fake: f}, nil
}

type conn struct {
	fake  *fake
	mu    sync.Mutex
	calls []*target.Call
}

func (c *conn) Send(req kmsg.Request, version int16) *target.Call {
	call := target.NewCall(req, version, time.Now())
	f := c.fake
	f.mu.Lock()
	if f.open == nil {
		f.open = map[*target.Call]bool{}
	}
	f.open[call] = true
	f.busiest = max(f.busiest, len(f.open))
	f.mu.Unlock()
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	go func() {
		time.Sleep(time.Millisecond)
		if resp, err := f.answer(req); resp != nil || err != nil {
			f.finish(call, resp, err)
		}
	}()
	return call
}

func (f *fake) finish(call *target.Call, resp kmsg.Response, err error) {
	f.mu.Lock()
	delete(f.open, call)
	f.mu.Unlock()
	call.Finish(resp, err, time.Now())
}

func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		c.fake.finish(call, nil, target.ErrClosed)
	}
	return nil
}

func plan(calls int) traffic.Plan {
	return traffic.Plan{
		Setup: traffic.Setup{Seed: 1, Groups: []string{"g", "h"}, Clients: 6, Topic: "t"},
		Calls: calls, Patience: 50 * time.Millisecond, Overlap: 3,
	}
}

func recorder() *history.Recorder {
	return &history.Recorder{Clock: time.Now, Start: time.Now(), Groups: []string{"g", "h"}}
}

// stubborn answers each request with its empty answer: success for most.
func stubborn(req kmsg.Request) (kmsg.Response, error) { return req.ResponseKind(), nil }

func TestEveryCallIsRecorded(t *testing.T) {
	rec := recorder()
	f := &fake{answer: stubborn}
	p := plan(200)
	p.Patience = 30 * time.Second // on a machine that does much else
	if err := traffic.Drive(t.Context(), f, p, rec); err != nil {
		t.Fatal(err)
	}
	h := rec.History(history.Header{})
	if len(h.Calls) < 150 || len(h.Calls) > 200 {
		t.Errorf("%d calls, asked for 200", len(h.Calls))
	}
	for _, c := range h.Calls {
		if c.Outcome != history.Answered || c.Return < c.Call+int64(time.Millisecond) || len(c.Groups) == 0 {
			t.Errorf("%+v", c)
		}
		if c.Key == int16(kmsg.JoinGroup) && (c.Version < 4 || c.Version > 6) {
			t.Errorf("JoinGroup version %d, which the target does not offer", c.Version)
		}
	}
	if f.busiest > 6 {
		t.Errorf("%d calls were open at once in two groups that allow three each", f.busiest)
	}
}

func TestSameSeedSamePlan(t *testing.T) {
	setup := &traffic.Setup{Seed: 7, Groups: []string{"g", "h"}, Clients: 2, Topic: "t", Period: time.Second}
	steps := func() (all []string) {
		c := traffic.New(setup, 1)
		for i := range 200 {
			step := c.Next(time.Duration(i) * 5 * time.Millisecond)
			if step.Request != nil {
				c.Sent(step.Request)
				all = append(all, kmsg.NameForKey(step.Request.Key()), step.Pause.String())
				c.Answer(step.Request, step.Request.ResponseKind())
			}
		}
		return all
	}
	if diff := cmp.Diff(steps(), steps()); diff != "" {
		t.Error(diff)
	}
}

// TestBadTargets shows that a run ends, soon and with what it saw on record, whatever the target does.
func TestBadTargets(t *testing.T) {
	gone := errors.New("gone")
	for _, test := range []struct {
		name    string
		target  *fake
		err     string
		outcome history.Outcome
	}{
		{"never answers", &fake{answer: func(kmsg.Request) (kmsg.Response, error) { return nil, nil }}, "", history.GivenUp},
		{"closes every connection", &fake{answer: func(kmsg.Request) (kmsg.Response, error) { return nil, gone }}, "", history.Closed},
		{"refuses connections", &fake{dial: gone}, "cannot connect to fake: gone", ""},
		{"virtual", &fake{virtual: true}, "virtual time", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			rec := recorder()
			err := traffic.Drive(ctx, test.target, plan(100_000), rec)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if ctx.Err() != nil {
				t.Error("the run did not end by itself")
			}
			h := rec.History(history.Header{})
			if test.outcome != "" && len(h.Calls) == 0 {
				t.Error("nothing was recorded")
			}
			for _, c := range h.Calls {
				if c.Outcome != test.outcome {
					t.Errorf("call %d: %s, want %s", c.ID, c.Outcome, test.outcome)
				}
			}
		})
	}
}

// blaming says that all is its own doing.
type blaming struct{ lives atomic.Int64 }

func (b *blaming) Enter(ctx context.Context) (int64, error) { return b.lives.Add(1), ctx.Err() }
func (b *blaming) Blames(string, int64, time.Time) bool     { return true }

// TestBlamed shows that what was done on purpose is not held against the target, and that connections of a former life are not used.
func TestBlamed(t *testing.T) {
	for name, answer := range map[string]func(kmsg.Request) (kmsg.Response, error){
		"silence": func(kmsg.Request) (kmsg.Response, error) { return nil, nil },
		"closed":  func(kmsg.Request) (kmsg.Response, error) { return nil, errors.New("gone") },
	} {
		t.Run(name, func(t *testing.T) {
			rec := recorder()
			p := plan(300) // many are not begun: there is no room for more ids, as nobody says that one is gone
			p.Around, p.Patience = &blaming{}, 5*time.Millisecond
			if err := traffic.Drive(t.Context(), &fake{answer: answer}, p, rec); err != nil {
				t.Fatal(err)
			}
			h := rec.History(history.Header{})
			conns := map[int64]bool{}
			for _, c := range h.Calls {
				if c.Outcome != history.Lost {
					t.Errorf("call %d: %s, want %s", c.ID, c.Outcome, history.Lost)
				}
				if conns[c.Conn] {
					t.Errorf("call %d is on a connection of a former life", c.ID)
				}
				conns[c.Conn] = true
			}
			if len(h.Calls) < 60 { // ten are enough where the target is to blame, and each client may have two more open
				t.Errorf("only %d calls: the run ended as if the target were to blame", len(h.Calls))
			}
		})
	}
	refusing := &fake{dial: errors.New("gone")}
	p := plan(10)
	p.Around, p.Duration = &blaming{}, 50*time.Millisecond
	if err := traffic.Drive(t.Context(), refusing, p, recorder()); err != nil {
		t.Errorf("connections that are refused on purpose end the run: %v", err)
	}
}

// TestStop shows that a run that is told to stop ends each call that is open.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rec := recorder()
	asked := 0
	var mu sync.Mutex
	f := &fake{answer: func(req kmsg.Request) (kmsg.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked == 50 {
			cancel()
		}
		return req.ResponseKind(), nil
	}}
	if err := traffic.Drive(ctx, f, plan(100_000), rec); err != nil {
		t.Fatal(err)
	}
	for _, c := range rec.History(history.Header{}).Calls {
		if c.Outcome == history.Open {
			t.Errorf("call %d has no end", c.ID)
		}
	}
}
