package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/conformance/target"
)

// judging is a campaign that only judges.
func judging(t *testing.T, profiles ...string) *campaign {
	t.Helper()
	ctx, fail := context.WithCancelCause(t.Context())
	c := &campaign{
		o:      Options{Out: t.TempDir(), Profiles: profiles, Enough: 40, Slack: 50 * time.Millisecond, Limits: linearize.Limits{Timeout: 5 * time.Second}},
		around: newAround(1), fail: fail, report: Report{Faults: map[history.FaultKind]int{}},
	}
	t.Cleanup(func() {
		if err := context.Cause(ctx); err != nil && ctx.Err() != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return c
}

// judged is a cell whose history is over: calls of one group, one after the other, of a millisecond each.
func judged(seed uint64, calls ...func(*history.Recorder, int64)) *cell {
	now := time.Unix(0, 0)
	rec := &history.Recorder{Clock: func() time.Time { return now }, Start: now, Groups: []string{"g"}}
	for i, call := range calls {
		now = rec.Start.Add(time.Duration(2*i) * time.Millisecond)
		call(rec, int64(2*i+1)*int64(time.Millisecond))
	}
	one := &cell{rec: rec, disturbed: true, started: rec.Start}
	one.plan.Seed, one.plan.Groups = seed, []string{"g"}
	one.history = rec.History(history.Header{
		Seed: seed, MinSession: time.Millisecond, MaxSession: time.Hour, NewMemberTimeout: time.Minute, MaxMetadata: 100,
		Slack: 50 * time.Millisecond, Ran: time.Second, Groups: one.plan.Groups, Topics: map[string]int32{"t": 1},
	})
	return one
}

// beat is a heartbeat of nobody, answered with the code.
func beat(code int16) func(*history.Recorder, int64) {
	return func(rec *history.Recorder, until int64) {
		req, resp := kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrHeartbeatResponse()
		req.Group, req.MemberID, resp.ErrorCode = "g", "nobody", code
		rec.Finish(rec.Begin("c", 1, req, 4), resp, history.Answered, "", until)
	}
}

// hangUp is one whose connection the target closes.
func hangUp(rec *history.Recorder, until int64) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID = "g", "nobody"
	rec.Finish(rec.Begin("c", 1, req, 4), nil, history.Closed, "reset", until)
}

const unknownMember = 25

// TestLook judges histories of each kind, and sees what the report makes of them and what is saved.
func TestLook(t *testing.T) {
	for _, test := range []struct {
		name string
		one  *cell
		edit func(*cell)
		want Report // its counts
		save bool   // the whole history
	}{
		{"right", judged(7, beat(unknownMember)), nil, Report{Groups: 1, Calls: 1, Legal: 1}, false},
		{"wrong", judged(7, beat(0)), nil, Report{Groups: 1, Calls: 1, Illegal: 1}, true},
		{"not decided", judged(7, beat(unknownMember), hangUp), nil, Report{Groups: 1, Calls: 2, Unknown: 1}, true},
		{"not decided, after a stall", judged(7, beat(unknownMember), hangUp), func(c *cell) { c.worst = 60 * time.Millisecond }, Report{Stalled: 1}, false},
		{"wrong, after a stall", judged(7, beat(0)), func(c *cell) { c.worst = 60 * time.Millisecond }, Report{Groups: 1, Calls: 1, Illegal: 1}, true},
		{"stalled for too long", judged(7, beat(0)), func(c *cell) { c.history.Header.StalledFor = 600 * time.Millisecond }, Report{Stalled: 1}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.edit != nil {
				test.edit(test.one)
			}
			c := judging(t, "reference")
			c.look(t.Context(), t.Context(), test.one)
			got, want := c.report, test.want
			if got.Groups != want.Groups || got.Calls != want.Calls || got.Legal != want.Legal || got.Illegal != want.Illegal || got.Unknown != want.Unknown || got.Stalled != want.Stalled {
				t.Errorf("%+v, want %+v", got, want)
			}
			_, err := os.Stat(filepath.Join(c.o.Out, "history-7.jsonl"))
			if saved := err == nil; saved != test.save {
				t.Errorf("saved: %v, want %v", saved, test.save)
			}
			if got.Legal > 0 && got.Profiles["reference"] != 1 {
				t.Errorf("explained by %v", got.Profiles)
			}
			if got.Unknown > 0 && (len(got.Reasons) != 1 || !strings.Contains(got.Reasons[0], "history-7.jsonl")) {
				t.Errorf("reasons %q", got.Reasons)
			}
			if got.Illegal > 0 && (len(got.Failures) != 1 || got.Failures[0].Rule == "" || got.Failures[0].Whole == "" || !strings.Contains(got.Failures[0].Text, got.Failures[0].Whole)) {
				t.Errorf("failures %+v", got.Failures)
			}
		})
	}
}

// TestManyIllegal sees every illegal history saved, those of one rule told once, and the campaign ended when there are enough.
func TestManyIllegal(t *testing.T) {
	ctx, fail := context.WithCancelCause(t.Context())
	c := judging(t, "reference")
	c.fail, c.o.Enough = fail, 7
	for seed := range uint64(7) {
		if ctx.Err() != nil {
			t.Fatalf("ended after %d", seed)
		}
		c.look(t.Context(), t.Context(), judged(100+seed, beat(0)))
	}
	if context.Cause(ctx) != errEnough {
		t.Errorf("after 7 illegal groups: %v", context.Cause(ctx))
	}
	whole, _ := filepath.Glob(filepath.Join(c.o.Out, "history-1??.jsonl"))
	if len(whole) != 7 || c.report.Illegal != 7 || len(c.report.Failures) != 1 || c.report.Same != 6 {
		t.Errorf("%d saved, %d illegal, %d told and %d not", len(whole), c.report.Illegal, len(c.report.Failures), c.report.Same)
	}
}

// TestProfiles judges by one profile after the other until one explains a history, and by that one first from then on.
func TestProfiles(t *testing.T) {
	c := judging(t, "reference", "scala")
	commit := func(rec *history.Recorder, until int64, code int16) { // of a member of no group, by version 9: Scala says 22
		req, resp := kmsg.NewPtrOffsetCommitRequest(), kmsg.NewPtrOffsetCommitResponse()
		req.Group, req.MemberID, req.Generation = "g", "nobody", 5
		rt, rp := kmsg.NewOffsetCommitRequestTopic(), kmsg.NewOffsetCommitRequestTopicPartition()
		rt.Topic, rt.Partitions = "t", append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
		at, ap := kmsg.NewOffsetCommitResponseTopic(), kmsg.NewOffsetCommitResponseTopicPartition()
		ap.ErrorCode = code
		at.Topic, at.Partitions = "t", append(at.Partitions, ap)
		resp.Topics = append(resp.Topics, at)
		rec.Finish(rec.Begin("c", 1, req, 9), resp, history.Answered, "", until)
	}
	ofScala := func(rec *history.Recorder, until int64) { commit(rec, until, kerr.IllegalGeneration.Code) }
	ofOthers := func(rec *history.Recorder, until int64) { commit(rec, until, kerr.GroupIDNotFound.Code) }
	c.look(t.Context(), t.Context(), judged(6, beat(unknownMember)))
	c.look(t.Context(), t.Context(), judged(7, beat(unknownMember), ofScala))
	if c.report.Legal != 2 || c.report.Profiles["reference"] != 1 || c.report.Profiles["scala"] != 1 || c.using != 1 {
		t.Errorf("%+v, using %d", c.report, c.using)
	}
	if c.report.Mixed() {
		t.Error("what the first profile explains is not the second's as well")
	}
	c.look(t.Context(), t.Context(), judged(8, beat(0)))
	if c.report.Illegal != 1 {
		t.Errorf("what no profile explains: %+v", c.report)
	}
	c.look(t.Context(), t.Context(), judged(9, ofOthers))
	if c.report.Legal != 3 || !c.report.Mixed() {
		t.Errorf("now as Scala has it, now as others: %+v", c.report)
	}
}

// TestKinder holds that a group which one profile does not explain is accused only where no other explains it, or cannot tell; and that what is wrong with one
// group of a history accuses no other.
func TestKinder(t *testing.T) {
	const illegal, unknown, legal = linearize.Illegal, linearize.Unknown, linearize.Legal
	for _, test := range []struct{ first, second, want []linearize.Result }{
		{[]linearize.Result{illegal}, []linearize.Result{legal}, []linearize.Result{legal}},
		{[]linearize.Result{illegal}, []linearize.Result{unknown}, []linearize.Result{unknown}},
		{[]linearize.Result{illegal}, []linearize.Result{illegal}, []linearize.Result{illegal}},
		{[]linearize.Result{illegal, illegal}, []linearize.Result{illegal, legal}, []linearize.Result{illegal, legal}},
		{[]linearize.Result{illegal, legal}, []linearize.Result{unknown, illegal}, []linearize.Result{unknown, legal}},
		{[]linearize.Result{illegal, unknown}, []linearize.Result{legal, legal}, []linearize.Result{legal, legal}},
		{[]linearize.Result{illegal, illegal, legal}, []linearize.Result{illegal}, []linearize.Result{illegal, unknown, legal}}, // its time was over then
	} {
		verdict := func(profile string, results []linearize.Result) (v linearize.Verdict) {
			for _, r := range results {
				v.Groups = append(v.Groups, linearize.GroupVerdict{Profile: profile, Result: r})
			}
			return v
		}
		got, worst := kinder(verdict("java", test.first), verdict("scala", test.second)), legal
		for i, g := range got.Groups {
			if g.Result != test.want[i] || i < len(test.second) && g.Profile == "scala" != (test.want[i] != test.first[i]) {
				t.Errorf("%v and %v: group %d is %v by %s", test.first, test.second, i, g.Result, g.Profile)
			}
			if worst == legal || g.Result == illegal {
				worst = g.Result
			}
		}
		if got.Result != worst {
			t.Errorf("%v and %v: %v in all, want %v", test.first, test.second, got.Result, worst)
		}
	}
}

// mortal is a target that Muster has started.
type mortal struct{ target.Target }

func (mortal) Crash() error                  { return nil }
func (mortal) Recover(context.Context) error { return nil }

// TestGivesUp sees a target that does not serve its groups although nobody has killed it. On a broker of our own such a history is thrown away; that of
// somebody else is judged.
func TestGivesUp(t *testing.T) {
	const loading, notCoordinator, notAvailable = 14, 16, 15
	for code, want := range map[int16]bool{0: false, unknownMember: false, notAvailable: false, loading: true, notCoordinator: true} {
		if one := judged(7, beat(unknownMember), beat(code)); gaveUp(one.history) != want {
			t.Errorf("answer %d: gave up is %v, want %v", code, !want, want)
		}
	}
	killed := judged(7, beat(unknownMember), beat(loading))
	killed.history.Faults = []history.Fault{{Kind: history.Restart, At: int64(time.Millisecond), Gone: int64(time.Millisecond), Until: int64(2 * time.Millisecond)}}
	if gaveUp(killed.history) {
		t.Error("a target that was killed is said to have given up by itself")
	}
	a := newAround(1)
	one, later := begun("k"), begun("l")
	a.join(one)
	a.moves()
	a.join(later)
	if !one.moved || later.moved {
		t.Errorf("the one that was there: %v, one that began later: %v", one.moved, later.moved)
	}
	c := judging(t, "reference")
	if c.target = (virtual{}); c.own() {
		t.Error("somebody else's target is our own")
	}
	if c.target = (mortal{}); !c.own() {
		t.Error("a target that we can kill is not our own")
	}
}

// TestStalls tells a history when target or machine were late: when the canary saw it, and when an answer was that cannot have been parked.
func TestStalls(t *testing.T) {
	one := judged(7, beat(unknownMember), func(rec *history.Recorder, until int64) {
		beat(unknownMember)(rec, until+int64(80*time.Millisecond))
	}, func(rec *history.Recorder, until int64) { // a SyncGroup may wait for its leader
		req, resp := kmsg.NewPtrSyncGroupRequest(), kmsg.NewPtrSyncGroupResponse()
		req.Group, resp.ErrorCode = "g", 27
		rec.Finish(rec.Begin("c", 1, req, 5), resp, history.Answered, "", until+int64(90*time.Millisecond))
	}, func(rec *history.Recorder, until int64) { // and so may a JoinGroup, unless it is told to come again with an id
		for _, code := range []int16{0, 79} {
			req, resp := kmsg.NewPtrJoinGroupRequest(), kmsg.NewPtrJoinGroupResponse()
			req.Group, resp.ErrorCode = "g", code
			rec.Finish(rec.Begin("c", 1, req, 9), resp, history.Answered, "", until+int64(70*time.Millisecond))
		}
	}, hangUp)
	c := judging(t, "reference")
	one.rec.Fault(history.Fault{Kind: history.Pause, At: int64(20 * time.Millisecond), Until: int64(30 * time.Millisecond)})
	c.canary = &canary{around: c.around, pause: time.Millisecond}
	c.canary.saw(one.started.Add(500*time.Millisecond), 60*time.Millisecond)
	c.canary.begin(one.started.Add(560*time.Millisecond), 0)
	c.around.stood = 50 * time.Millisecond // of this round, which is not late for that, but it is no less late before and after
	c.canary.saw(one.started.Add(690*time.Millisecond), c.canary.late(one.started.Add(690*time.Millisecond)))
	c.canary.saw(one.started.Add(900*time.Millisecond), 200*time.Millisecond)
	h := one.rec.History(history.Header{})
	total := c.stalls(one, h, one.started.Add(time.Second))
	short := judged(8, func(rec *history.Recorder, until int64) { beat(unknownMember)(rec, until+int64(80*time.Millisecond)) })
	short.rec.Fault(history.Fault{Kind: history.Pause, At: int64(20 * time.Millisecond), Until: int64(50 * time.Millisecond)})
	if c.stalls(short, short.rec.History(history.Header{}), short.started.Add(200*time.Millisecond)); short.worst != 51*time.Millisecond {
		t.Errorf("81 ms, of which the target was made to stand still for 30, are a stall of %v", short.worst)
	}
	if total != 339*time.Millisecond || one.worst != 200*time.Millisecond {
		t.Errorf("in all %v, the worst %v", total, one.worst)
	}
	var spans [][2]int64
	for _, f := range h.Faults {
		if f.Kind != history.Pause || f.What == "" && f.At != int64(20*time.Millisecond) {
			t.Errorf("%+v", f)
		}
		spans = append(spans, [2]int64{f.At / int64(time.Millisecond), f.Until / int64(time.Millisecond)})
	}
	want := [][2]int64{{2, 83}, {20, 30}, {440, 500}, {561, 690}, {700, 900}} // the JoinGroup until 77 is within the first
	if len(spans) != len(want) {
		t.Fatalf("stalls %v, want %v", spans, want)
	}
	for i := range want {
		if spans[i] != want[i] {
			t.Errorf("stalls %v, want %v", spans, want)
		}
	}
}
