package joint

import (
	"fmt"
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Narrate goes the way again and tells it in words.
func (m *machine) Narrate(edges []int, finding explore.Finding) []explore.Step {
	m.explaining = true
	defer func() { m.explaining = false }()
	s, k := m.first()
	var steps []explore.Step
	tell := m.teller()
	for _, edge := range edges {
		at, next := 0, (*state)(nil)
		step := explore.Step{}
		err := m.expand(k, s, func(e *event, o *outcome) bool {
			if at++; at <= edge {
				return true
			}
			step.Event = m.say(s, e)
			if o.to != nil {
				tell.step(s, e, o, o.to.coordinator)
			} else {
				tell.step(s, e, o, s.coordinator)
			}
			for _, b := range o.seen {
				step.Answers = append(step.Answers, b.Monitor+": "+b.What)
				if b.Monitor == finding.Property {
					m.hand(tell, finding, mismatch{expected: b.Monitor, got: b.What})
				}
			}
			if o.broken {
				step.State = "expected: " + o.wrong.expected + "; got: " + o.wrong.got
				if o.wrong.property() == finding.Property {
					m.hand(tell, finding, o.wrong)
				}
				return false
			}
			if next = o.to; next == nil || o.key == k {
				next = s
			}
			k = o.key
			step.State = m.sayState(next)
			return false
		})
		if err != nil {
			step.State = err.Error()
		}
		steps = append(steps, step)
		if next == nil {
			break
		}
		s = next
	}
	return steps
}

// hand hands the trace so far out as a scenario.
func (m *machine) hand(tell *teller, f explore.Finding, wrong mismatch) {
	if m.run.Scenario == nil {
		return
	}
	text, err := tell.text(f, wrong)
	m.run.Scenario(f, text, err)
}

func (m *machine) say(s *state, e *event) string {
	var b strings.Builder
	switch e.Kind {
	case classic.MemberTimer:
		fmt.Fprintf(&b, "the timer of %s fires", e.timer.Member)
	case classic.JoinTimer:
		b.WriteString("the join timer fires")
	case classic.SyncTimer:
		b.WriteString("the sync timer fires")
	case classic.WriteDone:
		b.WriteString("the write of the assignment ends")
	case classic.Unload:
		b.WriteString("the coordinator gives the group up")
	case classic.LoadStarts:
		b.WriteString("it begins to load")
	case classic.Loaded:
		b.WriteString("the log has nothing of the group")
		if e.crash {
			b.Reset()
			b.WriteString("the coordinator crashes, and the group is loaded as its last record says")
		}
	default:
		m.sayRequest(&b, s, e)
	}
	if e.Write == classic.WriteFailed {
		b.WriteString("; the write fails")
	}
	return b.String()
}

func (m *machine) sayRequest(b *strings.Builder, s *state, e *event) {
	id := func(r classic.Ref) string {
		if name := m.memberID(s, r); name != "" {
			return name
		}
		return "no id"
	}
	b.WriteString(kmsg.NameForKey(m.wire.Key()))
	if e.BadGroup {
		b.WriteString(" of the empty group")
	}
	switch e.Kind {
	case classic.LeaveGroup:
		for i, ref := range e.Leaves {
			fmt.Fprintf(b, " %s", id(ref))
			if i < len(e.Instances) {
				fmt.Fprintf(b, "@%s", m.instanceID(s, e.Instances[i], false))
			}
		}
	case classic.DescribeGroups, classic.ListGroups, classic.DeleteGroups:
	default:
		fmt.Fprintf(b, " of %s", id(e.Ref))
	}
	if e.Instance.Kind != classic.NoInstance {
		fmt.Fprintf(b, " with instance %s", m.instanceID(s, e.Instance, e.Kind == classic.JoinGroup && e.Ref.Kind == classic.NoID))
	}
	switch e.Kind {
	case classic.JoinGroup:
		for _, name := range m.lexicon.Lists[e.List].Names {
			fmt.Fprintf(b, " [%s]", protocolName(name))
		}
		switch {
		case e.BadSession:
			b.WriteString(" with a session that is too short")
		case e.Type != groupType:
			fmt.Fprintf(b, " of type %q", types[e.Type])
		case e.Skips:
			b.WriteString(" v9")
		case !e.NeedsID:
			b.WriteString(" v3")
		}
	case classic.SyncGroup, classic.Heartbeat, classic.OffsetCommit:
		fmt.Fprintf(b, " generation %d", s.asked(e.Gen))
	}
}

func (m *machine) sayState(s *state) string {
	var parts []string
	for i := range s.models {
		n := candidate{explanation: s.models[i]}
		copy(n.names[:], s.rows)
		parts = append(parts, m.group(&n))
	}
	return strings.Join(parts, "; or: ")
}

// group is a group in words.
func (m *machine) group(n *candidate) string {
	g := &n.state
	if g.Serving != classic.Active {
		return g.Serving.String()
	}
	s := fmt.Sprintf("%s, generation %d", stateName(g.Phase), n.generation)
	var members []string
	for i := range g.Slots[:room] {
		slot := &g.Slots[i]
		if slot.Kind == classic.Free {
			continue
		}
		text := n.names[i].id
		if slot.Static {
			text += "@" + n.names[i].instance
		}
		for _, f := range []struct {
			on   bool
			name string
		}{
			{slot.Kind == classic.Pending, "pending"},
			{slot.Leader, "leads"},
			{slot.Joining, "joining"},
			{slot.Syncing, "syncing"},
			{slot.New, "new"},
			{!slot.Timed, "no timer"},
			{slot.OwesSync, "owes a sync"},
			{slot.Given != 0, "assigned"},
		} {
			if f.on {
				text += " " + f.name
			}
		}
		members = append(members, text)
	}
	return s + " [" + strings.Join(members, ", ") + "] " + n.armed()
}

// armed are the timers in words.
func (n *candidate) armed() string {
	var on []string
	for i := range n.names {
		if n.state.Slots[i].Timed {
			on = append(on, n.names[i].id)
		}
	}
	if n.state.JoinTimer {
		on = append(on, "join")
	}
	if n.state.SyncTimer {
		on = append(on, "sync")
	}
	sort.Strings(on)
	return "timers [" + strings.Join(on, " ") + "]"
}

func (m *machine) showAnswer(a kmsg.Response) string {
	switch a := a.(type) {
	case *kmsg.JoinGroupResponse:
		return fmt.Sprintf("%s member=%s generation=%d leader=%s members=%d skip=%v", checker.ErrorName(a.ErrorCode), a.MemberID, a.Generation, a.LeaderID, len(a.Members), a.SkipAssignment)
	case *kmsg.SyncGroupResponse:
		return fmt.Sprintf("%s %q", checker.ErrorName(a.ErrorCode), a.MemberAssignment)
	case *kmsg.HeartbeatResponse:
		return checker.ErrorName(a.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		s := checker.ErrorName(a.ErrorCode)
		for _, e := range a.Members {
			s += " " + checker.ErrorName(e.ErrorCode)
		}
		return s
	case *kmsg.OffsetCommitResponse:
		return checker.ErrorName(a.Topics[0].Partitions[0].ErrorCode)
	case *kmsg.DeleteGroupsResponse:
		return checker.ErrorName(a.Groups[0].ErrorCode)
	case *kmsg.DescribeGroupsResponse:
		g := a.Groups[0]
		var members []string
		for _, o := range g.Members {
			members = append(members, fmt.Sprintf("%s:%s->%q", o.MemberID, o.ProtocolMetadata, o.MemberAssignment))
		}
		return fmt.Sprintf("%s %s %s [%s]", checker.ErrorName(g.ErrorCode), g.State, g.Protocol, strings.Join(members, " "))
	}
	return fmt.Sprintf("%+v", a)
}

var kinds = [...]string{"group", "group tombstone", "offsets", "offset tombstones", "transactional offsets", "offset tombstones"}

func recordNames(list []classic.Record) string {
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = kinds[r.Kind]
	}
	return fmt.Sprint(names)
}

// String is the record in words.
func (r Record) String() string {
	if r.Kind != classic.GroupRecord {
		return kinds[r.Kind]
	}
	s := fmt.Sprintf("%s, generation %d of type %q, protocol %q, leader %q", kinds[r.Kind], r.Generation, r.Type, r.Protocol, r.Leader)
	for _, o := range r.Members {
		s += fmt.Sprintf(", %s@%s:%s->%q", o.ID, o.Instance, o.Metadata, o.Assignment)
	}
	return s
}
