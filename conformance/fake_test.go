package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// fake is a networked target on a clock of its own: time passes only while the runner waits, so tests of waiting neither sleep nor flake.
// What it answers is up to the test.
type fake struct {
	caps   target.Capabilities
	now    time.Time
	serve  func(*fake, *exchange)
	due    []event
	log    []string // "client:Api" in the order of sending
	times  map[string]time.Time
	closed bool
	noDial error
}

// exchange is one request that the fake got.
type exchange struct {
	client string
	req    kmsg.Request
	call   *target.Call
}

type event struct {
	at time.Time
	do func()
}

func newFake(serve func(*fake, *exchange)) *fake {
	return &fake{
		caps: target.Capabilities{
			Scale: 1, Settle: 100 * time.Millisecond, MinSession: time.Second, MaxSession: time.Hour,
			Topics: map[string]string{"t": "topic-1"}, Prefix: "run-",
		},
		now: time.Unix(1_000_000, 0), serve: serve, times: map[string]time.Time{},
	}
}

func (f *fake) Name() string                        { return "fake" }
func (f *fake) Capabilities() target.Capabilities   { return f.caps }
func (f *fake) Clock() target.Clock                 { return (*fakeClock)(f) }
func (f *fake) Close() error                        { f.closed = true; return nil }
func (f *fake) after(d time.Duration, do func())    { f.due = append(f.due, event{f.now.Add(d), do}) }
func (f *fake) sent(entry string) (time.Time, bool) { t, ok := f.times[entry]; return t, ok }

func (f *fake) Dial(ctx context.Context, client string) (target.Conn, error) {
	if f.noDial != nil {
		return nil, f.noDial
	}
	return &fakeConn{f, client}, ctx.Err()
}

type fakeConn struct {
	f      *fake
	client string
}

func (c *fakeConn) Send(req kmsg.Request, version int16) *target.Call {
	f := c.f
	req.SetVersion(version)
	entry := c.client + ":" + kmsg.NameForKey(req.Key())
	f.log = append(f.log, entry)
	f.times[entry] = f.now
	x := &exchange{c.client, req, target.NewCall(req, version, f.now)}
	f.serve(f, x)
	return x.call
}

func (c *fakeConn) Close() error { return nil }

// answer ends the exchange after a while.
func (f *fake) answer(x *exchange, resp kmsg.Response, delay time.Duration) {
	resp.SetVersion(x.call.Version)
	f.after(delay, func() { x.call.Finish(resp, nil, f.now) })
	f.fire(f.now)
}

// fail ends the exchange with an error.
func (f *fake) fail(x *exchange, err error) {
	f.after(0, func() { x.call.Finish(nil, err, f.now) })
	f.fire(f.now)
}

// fire runs what is due until then and moves the clock.
func (f *fake) fire(until time.Time) {
	for {
		slices.SortStableFunc(f.due, func(a, b event) int { return a.at.Compare(b.at) })
		if len(f.due) == 0 || f.due[0].at.After(until) {
			f.now = until
			return
		}
		next := f.due[0]
		f.due = f.due[1:]
		if next.at.After(f.now) {
			f.now = next.at
		}
		next.do()
	}
}

type fakeClock fake

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	(*fake)(c).fire(c.now.Add(max(d, 0)))
	return ctx.Err()
}

func (c *fakeClock) Await(_ context.Context, call *target.Call, d time.Duration) bool {
	f := (*fake)(c)
	for until := f.now.Add(d); !call.Ended() && f.now.Before(until); {
		step := until
		for _, e := range f.due {
			if e.at.Before(step) {
				step = e.at
			}
		}
		f.fire(step)
	}
	return call.Ended()
}

// house is what a fake answers to the requests that are not the test's business: DescribeGroups shows what the test has put in state and
// members; leaving and deleting succeed.
type house struct {
	state   string
	members []string
	special func(*fake, *exchange) bool
}

func (h *house) serve(f *fake, x *exchange) {
	if h.special != nil && h.special(f, x) {
		return
	}
	switch req := x.req.(type) {
	case *kmsg.DescribeGroupsRequest:
		resp := kmsg.NewPtrDescribeGroupsResponse()
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.State = req.Groups[0], h.state
		for _, m := range h.members {
			member := kmsg.NewDescribeGroupsResponseGroupMember()
			member.MemberID = m
			g.Members = append(g.Members, member)
		}
		resp.Groups = append(resp.Groups, g)
		f.answer(x, resp, 0)
	case *kmsg.LeaveGroupRequest:
		resp := kmsg.NewPtrLeaveGroupResponse()
		for _, m := range req.Members {
			member := kmsg.NewLeaveGroupResponseMember()
			member.MemberID = m.MemberID
			resp.Members = append(resp.Members, member)
		}
		f.answer(x, resp, 0)
	case *kmsg.DeleteGroupsRequest:
		resp := kmsg.NewPtrDeleteGroupsResponse()
		for _, g := range req.Groups {
			gone := kmsg.NewDeleteGroupsResponseGroup()
			gone.Group = g
			resp.Groups = append(resp.Groups, gone)
		}
		f.answer(x, resp, 0)
	case *kmsg.HeartbeatRequest:
		f.answer(x, kmsg.NewPtrHeartbeatResponse(), 0)
	default:
		panic(fmt.Sprintf("the test does not say what to answer to %T", req))
	}
}

// required answers a JoinGroup without id: the id is the client's name and a number.
func required(f *fake, x *exchange, id string) {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.ErrorCode, resp.Generation, resp.MemberID = 79, -1, id
	f.answer(x, resp, 0)
}

// generation is a successful JoinGroup answer; members are listed if the id leads.
func generation(gen int32, id, leader string, members ...string) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.Generation, resp.MemberID, resp.LeaderID = gen, id, leader
	resp.Protocol, resp.ProtocolType = kmsg.StringPtr("range"), kmsg.StringPtr("consumer")
	if id == leader {
		for _, m := range members {
			member := kmsg.NewJoinGroupResponseMember()
			member.MemberID, member.ProtocolMetadata = m, []byte("x")
			resp.Members = append(resp.Members, member)
		}
	}
	return resp
}

const head = "# A test.\n# rule: join.stable.follower-repeats\n\n"

func scenario(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("test.txt", []byte(head+strings.TrimLeft(text, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged runs a scenario on a target.
func judged(t *testing.T, tg target.Target, text string) Result {
	t.Helper()
	rep, err := Suite{Scenarios: []*Scenario{scenario(t, text)}, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rep.Results[0]
}

func passes(t *testing.T, tg target.Target, text string) {
	t.Helper()
	if res := judged(t, tg, text); res.Status != Pass {
		t.Errorf("%s: %s%v", res.Status, res.Reason, res.Failure)
	}
}

// gives runs a scenario whose last text is not the fake's and returns what the fake gave instead.
func gives(t *testing.T, tg target.Target, text string) []string {
	t.Helper()
	res := judged(t, tg, text)
	if res.Status != Fail {
		t.Fatalf("%s %s, want a failure", res.Status, res.Reason)
	}
	return res.Failure.Got
}
