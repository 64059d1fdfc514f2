package joint

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/model/classic"
)

// Monitors (package monitor) look on at every edge, and what they remember is part of the joint state. They ask the coordinator for descriptions
// between the steps, which changes nothing.

// sent is a JoinGroup or SyncGroup that nobody has answered.
type sent struct {
	ticket  checker.Ticket
	wire    kmsg.Request
	version int16
}

// question is the ticket of what the monitors ask, far from those of clients.
const question checker.Ticket = 1 << 60

// onlooker is what a worker needs to have monitors look on.
type onlooker struct {
	describe *kmsg.DescribeGroupsRequest
	fetch    *kmsg.OffsetFetchRequest
	step     monitor.Step
	timers   []checker.Timer
	told     Effects
	open     []sent
	watch    *monitor.Watch // scratch
	seen     []monitor.Broken
}

func newOnlooker() (l onlooker) {
	l.describe, l.fetch = kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrOffsetFetchRequest()
	l.describe.Groups = []string{Group}
	l.fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: Group}}
	return l
}

// watch lets the monitors see the step that has led to c, of which m.after is the view. It returns what they know then, which is what they have
// known where nothing has come of the step.
func (m *machine) watch(s *state, c Coordinator) (*monitor.Watch, []sent) {
	l := &m.onlooker
	l.seen = l.seen[:0]
	if m.run.Unwatched || !m.touched() {
		return s.watch, s.open
	}
	m.stillOpen(s)
	l.watch = s.watch.Copy(l.watch)
	st := &l.step
	*st = monitor.Step{Sent: m.wire, Answers: st.Answers[:0]}
	if !m.e.Kind.Request() {
		st.Sent = nil
	}
	switch m.e.Kind {
	case classic.WriteDone: // what the leader has handed in meanwhile is of no account
		st.Sent, st.Landed = s.proposed, m.e.Write != classic.WriteFailed
	case classic.Unload, classic.LoadStarts:
		st.Restarted = true
	case classic.Loaded:
		if m.e.crash { // in a state that is just what its log says: nothing is lost
			st.Sent, st.Landed = s.proposed, true
		} else {
			st.Restarted, st.Loosens = true, true // the log of another life has nothing of the group
		}
	}
	for i := range m.effects.Answers {
		a := &m.effects.Answers[i]
		if a.Ticket == m.req.ticket && m.e.Kind.Request() {
			st.Answers = append(st.Answers, monitor.Answer{Request: m.wire, Version: m.req.version, Response: a.Message})
		} else if j := slices.IndexFunc(s.open, func(o sent) bool { return o.ticket == a.Ticket }); j >= 0 {
			st.Answers = append(st.Answers, monitor.Answer{Request: s.open[j].wire, Version: s.open[j].version, Response: a.Message})
		}
	}
	m.looks(c, &st.Look)
	st.Look.Joins = joins(l.open)
	st.Look.Syncs = len(l.open) - st.Look.Joins
	if m.run.Commits && st.Look.Served {
		if r, ok := m.tells(c, l.fetch, 8).(*kmsg.OffsetFetchResponse); ok && len(r.Groups) == 1 {
			st.Look.Offsets = r.Groups[0].Topics
			st.Answers = append(st.Answers, monitor.Answer{Request: l.fetch, Version: 8, Response: r})
		}
	}
	if st.Look.Served && m.logged(c) {
		again := m.bench.New()
		again.BeginLoad()
		again.Loaded(m.appended(s.log, false))
		replayed := &monitor.Look{}
		m.looks(again, replayed)
		if r, ok := m.tells(again, l.fetch, 8).(*kmsg.OffsetFetchResponse); ok && len(r.Groups) == 1 && m.run.Commits {
			replayed.Offsets = r.Groups[0].Topics
		}
		st.Replayed = replayed
	}
	l.seen = append(l.seen, l.watch.Step(st)...)
	l.watch.Bound(m.after.Generation, func(id string) bool {
		return slices.ContainsFunc(m.after.Rows, func(r Row) bool { return r.ID == id })
	})
	return l.watch, l.open
}

var joinKey = kmsg.NewPtrJoinGroupRequest().Key()

// touched says whether anything has come of the step that a monitor could learn of: not of one that is refused.
func (m *machine) touched() bool {
	if m.moved() || !m.e.Kind.Request() {
		return true
	}
	answered := false
	for i := range m.effects.Answers {
		a := &m.effects.Answers[i]
		if a.Ticket != m.req.ticket {
			return true
		}
		answered = true
		switch a := a.Message.(type) {
		case *kmsg.JoinGroupResponse:
			if a.ErrorCode == 0 {
				return true
			}
		case *kmsg.SyncGroupResponse:
			if a.ErrorCode == 0 {
				return true
			}
		case *kmsg.HeartbeatResponse:
			if a.ErrorCode == 0 {
				return true
			}
		case *kmsg.OffsetCommitResponse:
			return true
		}
	}
	return !answered
}

// joins counts the JoinGroups among what is open.
func joins(open []sent) (n int) {
	for i := range open {
		if open[i].wire.Key() == joinKey {
			n++
		}
	}
	return n
}

// stillOpen finds out which requests wait.
func (m *machine) stillOpen(s *state) {
	l := &m.onlooker
	ended := func(t checker.Ticket) bool {
		return m.answerTo(t) != nil || slices.Contains(m.effects.Dropped, t)
	}
	l.open = l.open[:0]
	if m.e.crash {
		return
	}
	for _, o := range s.open {
		if !ended(o.ticket) {
			l.open = append(l.open, o)
		}
	}
	if k := m.e.Kind; (k == classic.JoinGroup || k == classic.SyncGroup) && !ended(m.req.ticket) {
		l.open = append(l.open, sent{m.req.ticket, m.wire, m.req.version})
	}
}

// proposal is the leader's SyncGroup that is being written after the step.
func (m *machine) proposal(s *state, c Coordinator) kmsg.Request {
	switch {
	case !c.Open():
		return nil
	case s.proposed == nil:
		return m.wire
	}
	return s.proposed
}

// looks asks what the group looks like. While something is being written, answers wait, and nobody can look.
func (m *machine) looks(c Coordinator, look *monitor.Look) {
	l := &m.onlooker
	if c.Open() {
		look.Hidden = true
		return
	}
	if r, ok := m.tells(c, l.describe, 5).(*kmsg.DescribeGroupsResponse); ok && len(r.Groups) == 1 {
		look.Served, look.Described = r.Groups[0].ErrorCode == 0, r.Groups[0]
	}
	l.timers = l.timers[:0]
	for _, t := range c.Timers() {
		l.timers = append(l.timers, checker.Timer{Group: Group, Kind: t.Kind, Member: t.Member})
	}
	look.Timers = l.timers
}

// tells asks the coordinator something that nobody notices.
func (m *machine) tells(c Coordinator, r kmsg.Request, version int16) kmsg.Response {
	told := &m.onlooker.told
	told.Reset()
	c.Request(checker.Request{Ticket: question, Message: r, Version: version, ClientID: "monitor"})
	c.Drain(told)
	for i := range told.Answers {
		if told.Answers[i].Ticket == question {
			return told.Answers[i].Message
		}
	}
	return nil
}

// logged says whether the group's record has got into the log in this step, so that the log has to say what memory does.
func (m *machine) logged(c Coordinator) bool {
	if c.Open() || m.e.Write == classic.WriteFailed {
		return false
	}
	if m.e.Kind == classic.WriteDone {
		return true
	}
	return slices.ContainsFunc(m.effects.Records, func(r Record) bool { return r.Kind == classic.GroupRecord })
}
