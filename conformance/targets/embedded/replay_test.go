package embedded_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// TestReplay judges histories of the reference over TCP twice: by what its clients saw, and by following the steps that it says it has taken, which takes no search. A
// run that its steps explain has to be legal. Then a step is changed, and has to be noticed.
func TestReplay(t *testing.T) {
	var mu sync.Mutex
	var steps []embedded.Step
	tg, err := embedded.NewTCP(t.Context(), embedded.Options{Watch: func(s embedded.Step) {
		mu.Lock()
		defer mu.Unlock()
		steps = append(steps, s)
	}})
	if err != nil {
		t.Fatal(err)
	}
	caps, start := tg.Capabilities(), time.Now()
	var histories []*history.History
	var work sync.WaitGroup
	for n := range 6 {
		groups := []string{fmt.Sprintf("replay-%d", 2*n), fmt.Sprintf("replay-%d", 2*n+1)}
		rec := &history.Recorder{Clock: time.Now, Start: start, Groups: groups}
		plan := traffic.Plan{
			Setup: traffic.Setup{
				Seed: uint64(n), Groups: groups, Clients: 8, Name: fmt.Sprintf("r%d", n), Topic: "t", Versions: caps.Versions, MinSession: caps.MinSession, MaxMetadata: 4096,
				Static: n%2 == 0, OffsetDelete: true, Period: 1500 * time.Millisecond,
			},
			Calls: 150, Duration: 5 * time.Second, Patience: 2 * time.Second, Overlap: 8,
		}
		work.Go(func() {
			if err := traffic.Drive(t.Context(), tg, plan, rec); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			histories = append(histories, rec.History(history.Header{
				Target: tg.Name(), Seed: uint64(n), Profile: "reference", MinSession: caps.MinSession, MaxSession: caps.MaxSession, NewMemberTimeout: 5 * time.Minute,
				MaxMetadata: 4096, Tick: 10 * time.Millisecond, Slack: 5 * time.Second, // of a machine that has other things to do
				Groups: groups, Topics: map[string]int32{"t": 3},
			}))
		})
	}
	work.Wait()
	if err := tg.Close(); err != nil {
		t.Error(err)
	}
	labels := make([]linearize.Label, len(steps))
	for i, s := range steps {
		labels[i] = linearize.Label{At: int64(s.At.Sub(start)), Request: s.Request, Timer: s.Timer, Answers: s.Answers}
	}
	calls := 0
	for _, h := range histories {
		calls += len(h.Calls)
		if err := linearize.Replay(h, labels); err != nil {
			t.Errorf("seed %d: %v", h.Header.Seed, err)
			continue
		}
		v, err := linearize.Check(t.Context(), h, linearize.Limits{Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if v.Result == linearize.Illegal {
			t.Errorf("seed %d: the steps explain what is called illegal", h.Header.Seed)
		}
	}
	t.Logf("%d calls in %d steps", calls, len(labels))
	if len(histories) > 0 {
		spoilSteps(t, histories[0], labels)
	}
}

// spoilSteps changes one step at a time, in a way that the specification cannot explain, and one answer of the history.
func spoilSteps(t *testing.T, h *history.History, labels []linearize.Label) {
	about := func(l *linearize.Label) bool {
		return l.Request != nil && slices.Contains(history.GroupsOf(l.Request.Message, h.Header.Groups), h.Header.Groups[0])
	}
	for _, test := range []struct {
		name, want string
		edit       func(all []linearize.Label, i int) bool
	}{
		{"an answer of another kind", "the answer to the Heartbeat", func(all []linearize.Label, i int) bool {
			l := &all[i]
			if !about(l) || len(l.Answers) != 1 {
				return false
			}
			hb, ok := l.Answers[0].Message.(*kmsg.HeartbeatResponse)
			if ok {
				changed := *hb
				changed.ErrorCode = 42
				l.Answers = []checker.Answer{{Ticket: l.Answers[0].Ticket, Message: &changed}}
			}
			return ok
		}},
		{"an answer that is not given", "should have been answered", func(all []linearize.Label, i int) bool {
			l := &all[i]
			if !about(l) || len(l.Answers) != 1 || l.Answers[0].Ticket != l.Request.Ticket || l.Request.Message.Key() != int16(kmsg.OffsetCommit) {
				return false
			}
			l.Answers = nil
			return true
		}},
		{"a timer that is early", "fired, and was not due", func(all []linearize.Label, i int) bool {
			l := &all[i]
			if l.Timer == nil || l.Timer.Group != h.Header.Groups[0] {
				return false
			}
			l.At = 0
			return true
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range labels {
				all := append([]linearize.Label(nil), labels...)
				if !test.edit(all, i) {
					continue
				}
				if err := linearize.Replay(h, all); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %s", err, test.want)
				}
				return
			}
			t.Skip("no such step")
		})
	}
}
