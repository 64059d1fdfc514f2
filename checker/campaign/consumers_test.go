package campaign

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/consumers"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/ownership"
)

// TestConsumerDoubts holds that nothing of what was asked of real consumers passes by default.
func TestConsumerDoubts(t *testing.T) {
	good := func() Consumers {
		return Consumers{Groups: 3, Rests: 5, Asked: []consumers.Trigger{consumers.Join, consumers.Crash}, Triggers: map[consumers.Trigger]int{consumers.Join: 2, consumers.Crash: 1}}
	}
	for _, test := range []struct {
		name string
		edit func(*Consumers)
		want string // part of a doubt; empty: none
	}{
		{"all is well", func(*Consumers) {}, ""},
		{"none were asked for", func(r *Consumers) { *r = Consumers{} }, ""},
		{"no group", func(r *Consumers) { r.Groups, r.Rests = 0, 0 }, "no group of real consumers was at work"},
		{"none at rest", func(r *Consumers) { r.Rests = 0 }, "no group of real consumers was seen at rest"},
		{"none at rest, for a reason", func(r *Consumers) { r.Rests, r.Broken = 0, 1 }, ""},
		{"a trigger that never happened", func(r *Consumers) { delete(r.Triggers, consumers.Crash) }, `"member-crashes" was to happen to consumers and never did`},
		{"a group that could not work", func(r *Consumers) { r.Problems = []string{"could not work: no topic"} }, "could not work: no topic"},
	} {
		r := good()
		test.edit(&r)
		doubts := strings.Join(r.Doubts(), "\n")
		if test.want == "" && doubts != "" || !strings.Contains(doubts, test.want) {
			t.Errorf("%s: doubts %q, want %q", test.name, doubts, test.want)
		}
	}
}

// TestOwned hands in a group in which a partition is owned twice and that does not come to rest: both are told with the log that shows them, and
// where the machine stood still the latter says nothing. Where the specification explains all that was answered, the latter is the consumers' own.
func TestOwned(t *testing.T) {
	const second = int64(time.Second)
	log := &ownership.Log{Header: ownership.Header{Group: "g", Calm: time.Second}, Events: []ownership.Event{
		{Kind: ownership.Started, At: 1, Client: "a"},
		{Kind: ownership.Started, At: 2, Client: "b"},
		{Kind: ownership.Joined, At: 3, Client: "a", Member: "A", Generation: 1},
		{Kind: ownership.Joined, At: 3, Client: "b", Member: "B", Generation: 1},
		{Kind: ownership.Assigned, At: 4, Client: "a", Member: "A", Generation: 1, Partitions: []ownership.Partition{"t/0"}},
		{Kind: ownership.Assigned, At: 5, Client: "b", Member: "B", Generation: 1, Partitions: []ownership.Partition{"t/0"}},
		{Kind: ownership.Joined, At: 6, Client: "b", Member: "B", Generation: 2},
		{Kind: ownership.Quiet, At: 9 * second, Began: 7, Patient: true},
	}}
	legal := &history.History{Header: history.Header{
		Format: history.Format, Groups: []string{"g"}, MinSession: 1, MaxSession: time.Hour, NewMemberTimeout: time.Minute, MaxMetadata: 4096, Slack: time.Second, Ran: time.Minute,
	}}
	beat, answer := kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrHeartbeatResponse()
	beat.Group, answer.ErrorCode = "g", 25 // UNKNOWN_MEMBER_ID: there is no such group
	legal.Calls = []history.Call{{
		ID: 1, Groups: legal.Header.Groups, Client: "a", Key: beat.Key(), Version: 4, Request: history.EncodeRequest(beat, 4), Response: history.EncodeResponse(answer, 4),
		Outcome: history.Answered, Call: 1, Return: 2,
	}}
	for _, test := range []struct {
		stood        bool
		history      *history.History
		broken, told int
		unrested     int
		doubts       int
	}{{false, nil, 2, 2, 0, 0}, {true, nil, 1, 1, 1, 0}, {false, legal, 1, 1, 0, 1}} {
		dir := t.TempDir()
		c := &campaign{o: Options{Out: dir, Profiles: []string{"4.3.1"}}}
		c.report.Consumers.Triggers = map[consumers.Trigger]int{}
		plan := consumers.Plan{Seed: 7, Group: "g"}
		for range 2 { // of the second group the same is counted, and not told again
			c.owned(t.Context(), plan, &consumers.Result{Log: log, History: test.history, Happened: map[consumers.Trigger]int{consumers.Join: 3}}, test.stood)
		}
		r := c.report.Consumers
		if r.Groups != 2 || r.Broken != 2*test.broken || len(r.Failures) != test.told || r.Unrested != 2*test.unrested || r.Triggers[consumers.Join] != 6 || len(r.Problems) != 2*test.doubts {
			t.Fatalf("stood still %v: %+v", test.stood, r)
		}
		f := r.Failures[0]
		if f.Rule.ID != ownership.Once || f.Replay != "muster check "+f.File || !strings.Contains(f.Text, f.Replay) || !strings.Contains(f.Text, "who owned t/0") {
			t.Errorf("told is %+v", f)
		}
		if _, err := os.Stat(f.File); err != nil {
			t.Error(err)
		}
	}
}

// dropping are topics that can be deleted.
type dropping struct{ consumers.Topics }

func (dropping) Delete(context.Context, ...string) error { return errors.New("deleted") }

// TestKept holds that a coordinator which removes groups when a topic is deleted is not asked to delete any while histories are made.
func TestKept(t *testing.T) {
	for profile, stay := range map[string]bool{"3.9.2": true, "scala": true, "3.9.2+java": false, "4.3.1": false, "reference": false} {
		c := judging(t, profile)
		if got := c.keeping(dropping{}).Delete(t.Context(), "t") == nil; got != stay {
			t.Errorf("%s: topics stay %v, want %v", profile, got, stay)
		}
		if c.keeping(nil) != nil {
			t.Errorf("%s: topics where there are none", profile)
		}
	}
}
