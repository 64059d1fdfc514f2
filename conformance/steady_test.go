package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// sole is a right coordinator of groups with one member each, that pauses before each answer to JoinGroup and SyncGroup.
func sole(pause func(*exchange) time.Duration) *house {
	h := &house{state: "Empty"}
	gen := int32(0)
	h.special = func(f *fake, x *exchange) bool {
		switch req := x.req.(type) {
		case *kmsg.JoinGroupRequest:
			if req.MemberID == "" {
				gen = 0
				required(f, x, x.client+"-id")
				return true
			}
			f.after(pause(x), func() {
				gen++
				h.state, h.members = "CompletingRebalance", []string{req.MemberID}
				f.answer(x, generation(gen, req.MemberID, req.MemberID, req.MemberID), 0)
			})
		case *kmsg.SyncGroupRequest:
			f.after(pause(x), func() {
				resp := kmsg.NewPtrSyncGroupResponse()
				if resp.ProtocolType, resp.Protocol = req.ProtocolType, req.Protocol; req.Generation != gen {
					resp.ErrorCode, resp.ProtocolType, resp.Protocol = 22, nil, nil
				}
				h.state = "Stable"
				f.answer(x, resp, 0)
			})
		default:
			return false
		}
		return true
	}
	return h
}

const pausing = `
join A range=x
join A
sync A
----
A: MEMBER_ID_REQUIRED
A: NONE gen=1 leader=A protocol=range members=[A:x]
A: NONE ""

join A
sync A
sync A
----
A: NONE gen=2 leader=A protocol=range members=[A:x]
A: NONE ""
A: NONE ""
`

// seen is what others see of it meanwhile.
const seen = `
join A
describe
----
A: NONE gen=3 leader=A protocol=range members=[A:x]
describe: CompletingRebalance members=[A(client-id "")]

sync A
describe
----
A: NONE ""
describe: Stable members=[A(client-id "")]
`

// TestPauses holds that a right coordinator which answers late is not blamed, and at the first try.
func TestPauses(t *testing.T) {
	for _, pause := range []time.Duration{0, 90 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second} {
		f := newFake(sole(func(*exchange) time.Duration { return pause }).serve)
		if res := judged(t, f, pausing+seen); res.Status != Pass || res.Unsteady != nil {
			t.Errorf("pauses of %s: %s %s\n%v", pause, res.Status, res.Reason, res.Failures())
		}
	}
}

// TestLateForTheNext holds that an actor's next request waits for what the block promises it: here A's answer comes long after B's, which released it.
func TestLateForTheNext(t *testing.T) {
	p := newPair()
	p.later = 900 * time.Millisecond
	serve := p.special
	p.special = func(f *fake, x *exchange) bool {
		req, ok := x.req.(*kmsg.SyncGroupRequest)
		if !ok {
			return serve(f, x)
		}
		resp := kmsg.NewPtrSyncGroupResponse()
		if resp.ProtocolType, resp.Protocol = req.ProtocolType, req.Protocol; req.Generation != 7 {
			resp.ErrorCode, resp.ProtocolType, resp.Protocol = 22, nil, nil
		}
		f.answer(x, resp, 0)
		return true
	}
	res := judged(t, newFake(p.serve), "join A B range=x\n----\nA: MEMBER_ID_REQUIRED\nB: MEMBER_ID_REQUIRED\n\njoin A\njoin B\nsync A\n----\nA: NONE gen=7 leader=A protocol=range members=[A:x B:x]\nB: NONE gen=7 leader=A protocol=range\nA: NONE \"\"\n")
	if res.Status != Pass || res.Unsteady != nil {
		t.Errorf("%s %s: %v", res.Status, res.Reason, res.Failures())
	}
}

// TestFollowersDoNotWait holds that a request which waits for others is not waited for with patience.
func TestFollowersDoNotWait(t *testing.T) {
	p := newPair()
	f := newFake(p.serve)
	began := f.now
	passes(t, f, "join A B range=x\n----\nA: MEMBER_ID_REQUIRED\nB: MEMBER_ID_REQUIRED\n\njoin A\njoin B\n----\nA: NONE gen=7 leader=A protocol=range members=[A:x B:x]\nB: NONE gen=7 leader=A protocol=range\n")
	if took := f.now.Sub(began); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestCannot holds that a command which the runner cannot do says nothing of the coordinator, unless what came before differs.
func TestCannot(t *testing.T) {
	text := "join A range=x session=10s\nheartbeat A member=A\n----\nA: MEMBER_ID_REQUIRED\nA: NONE\n\nheartbeat A member=A'2\n----\nA: NONE\n"
	h := sole(func(*exchange) time.Duration { return 0 })
	res := judged(t, newFake(h.serve), text)
	if res.Status != Broken || res.Failure != nil || !strings.Contains(res.Reason, "line 10: heartbeat: cannot: A was given 1 member ids only") {
		t.Errorf("%s %q %v", res.Status, res.Reason, res.Failure)
	}
	text = "join A range=x\nheartbeat A\nheartbeat A member=A'2\n----\nA: MEMBER_ID_REQUIRED\nA: ILLEGAL_GENERATION\nA: NONE\n"
	got := gives(t, newFake(h.serve), text)
	if diff := cmp.Diff([]string{"A: MEMBER_ID_REQUIRED", "A: NONE", "heartbeat: cannot: A was given 1 member ids only"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestLostAnswers holds that an answer which never comes is looked for several times.
func TestLostAnswers(t *testing.T) {
	losing := func(tries ...int) (*fake, *int) {
		n := new(int)
		h := sole(func(*exchange) time.Duration { return 0 })
		serve := h.special
		h.special = func(f *fake, x *exchange) bool {
			if _, ok := x.req.(*kmsg.SyncGroupRequest); ok {
				*n++
				for _, lost := range tries {
					if lost == *n {
						return true
					}
				}
			}
			return serve(f, x)
		}
		return newFake(h.serve), n
	}
	const text = "join A range=x\njoin A\nsync A\n----\nA: MEMBER_ID_REQUIRED\nA: NONE gen=1 leader=A protocol=range members=[A:x]\nA: NONE \"\"\n"
	for name, c := range map[string]struct {
		lost   []int
		status Status
		tries  int
	}{
		"once":              {[]int{1}, Pass, 4},
		"first and third":   {[]int{1, 3}, Fail, 3},
		"first and fourth":  {[]int{1, 4}, Fail, 4},
		"always":            {[]int{1, 2, 3, 4}, Fail, 2},
		"never":             {nil, Pass, 1},
		"after the looking": {[]int{5}, Pass, 1},
	} {
		f, n := losing(c.lost...)
		res := judged(t, f, text)
		if res.Status != c.status || *n != c.tries {
			t.Errorf("%s: %s after %d tries, want %s after %d", name, res.Status, *n, c.status, c.tries)
		}
		if wants := c.status == Pass && len(c.lost) > 0 && c.lost[0] == 1; (res.Unsteady != nil) != wants {
			t.Errorf("%s: unsteady: %v", name, res.Unsteady)
		}
		for _, f := range append(res.Failures(), res.Unsteady) {
			if f != nil && (f.Missing != `A: NONE ""` || !strings.Contains(f.Note, "never came")) {
				t.Errorf("%s: missing %q, %s", name, f.Missing, f.Note)
			}
		}
	}
}

// TestAStalledMachine holds that an answer counts as lost only if the runner was awake and the target answered others meanwhile.
func TestAStalledMachine(t *testing.T) {
	n := 0
	h := sole(func(*exchange) time.Duration { return 0 })
	serve := h.special
	h.special = func(f *fake, x *exchange) bool {
		switch x.req.(type) {
		case *kmsg.SyncGroupRequest:
			if n++; n == 1 {
				return true
			}
		case *kmsg.DescribeGroupsRequest:
			return n == 1 // nothing is answered any more
		}
		return serve(f, x)
	}
	res := judged(t, newFake(h.serve), "join A range=x\njoin A\nsync A\n----\nA: MEMBER_ID_REQUIRED\nA: NONE gen=1 leader=A protocol=range members=[A:x]\nA: NONE \"\"\n")
	if res.Status != Pass || res.Unsteady == nil || res.Unsteady.Missing != "" || res.Unsteady.Stalled || n != 2 {
		t.Errorf("%s after %d tries: %+v", res.Status, n, res.Unsteady)
	}
}

// dozing is a fake on a machine that stands still for a while.
type dozing struct {
	*fake
	now func() bool
}

type dozingClock struct {
	*fakeClock
	now func() bool
}

func (d dozing) Clock() target.Clock { return dozingClock{(*fakeClock)(d.fake), d.now} }

func (c dozingClock) Await(ctx context.Context, call *target.Call, d time.Duration) bool {
	if c.now() {
		d += 2 * time.Second
	}
	return c.fakeClock.Await(ctx, call, d)
}

// TestOurOwnMachineStalls holds that an answer does not count as lost if the runner stood still while it waited.
func TestOurOwnMachineStalls(t *testing.T) {
	n := 0
	h := sole(func(*exchange) time.Duration { return 0 })
	serve := h.special
	h.special = func(f *fake, x *exchange) bool {
		if _, ok := x.req.(*kmsg.SyncGroupRequest); ok {
			if n++; n == 1 {
				return true
			}
		}
		return serve(f, x)
	}
	res := judged(t, dozing{newFake(h.serve), func() bool { return n == 1 }}, "join A range=x\njoin A\nsync A\n----\nA: MEMBER_ID_REQUIRED\nA: NONE gen=1 leader=A protocol=range members=[A:x]\nA: NONE \"\"\n")
	if res.Status != Pass || res.Unsteady == nil || res.Unsteady.Missing != "" || !res.Unsteady.Stalled || n != 2 {
		t.Errorf("%s after %d tries: %+v", res.Status, n, res.Unsteady)
	}
}

// TestCannotBeRunAgain holds that a failure which could not be repeated is not held against the target.
func TestCannotBeRunAgain(t *testing.T) {
	var f *fake
	h := sole(func(*exchange) time.Duration { return 0 })
	serve := h.special
	h.special = func(_ *fake, x *exchange) bool {
		if _, ok := x.req.(*kmsg.HeartbeatRequest); ok {
			f.noDial = errors.New("connection refused")
		}
		return serve(f, x)
	}
	f = newFake(h.serve)
	res := judged(t, f, "roles A B from A B\nheartbeat A\n----\nA: ILLEGAL_GENERATION\n")
	if res.Status != Broken || res.Failure != nil || res.Unsteady == nil || !strings.Contains(res.Reason, "could not be run again") {
		t.Errorf("%+v", res)
	}
}

// TestMissing tells answers that never came from other differences.
func TestMissing(t *testing.T) {
	s := scenario(t, "form A B\n----\nA: NONE\nB: {x|y}\nA(join): NONE\n")
	v := &s.File.Blocks[0].Variants[0]
	for got, want := range map[string]string{
		"A: NONE|B: y":                        "A(join): NONE",
		"A: parked|B: x|A(join): NONE":        "A: NONE",
		"A: NONE|B: parked":                   "B: {x|y}",
		"":                                    "A: NONE",
		"A: NONE|B: z|A(join): NONE":          "",
		"A: NONE|B: x|A(join): NONE|more":     "",
		"A: NONE|B: x|A(join): ILLEGAL":       "",
		"A: UNKNOWN_MEMBER_ID|B: x|A(join): ": "",
	} {
		var lines []string
		if got != "" {
			lines = strings.Split(got, "|")
		}
		if m := missing(v, lines); m != want {
			t.Errorf("%s: %q, want %q", got, m, want)
		}
	}
}

// TestBudget holds that a suite ends: what was judged counts, the rest is inconclusive.
func TestBudget(t *testing.T) {
	s := scenario(t, alone)
	rep, err := Suite{Scenarios: []*Scenario{s, s}, Budget: time.Nanosecond, OutDir: t.TempDir()}.Run(t.Context(), newFake(member().serve), nil)
	if err != nil || rep.Count(Broken) != 2 || !strings.HasPrefix(rep.Results[0].Reason, "out of time") {
		t.Errorf("%v %+v", err, rep)
	}
	caps := newFake(nil).caps
	long := scenario(t, "advance 50m\n----\n")
	for want, suite := range map[time.Duration]Suite{
		5 * time.Minute:   {Scenarios: []*Scenario{s}},
		7 * time.Second:   {Scenarios: []*Scenario{s}, Budget: 7 * time.Second},
		200 * time.Minute: {Scenarios: []*Scenario{long, s}},
	} {
		if got := suite.budget(caps).Round(time.Minute / 2); got != want.Round(time.Minute/2) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestDeaf holds that a target which never answers DescribeGroups or DeleteGroups does not make each scenario wait for them anew.
func TestDeaf(t *testing.T) {
	h := sole(func(*exchange) time.Duration { return 0 })
	serve := h.special
	h.special = func(f *fake, x *exchange) bool {
		switch x.req.(type) {
		case *kmsg.DescribeGroupsRequest, *kmsg.DeleteGroupsRequest:
			return true
		}
		return serve(f, x)
	}
	f := newFake(h.serve)
	var all []*Scenario
	for i := range 40 {
		s := scenario(t, pausing)
		s.Name = fmt.Sprint("s", i)
		all = append(all, s)
	}
	began := f.now
	rep, err := Suite{Scenarios: all, Parallel: 1, OutDir: t.TempDir()}.Run(t.Context(), f, nil)
	if err != nil || rep.Count(Pass) != len(all) {
		t.Errorf("%v: %d of %d pass: %+v", err, rep.Count(Pass), len(all), rep.Results[0])
	}
	if took := f.now.Sub(began); took > 3*time.Minute {
		t.Errorf("it took %s", took)
	}
	remarks := strings.Join(rep.Remarks, "\n")
	for _, api := range []string{"DescribeGroups", "DeleteGroups"} {
		if !strings.Contains(remarks, api+" was not answered 3 times in a row") {
			t.Errorf("remarks lack %s: %q", api, remarks)
		}
	}
}
