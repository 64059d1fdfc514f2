package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// pair is a coordinator of two members: A's JoinGroup waits until B's has come, B's is answered after delay, A's after later.
type pair struct {
	house
	parked       *exchange
	shows        time.Duration // when DescribeGroups shows A's JoinGroup; 0 at once
	delay, later time.Duration
}

func newPair() *pair {
	p := &pair{house: house{state: "Stable", members: []string{"a", "b"}}}
	p.special = func(f *fake, x *exchange) bool {
		req, ok := x.req.(*kmsg.JoinGroupRequest)
		switch {
		case !ok:
			return false
		case req.MemberID == "":
			required(f, x, map[string]string{"A": "a", "B": "b"}[x.client])
		case x.client == "A":
			p.parked = x
			f.after(p.shows, func() { p.state = "PreparingRebalance" })
			f.fire(f.now)
		default:
			f.answer(x, generation(7, "b", "a"), p.delay)
			f.answer(p.parked, generation(7, "a", "a", "a", "b"), p.delay+p.later)
		}
		return true
	}
	return p
}

const pairText = `
join A B range=x
----
A: MEMBER_ID_REQUIRED
B: MEMBER_ID_REQUIRED

join A
----
A: parked

join B
----
B: NONE gen=7 leader=A protocol=range
A(join): NONE gen=7 leader=A protocol=range members=[A:x B:x]
`

func TestParkedAndLate(t *testing.T) {
	passes(t, newFake(newPair().serve), pairText)
}

func TestPromisedAnswersAreWaitedFor(t *testing.T) {
	p := newPair()
	p.delay, p.later = 900*time.Millisecond, 900*time.Millisecond // far beyond the settle time
	passes(t, newFake(p.serve), pairText)
}

func TestParkedMeansSilence(t *testing.T) {
	p := newPair()
	f := newFake(p.serve)
	p.shows = 0
	serve := f.serve
	f.serve = func(f *fake, x *exchange) { // A is answered within the settle time
		serve(f, x)
		if p.parked != nil && !p.parked.call.Ended() {
			f.answer(p.parked, generation(7, "a", "a", "a"), f.caps.Settle*3/4)
		}
	}
	got := gives(t, f, pairText)
	if diff := cmp.Diff([]string{"A: NONE gen=7 leader=A protocol=range members=[A:x]"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNeverAnswered(t *testing.T) {
	p := newPair()
	p.later = time.Hour
	f := newFake(p.serve)
	began := f.now
	got := gives(t, f, pairText)
	if diff := cmp.Diff([]string{"B: NONE gen=7 leader=A protocol=range"}, got); diff != "" {
		t.Error(diff)
	}
	if waited := f.now.Sub(began); waited > time.Minute {
		t.Errorf("waited %s for an answer that does not come", waited)
	}
}

// TestTakenByEffect holds that the next request is sent only when DescribeGroups shows the former, long after the settle time here.
func TestTakenByEffect(t *testing.T) {
	p := newPair()
	p.shows = 700 * time.Millisecond
	f := newFake(p.serve)
	passes(t, f, `
join A B range=x
----
A: MEMBER_ID_REQUIRED
B: MEMBER_ID_REQUIRED

join A B
----
A: NONE gen=7 leader=A protocol=range members=[A:x B:x]
B: NONE gen=7 leader=A protocol=range
`)
	a, _ := f.sent("A:JoinGroup")
	b, _ := f.sent("B:JoinGroup")
	if gap := b.Sub(a); gap < p.shows {
		t.Errorf("B's JoinGroup followed after %s, before A's showed", gap)
	}
}

// TestTakenBySilence holds that where nothing shows a request, the settle time must do, and a DescribeGroups that was sent later.
func TestTakenBySilence(t *testing.T) {
	p := newPair()
	p.state = "PreparingRebalance" // a JoinGroup of a member does not show now
	f := newFake(p.serve)
	passes(t, f, `
join A B range=x
----
A: MEMBER_ID_REQUIRED
B: MEMBER_ID_REQUIRED

join A B
----
A: NONE gen=7 leader=A protocol=range members=[A:x B:x]
B: NONE gen=7 leader=A protocol=range
`)
	a, _ := f.sent("A:JoinGroup")
	b, _ := f.sent("B:JoinGroup")
	if gap := b.Sub(a); gap < f.caps.Settle || gap > 5*f.caps.Settle {
		t.Errorf("B's JoinGroup followed after %s, the settle time is %s", gap, f.caps.Settle)
	}
	last := lastIndex(f.log, "B:JoinGroup")
	between := f.log[lastIndex(f.log, "A:JoinGroup"):last]
	first := slices.Index(between, "muster:DescribeGroups")
	if first < 0 || lastIndex(between, "muster:DescribeGroups") == first { // one to see that A's is taken, one to see what B's changes
		t.Errorf("no DescribeGroups after A's JoinGroup: %q", f.log)
	}
}

func lastIndex(s []string, v string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == v {
			return i
		}
	}
	return -1
}

// TestInitialDelay holds that the first member of an Empty group is waited for, so that the generations are those without a delay.
func TestInitialDelay(t *testing.T) {
	h := &house{state: "Empty"}
	h.special = func(f *fake, x *exchange) bool {
		req, ok := x.req.(*kmsg.JoinGroupRequest)
		if !ok {
			return false
		}
		switch {
		case req.MemberID == "":
			required(f, x, x.client+"-id")
		case x.client == "A":
			f.answer(x, generation(1, "A-id", "A-id", "A-id"), 3*time.Second)
			h.state = "PreparingRebalance"
		default:
			f.after(50*time.Millisecond, func() { h.members = append(h.members, "B-id") })
		}
		return true
	}
	f := newFake(h.serve)
	f.caps.InitialDelay = 3 * time.Second
	passes(t, f, `
join A B range=x
----
A: MEMBER_ID_REQUIRED
B: MEMBER_ID_REQUIRED

join A B
----
A: NONE gen=1 leader=A protocol=range members=[A:x]
B: parked
`)
	a, _ := f.sent("A:JoinGroup")
	b, _ := f.sent("B:JoinGroup")
	if gap := b.Sub(a); gap < f.caps.InitialDelay {
		t.Errorf("B's JoinGroup followed after %s, within the initial delay", gap)
	}
}

// TestSuperseded holds that a request which is never answered shows once, as parked, and holds nothing up.
func TestSuperseded(t *testing.T) {
	n := 0
	h := &house{state: "Stable", members: []string{"A-id"}}
	h.special = func(f *fake, x *exchange) bool {
		req, ok := x.req.(*kmsg.JoinGroupRequest)
		if !ok {
			return false
		}
		if req.MemberID == "" {
			required(f, x, "A-id")
			return true
		}
		if n++; n == 2 {
			f.answer(x, generation(4, "A-id", "A-id", "A-id"), time.Second)
		}
		return true
	}
	f := newFake(h.serve)
	passes(t, f, `
join A range=x
----
A: MEMBER_ID_REQUIRED

join A
----
A: parked

join A -again
----
A: NONE gen=4 leader=A protocol=range members=[A:x]

heartbeat A
----
A: NONE
`)
	got := gives(t, newFake(h.serve), `
join A range=x
join A
join A
----
A: MEMBER_ID_REQUIRED
`)
	if n := len(got); got[n-1] != "join: cannot: a JoinGroup of A is parked; write -again to repeat it on another connection" {
		t.Errorf("%q", got)
	}
}

func TestBrokenAnswers(t *testing.T) {
	for text, err := range map[string]error{"CONNECTION_CLOSED": target.ErrClosed, "NO_READABLE_ANSWER": errors.New("not enough data")} {
		h := &house{state: "Dead"}
		h.special = func(f *fake, x *exchange) bool {
			if _, ok := x.req.(*kmsg.JoinGroupRequest); ok {
				f.fail(x, err)
				return true
			}
			return false
		}
		passes(t, newFake(h.serve), "join A range=x\n----\nA: "+text+"\n")
	}
}

// TestObservationsMayLag holds that DescribeGroups is asked again while it shows what was before.
func TestObservationsMayLag(t *testing.T) {
	h := &house{state: "Dead"}
	f := newFake(h.serve)
	f.after(120*time.Millisecond, func() { h.state = "Empty" })
	passes(t, f, "describe\n----\ndescribe: Empty\n")

	got := gives(t, newFake((&house{state: "Dead"}).serve), "describe\n----\ndescribe: Empty\n")
	if diff := cmp.Diff([]string{"describe: Dead"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSecondTry holds that a failure after time has passed must show again when it passes more slowly.
func TestSecondTry(t *testing.T) {
	slow := func(tries int) (*fake, *int) {
		n := new(int)
		h := &house{state: "Stable"}
		h.special = func(f *fake, x *exchange) bool {
			if _, ok := x.req.(*kmsg.JoinGroupRequest); ok {
				return true // parked
			}
			if _, ok := x.req.(*kmsg.HeartbeatRequest); ok {
				resp := kmsg.NewPtrHeartbeatResponse()
				if *n++; *n <= tries {
					resp.ErrorCode = 27
				}
				f.answer(x, resp, 0)
				return true
			}
			return false
		}
		return newFake(h.serve), n
	}
	const text = "roles A B from A B\n----\n\nadvance 8s\nheartbeat A\n----\nA: NONE\n"
	f, _ := slow(1)
	res := judged(t, f, text)
	if res.Status != Pass || res.Unsteady == nil || res.Unsteady.Got[0] != "A: REBALANCE_IN_PROGRESS" {
		t.Errorf("once late: %+v", res)
	}
	f, n := slow(2)
	if res := judged(t, f, text); res.Status != Fail || *n != 2 {
		t.Errorf("late twice: %s after %d tries", res.Status, *n)
	}
	f, _ = slow(1)
	f.caps.MaxSession = 15 * time.Second // enough for the first try only
	if res := judged(t, f, "join A range=x session=10s member=stranger\n----\nA: parked\n\n"+strings.TrimPrefix(text, "roles A B from A B\n----\n\n")); res.Status != Fail {
		t.Errorf("a second try that cannot be made hides the failure: %s %s", res.Status, res.Reason)
	}
	f, n = slow(1)
	if res := judged(t, f, "roles A B from A B\n----\n\nheartbeat A\n----\nA: NONE\n"); res.Status != Fail || *n != 1 {
		t.Errorf("no time has passed: %s after %d tries", res.Status, *n)
	}
}

// TestAdvance holds that what the runner waited since the last answer is a part of the time that passes.
func TestAdvance(t *testing.T) {
	h := &house{state: "CompletingRebalance"}
	h.special = func(_ *fake, x *exchange) bool { return x.req.Key() == int16(kmsg.SyncGroup) }
	f := newFake(h.serve)
	f.caps.Scale = 0.5
	passes(t, f, "roles A B from A B\n----\n\nsync A\n----\nA: parked\n\nadvance 10s\nheartbeat B\n----\nB: NONE\n")
	a, _ := f.sent("A:SyncGroup")
	b, _ := f.sent("B:Heartbeat")
	if gap := b.Sub(a); gap != 5*time.Second {
		t.Errorf("10 s at half scale took %s", gap)
	}
}
