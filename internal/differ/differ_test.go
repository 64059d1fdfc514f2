package differ_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/differ"
	"github.com/muster-kafka/muster/model/classic"
)

const plenty = time.Minute // sequences bound the runs, not time

func impl(t *testing.T) target.Target {
	t.Helper()
	tg, err := embedded.New(embedded.Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

func openModel(release string, adjust func(*classic.Profile), broken ...classic.RuleID) (conformance.Chooser, error) {
	return model.New(model.Options{Name: "model:" + release, Adjust: adjust, Broken: broken}, nil)
}

func compare(t *testing.T, a, b target.Target, sequences int) differ.Report {
	t.Helper()
	rep := run(t, a, b, sequences)
	if rep.Counts.Sequences+rep.Counts.Unsayable != sequences {
		t.Fatalf("%+v: the run did not come to its end", rep.Counts)
	}
	return rep
}

func run(t *testing.T, a, b target.Target, sequences int) differ.Report {
	t.Helper()
	rep, err := differ.Run(t.Context(), differ.Options{
		A: a, B: b, Seed: 3, Budget: plenty, Sequences: sequences, Scout: impl(t), Model: openModel,
		NewScout: func(seed uint64) checker.Machine { return embedded.NewMachine(seed) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Open) > 0 {
		t.Fatalf("%+v: there was no time for what was found", rep.Counts)
	}
	return rep
}

func told(rep differ.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", rep.Counts)
	for _, c := range rep.Classes {
		fmt.Fprintf(&b, "%s [%s; %s; %s]\n  %s\n  A %s\n  B %s\n", c.Signature, c.Rule, c.Known, c.Note, strings.Join(c.Sequence.Lines, "\n  "), c.A, c.B)
	}
	return b.String()
}

// A coordinator does not differ from itself.
func TestNoneWithItself(t *testing.T) {
	rep := compare(t, impl(t), impl(t), 250)
	if len(rep.Classes)+rep.Counts.Unsteady > 0 {
		t.Errorf("%s", told(rep))
	}
	if rep.Counts.Unsayable > 0 {
		t.Errorf("%d drawn sequences are no scenarios", rep.Counts.Unsayable)
	}
	if rep.Counts.Requests < 10*rep.Counts.Sequences {
		t.Errorf("%d sequences have %d requests only", rep.Counts.Sequences, rep.Counts.Requests)
	}
	if len(rep.Leftover) > 0 {
		t.Errorf("groups are left behind: %v", rep.Leftover)
	}
}

// changed is a coordinator some of whose answers are changed on their way, or lost.
type changed struct {
	target.Target
	change func(kmsg.Response) (lost bool)
}

type changedConn struct {
	target.Conn
	change func(kmsg.Response) bool
	clock  target.Clock
}

func (c changed) Dial(ctx context.Context, id string) (target.Conn, error) {
	conn, err := c.Target.Dial(ctx, id)
	return changedConn{conn, c.change, c.Clock()}, err
}

func (c changedConn) Send(req kmsg.Request, version int16) *target.Call {
	call := c.Conn.Send(req, version)
	if call.Ended() {
		if resp, err := call.Answer(); err == nil && c.change(resp) {
			return target.NewCall(req, version, call.Sent)
		}
	}
	return call
}

var planted = []struct {
	name   string
	change func(kmsg.Response) bool
	verb   string
	lines  int // of the smallest sequence, at most
}{
	{
		"heartbeats of an old version are refused", func(r kmsg.Response) bool {
			if m, ok := r.(*kmsg.HeartbeatResponse); ok && m.Version == 1 && m.ErrorCode == 0 {
				m.ErrorCode = 25
			}
			return false
		}, "heartbeat", 3,
	},
	{
		"two members lead", func(r kmsg.Response) bool {
			if m, ok := r.(*kmsg.JoinGroupResponse); ok && m.ErrorCode == 0 && m.Generation > 1 {
				m.LeaderID = m.MemberID
			}
			return false
		}, "join", 6,
	},
	{
		"a leader's assignment is lost", func(r kmsg.Response) bool {
			if m, ok := r.(*kmsg.SyncGroupResponse); ok && len(m.MemberAssignment) > 0 {
				m.MemberAssignment = nil
			}
			return false
		}, "sync", 3,
	},
	{
		"a refused commit is never answered", func(r kmsg.Response) bool {
			m, ok := r.(*kmsg.OffsetCommitResponse)
			return ok && len(m.Topics) > 0 && len(m.Topics[0].Partitions) > 0 && m.Topics[0].Partitions[0].ErrorCode == 22
		}, "commit", 3,
	},
	{
		"offsets come back one too high", func(r kmsg.Response) bool {
			if m, ok := r.(*kmsg.OffsetFetchResponse); ok && len(m.Groups) > 0 && len(m.Groups[0].Topics) > 0 {
				m.Groups[0].Topics[0].Partitions[0].Offset++
			}
			return false
		}, "fetch", 2,
	},
}

// What is planted is found, and made small.
func TestFindsPlanted(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			rep := compare(t, impl(t), changed{impl(t), p.change}, 120)
			if len(rep.Classes) == 0 {
				t.Fatalf("not found: %s", told(rep))
			}
			for _, c := range rep.Classes {
				if c.Known != "" {
					t.Errorf("it counts as known: %s", told(rep))
				}
				if c.Verb == p.verb && len(c.Sequence.Lines) <= p.lines {
					return
				}
			}
			t.Errorf("no class of %s with at most %d lines:\n%s", p.verb, p.lines, told(rep))
		})
	}
}

// The same seed gives the same classes and sequences.
func TestSameSeedSameResult(t *testing.T) {
	once := func() string { return told(compare(t, impl(t), changed{impl(t), planted[2].change}, 60)) }
	if diff := cmp.Diff(once(), once()); diff != "" {
		t.Error(diff)
	}
}

// A difference that does not show again is no finding, and does not hide one that does.
func TestUnsteady(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rep := compare(t, impl(t), changed{impl(t), func(resp kmsg.Response) bool {
		if m, ok := resp.(*kmsg.DescribeGroupsResponse); ok && r.IntN(8) == 0 {
			m.Groups[0].State = "Dead"
		}
		return false
	}}, 100)
	if len(rep.Classes) > 0 || rep.Counts.Unsteady+rep.Counts.Choices == 0 {
		t.Errorf("%s", told(rep))
	}
}

// What the specification knows of two releases is explained by the point on which they differ.
func TestExplains(t *testing.T) {
	older, err := model.New(model.Options{Name: "model:3.9.2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rep := compare(t, impl(t), older, 150)
	rules := map[string]bool{}
	for _, c := range rep.Classes {
		if c.Known == "" {
			t.Errorf("unexplained: %s", told(rep))
		}
		rules[c.Rule] = true
	}
	for _, rule := range []string{"describe.rebalancing.assignment", "commit.duplicates"} {
		if !rules[rule] {
			t.Errorf("no class of %s:\n%s", rule, told(rep))
		}
	}
}

// A class is saved as a scenario that the one side passes and the other fails.
func TestSavedReplays(t *testing.T) {
	a, b := impl(t), changed{impl(t), planted[2].change}
	rep := compare(t, b, a, 60)
	if len(rep.Classes) == 0 {
		t.Fatal(told(rep))
	}
	dir := t.TempDir()
	if err := rep.Save(dir, b, a); err != nil {
		t.Fatal(err)
	}
	saved, err := conformance.Load(rep.Classes[0].File)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		tg   target.Target
		want conformance.Status
	}{{a, conformance.Pass}, {b, conformance.Fail}} {
		got, err := conformance.Suite{Scenarios: saved, OutDir: dir}.Run(t.Context(), one.tg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Results[0].Status != one.want {
			t.Errorf("%s: %v, want %v", rep.Classes[0].File, got.Results[0], one.want)
		}
	}
}
