package joint

import (
	"bytes"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/model/classic"
)

// candidate is an explanation of a step, with the ids of its slots.
type candidate struct {
	explanation
	names [room]ident
}

// mismatch is how a prediction fails; the deeper, the more of it was right.
type mismatch struct {
	depth     int
	what, api string
	rules     []classic.RuleID
	expected  string // in words, where somebody wants to know
	got       string
}

func (d mismatch) property() string {
	if d.what == "" {
		return noWay
	}
	if d.api != "" {
		return d.what + " " + d.api
	}
	return d.what
}

const noWay = "there is no way to go on"

// Properties are the names of what is judged: what is compared on each edge, by the request where there is one, and the monitors.
func Properties() (names []string) {
	for _, what := range [...]string{"the answer to", "no answer to", "an answer to"} {
		for _, r := range [...]kmsg.Request{
			kmsg.NewPtrJoinGroupRequest(), kmsg.NewPtrSyncGroupRequest(), kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrLeaveGroupRequest(), kmsg.NewPtrOffsetCommitRequest(),
			kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrListGroupsRequest(), kmsg.NewPtrDeleteGroupsRequest(),
		} {
			names = append(names, what+" "+kmsg.NameForKey(r.Key()))
		}
	}
	names = append(names, "dropped", "records", "a record's content", "timers", "a timer's length", "a timer that is armed anew", inconsistency, noWay)
	for _, m := range monitor.All() {
		names = append(names, m.Name)
	}
	return names
}

// rule is the strictest of those that decided the nearest prediction.
func (d mismatch) rule() string {
	best := ""
	class := classic.Quirk + 1
	for _, id := range d.rules {
		if r := id.Rule(); r.Class < class {
			best, class = r.ID, r.Class
		}
	}
	return best
}

// explain adds what the specification makes of the step in one of its states, as far as the coordinator did the same.
func (m *machine) explain(x *explanation, c Coordinator) {
	e := m.translate(x)
	from := &x.state
	if m.e.crash {
		from = &loading
	}
	if e.Kind == classic.MemberTimer && (e.Slot < 0 || !from.Slots[e.Slot].Timed) {
		m.differs(0, "timers", "", nil, func() (string, string) { return "no such timer", "a timer that fires" })
		return
	}
	m.model.Step(from, &e, func(t *classic.Transition) bool {
		n := m.follow(x, t)
		if m.agrees(x, &n, t, c) {
			m.next = append(m.next, n)
			if m.tell != nil {
				m.tell(from, &e, t)
			}
		}
		return true
	})
}

var loading = classic.State{Serving: classic.Loading}

// follow is the explanation after a transition, but for what the answers settle.
func (m *machine) follow(x *explanation, t *classic.Transition) (n candidate) {
	n.explanation = *x
	n.state = t.Next
	copy(n.names[:], m.from.rows)
	if t.Minted >= 0 && t.Minted < room {
		n.names[t.Minted], n.parked[t.Minted] = ident{id: m.minted}, waiting{}
		if t.Next.Slots[t.Minted].Static {
			n.names[t.Minted].instance = m.instance
		}
	}
	if t.Rekeyed >= 0 {
		n.names[t.Rekeyed].id = m.minted
	}
	n.generation = t.Generation.After(n.generation)
	if m.e.crash {
		n.parked = [room]waiting{}
	}
	return n
}

// differs notes a prediction that is wrong, and is always false.
func (m *machine) differs(depth int, what, api string, t *classic.Transition, words func() (expected, got string)) bool {
	if m.nearest.what != "" && depth <= m.nearest.depth {
		return false
	}
	m.nearest = mismatch{depth: depth, what: what, api: api}
	if t != nil {
		m.nearest.rules = append([]classic.RuleID(nil), t.Rules...)
	}
	if m.explaining {
		m.nearest.expected, m.nearest.got = words()
	}
	return false
}

// agrees says whether the coordinator did what the transition says, and settles what is parked.
func (m *machine) agrees(x *explanation, n *candidate, t *classic.Transition, c Coordinator) bool {
	answered, called := 0, false
	for i := range t.Replies {
		r := &t.Replies[i]
		req := m.req
		if r.To.Kind == classic.Caller {
			called = true
		} else {
			req = n.end(r.To)
		}
		a := m.answerTo(req.ticket)
		if a == nil {
			return m.differs(1, "no answer to", m.apiOf(r.To), t, func() (string, string) { return m.show(n, t, r), "none" })
		}
		if !m.answers(x, n, t, r, req, a.Message) {
			return false
		}
		answered++
	}
	dropped := 0
	for _, to := range t.Superseded {
		if dropped++; to.Kind == classic.Caller {
			called = true
		} else {
			n.end(to)
		}
	}
	if answered != len(m.effects.Answers) {
		return m.differs(1, "an answer to", m.unexpected(x, t), t, func() (string, string) { return "none", "one that nobody is waiting for, or too early" })
	}
	if dropped != len(m.effects.Dropped) {
		return m.differs(2, "dropped", "", t, func() (string, string) { return fmt.Sprint(dropped), fmt.Sprint(len(m.effects.Dropped)) })
	}
	if m.e.Kind.Request() && !called {
		if slot := n.park(m, t); slot < 0 {
			return m.differs(1, "an answer to", m.apiOf(classic.Address{}), t, func() (string, string) { return "one", "none" })
		}
	}
	for i := range n.state.Slots[:room] {
		if n.state.Slots[i].Kind == classic.Free {
			n.parked[i] = waiting{}
		}
	}
	return m.records(n, x, t) && m.timers(n, t, c)
}

// end takes a parked request out.
func (n *candidate) end(to classic.Address) (r request) {
	p := &n.parked[to.Slot].join
	if to.Kind == classic.ParkedSync {
		p = &n.parked[to.Slot].sync
	}
	r, *p = *p, request{}
	return r
}

// park keeps the request that the transition did not answer, and says where.
func (n *candidate) park(m *machine, t *classic.Transition) int8 {
	slot := max(t.Rekeyed, t.Minted)
	if slot < 0 {
		if slot = m.e.Ref.Slot; m.e.Ref.Kind != classic.KnownID {
			return -1 // only broken rules come here
		}
	}
	if m.e.Kind == classic.SyncGroup {
		n.parked[slot].sync = m.req
	} else {
		n.parked[slot].join = m.req
	}
	return slot
}

func (m *machine) answerTo(t checker.Ticket) *checker.Answer {
	for i := range m.effects.Answers {
		if m.effects.Answers[i].Ticket == t {
			return &m.effects.Answers[i]
		}
	}
	return nil
}

func (m *machine) apiOf(to classic.Address) string {
	switch to.Kind {
	case classic.ParkedJoin:
		return "JoinGroup"
	case classic.ParkedSync:
		return "SyncGroup"
	}
	return kmsg.NameForKey(m.wire.Key())
}

// unexpected is the kind of an answer that the transition does not have.
func (m *machine) unexpected(x *explanation, t *classic.Transition) string {
	for _, a := range m.effects.Answers {
		due := false
		for i := range t.Replies {
			switch to := t.Replies[i].To; to.Kind {
			case classic.Caller:
				due = due || a.Ticket == m.req.ticket
			case classic.ParkedJoin:
				due = due || a.Ticket == x.parked[to.Slot].join.ticket
			case classic.ParkedSync:
				due = due || a.Ticket == x.parked[to.Slot].sync.ticket
			}
		}
		if !due {
			return kmsg.NameForKey(a.Message.Key())
		}
	}
	return ""
}

// records compares what is written.
func (m *machine) records(n *candidate, x *explanation, t *classic.Transition) bool {
	if len(m.effects.Records) == 0 && m.e.Write == classic.WriteFailed {
		return true // a write that fails may count as one or not
	}
	if len(m.effects.Records) == 0 && x.state.Writing && n.state.Writing {
		return true // Kafka writes the leader's second assignment too, though nobody will get it (docs/disagreements.md)
	}
	same := len(m.effects.Records) == len(t.Records)
	for i := 0; same && i < len(t.Records); i++ {
		same = t.Records[i].Kind == m.effects.Records[i].Kind
	}
	if !same {
		return m.differs(3, "records", "", t, func() (string, string) { return recordNames(t.Records), fmt.Sprint(m.effects.Records) })
	}
	for i := range m.effects.Records {
		r := &m.effects.Records[i]
		if r.Kind == classic.GroupRecord && m.e.Write != classic.WriteFailed && !m.says(r, n, x, t) {
			return m.differs(3, "a record's content", "", t, func() (string, string) { return m.group(n), r.String() })
		}
	}
	return true
}

// says compares a group's record with the group.
func (m *machine) says(r *Record, n *candidate, x *explanation, _ *classic.Transition) bool {
	g := &n.state
	if x.state.Phase == classic.Absent && !m.e.crash || g.Phase == classic.Empty {
		created := x.state.Phase == classic.Absent
		return len(r.Members) == 0 && r.Leader == "" && (r.Generation == n.generation && r.Type == types[g.Type] || created && r.Generation == 0 && r.Type == "")
	}
	if r.Generation != n.generation || r.Type != types[g.Type] || r.Protocol != protocolName(g.Protocol) {
		return false
	}
	members := 0
	for i := range g.Slots[:room] {
		slot := &g.Slots[i]
		if slot.Kind != classic.Member {
			continue
		}
		members++
		what := slot.Given
		if g.Writing {
			what = slot.Proposed
		}
		has := false
		for j := range r.Members {
			o := &r.Members[j]
			if o.ID == n.names[i].id {
				has = o.Instance == n.names[i].instance && bytes.Equal(o.Assignment, assignment(what)) && bytes.Equal(o.Metadata, metadata)
			}
		}
		if !has || slot.Leader != (r.Leader == n.names[i].id) {
			return false
		}
	}
	return members == len(r.Members)
}

// timers compares which timers run, and for how long those that have been armed.
func (m *machine) timers(n *candidate, t *classic.Transition, c Coordinator) bool {
	runs := 0
	for i := range n.state.Slots[:room] {
		if n.state.Slots[i].Timed {
			runs++
		}
	}
	for _, on := range [...]bool{n.state.JoinTimer, n.state.SyncTimer} {
		if on {
			runs++
		}
	}
	armed := c.Timers()
	same := runs == len(armed)
	for i := 0; same && i < len(armed); i++ {
		same = n.runs(armed[i])
	}
	if !same {
		return m.differs(4, "timers", "", t, func() (string, string) { return n.armed(), fmt.Sprint(armed) })
	}
	restarted := 0
	for i := range t.Timers {
		e := &t.Timers[i]
		if e.For == classic.Cancel {
			continue
		}
		restarted++
		want := Timer{Kind: e.Timer}
		if e.Timer == classic.SessionTimer {
			want.Member = n.names[e.Slot].id
		}
		d := n.lasts(e.For)
		if got, ok := m.armedFor(want); !ok || got != d {
			return m.differs(5, "a timer's length", "", t, func() (string, string) { return fmt.Sprint(want, d), fmt.Sprint(got, ok) })
		}
	}
	if !n.state.Initial {
		n.wait, n.rest = 0, 0
	}
	for i, a := range m.effects.Armed {
		if !n.runs(a.Timer) || m.armedAgain(i) {
			continue
		}
		restarted--
	}
	if restarted != 0 {
		return m.differs(5, "a timer that is armed anew", "", t, func() (string, string) { return fmt.Sprint(t.Timers), fmt.Sprint(m.effects.Armed) })
	}
	return true
}

// armedAgain says whether the timer of entry i is armed once more after that.
func (m *machine) armedAgain(i int) bool {
	for _, later := range m.effects.Armed[i+1:] {
		if later.Timer == m.effects.Armed[i].Timer {
			return true
		}
	}
	return false
}

func (m *machine) armedFor(t Timer) (d time.Duration, ok bool) {
	for _, a := range m.effects.Armed {
		if a.Timer == t {
			d, ok = a.After, true
		}
	}
	return d, ok
}

// runs says whether a timer runs.
func (n *candidate) runs(t Timer) bool {
	switch t.Kind {
	case classic.GroupJoinTimer:
		return n.state.JoinTimer
	case classic.GroupSyncTimer:
		return n.state.SyncTimer
	}
	for i := range n.names {
		if n.names[i].id == t.Member && n.state.Slots[i].Timed {
			return true
		}
	}
	return false
}

// lasts is how long a timer runs, and what is left of the initial delay then.
func (n *candidate) lasts(d classic.Duration) time.Duration {
	switch d {
	case classic.NewMemberTimeout:
		return newMember
	case classic.MaxRebalance:
		return rebalance
	case classic.InitialDelay:
		n.wait, n.rest = initialDelay, rebalance-initialDelay
		return n.wait
	case classic.RestOfInitialDelay:
		next := min(initialDelay, n.rest)
		n.rest = max(n.rest-n.wait, 0)
		n.wait = next
		return next
	}
	return session
}
