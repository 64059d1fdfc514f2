package linearize

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
)

// clock judges a small history in the plainest way: it tries every order of what happens and every instant at which it may, on a clock that ticks once a
// millisecond. Nothing of the judge's view of time is in it: no windows, no sets, no merging, no evidence, no splitting of calls. All times of its histories
// are whole milliseconds, as are all timeouts, and every condition is of the form "not more than so much before or after", so that whole milliseconds are enough.
type clock struct {
	t        testing.TB
	world    *observe.World
	calls    []*timedCall
	lateness int64
	end      int64
	failed   map[string]bool
	steps    int
}

type timedCall struct {
	history.Call
	req    kmsg.Request
	resp   kmsg.Response // nil: none came
	latest int64         // when the coordinator takes the request up at the latest
	never  bool          // or it never does
	silent int64         // until then no answer may have been decided; 0: silence proves nothing
}

const ms1 = int64(1_000_000)

func newClock(t testing.TB, h *history.History) *clock {
	t.Helper()
	config, err := configOf(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{t: t, world: observe.NewWorld(config), lateness: int64(h.Header.Lateness()), end: h.End(), failed: map[string]bool{}}
	for _, rec := range h.Calls {
		one := &timedCall{Call: rec, latest: rec.Call + c.lateness}
		if one.req, err = rec.DecodeRequest(); err != nil {
			t.Fatal(err)
		}
		switch {
		case rec.Outcome == history.NotSent:
			continue
		case rec.Outcome == history.Answered:
			if one.resp, err = rec.DecodeResponse(); err != nil {
				t.Fatal(err)
			}
			if join, ok := one.resp.(*kmsg.JoinGroupResponse); ok && join.MemberID != "" {
				c.world.Know(join.MemberID)
			}
			one.latest = rec.Return // however late it was taken up: it was answered
		case rec.Outcome == history.GivenUp && rec.Return-c.lateness > one.latest:
			one.silent = rec.Return - c.lateness
		default:
			one.never = true
		}
		c.calls = append(c.calls, one)
	}
	return c
}

// point is where one way of telling the history has come to.
type point struct {
	now            int64
	branch         *observe.Branch
	taken, decided uint32 // calls: taken up or never to be; answered
}

func (m *point) key() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d %d %d %d", m.now, m.taken, m.decided, m.branch.Hash())
	timers := m.branch.Timers()
	lines := make([]string, len(timers))
	for i, t := range timers {
		lines[i] = fmt.Sprint(t.Kind, t.Member, t.Window.Latest)
	}
	slices.Sort(lines)
	s.WriteString(strings.Join(lines, " "))
	return s.String()
}

// legal says whether there is a way to tell the whole history.
func (c *clock) legal() bool {
	return c.from(point{branch: c.world.NewBranch("g")})
}

func (c *clock) from(m point) bool {
	if m.now > c.end {
		return true
	}
	key := m.key()
	if c.failed[key] {
		return false
	}
	c.steps++
	if c.happens(m) || c.may(m) && c.from(point{m.now + ms1, m.branch, m.taken, m.decided}) {
		return true
	}
	c.failed[key] = true
	return false
}

// may says whether the instant may end as things are.
func (c *clock) may(m point) bool {
	for i, one := range c.calls {
		if m.taken>>i&1 == 0 && one.latest <= m.now && !one.never {
			return false
		}
		if m.decided>>i&1 == 0 && one.resp != nil && one.Return <= m.now {
			return false
		}
	}
	for _, t := range m.branch.Timers() {
		if t.Window.Latest+c.lateness <= m.now {
			return false
		}
	}
	return true
}

// happens tries everything that may happen at the instant.
func (c *clock) happens(m point) bool {
	at := observe.Window{Earliest: m.now, Latest: m.now}
	found := false
	goOn := func(from *timedCall, taken uint32) func(o observe.Outcome) bool {
		return func(o observe.Outcome) bool {
			found = found || c.follows(m, from, taken, o)
			return !found
		}
	}
	for i, one := range c.calls {
		if m.taken>>i&1 == 1 || m.now < one.Call.Call || m.now > one.latest {
			continue
		}
		r := observe.Request{Ticket: checker.Ticket(one.ID), Message: one.req, Version: one.Version, ClientID: one.Client}
		if join, ok := one.resp.(*kmsg.JoinGroupResponse); ok && one.req.(*kmsg.JoinGroupRequest).MemberID == "" {
			r.Minted = join.MemberID
		}
		if err := c.world.Apply(m.branch, r, at, goOn(one, m.taken|1<<i)); err != nil {
			c.t.Fatal(err)
		}
		if found {
			return true
		}
	}
	for _, t := range m.branch.Timers() {
		if t.Window.Latest <= m.now && m.now <= t.Window.Latest+c.lateness {
			if c.world.Fire(m.branch, t, at, goOn(nil, m.taken)); found {
				return true
			}
		}
	}
	return false
}

// follows says whether the rest can be told after an outcome.
func (c *clock) follows(m point, from *timedCall, taken uint32, o observe.Outcome) bool {
	if o.Overflow {
		c.t.Fatal("a history that is too large for the specification")
	}
	decided := m.decided
	answered := false
	for _, a := range o.Answers {
		i := slices.IndexFunc(c.calls, func(one *timedCall) bool { return checker.Ticket(one.ID) == a.Ticket })
		to := c.calls[i]
		answered = answered || to == from
		if to.resp != nil && to.Return < m.now || to.silent > 0 && m.now < to.silent {
			return false
		}
		decided |= 1 << i
	}
	for _, t := range o.Dropped {
		for _, one := range c.calls {
			if checker.Ticket(one.ID) == t && one.resp != nil {
				return false
			}
		}
	}
	if from != nil && from.resp != nil && !answered && from.Key != int16(kmsg.JoinGroup) && from.Key != int16(kmsg.SyncGroup) {
		return false
	}
	return c.names(o.Answers, observe.Binding{}, func(names observe.Binding) bool {
		return c.from(point{m.now, o.Branch.Bind(names), taken, decided})
	})
}

// names tries each way to give the ids that nobody has seen, so that the answers are those that came.
func (c *clock) names(answers []observe.Answer, so observe.Binding, then func(observe.Binding) bool) bool {
	if len(answers) == 0 {
		return then(so)
	}
	var actual kmsg.Response
	for _, one := range c.calls {
		if checker.Ticket(one.ID) == answers[0].Ticket {
			actual = one.resp
		}
	}
	if actual == nil {
		return c.names(answers[1:], so, then)
	}
	found := false
	observe.MatchGhosts(answers[0].Message, actual, func(names observe.Binding, err error) bool {
		if err != nil {
			return true
		}
		all := maps.Clone(so)
		for ghost, id := range names {
			if was, ok := all[ghost]; ok && was != id {
				return true
			}
			all[ghost] = id
		}
		if ids := slices.Sorted(maps.Values(all)); len(slices.Compact(ids)) < len(all) {
			return true // two of them are not one
		}
		found = c.names(answers[1:], all, then)
		return !found
	})
	return found
}
