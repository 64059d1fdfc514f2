package joint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// A trace as a scenario file: what happens, without what is answered, which is to be recorded from a coordinator that is right
// (docs/scenarios.md). Not every trace can be one: scenario text has no words for a coordinator that loads, or for a write that takes its time.

// teller makes scenario text of a trace, step by step.
type teller struct {
	m       *machine
	actors  map[string]string // by member id
	named   int
	moments []moment
	lines   []string // of each step; empty where only time passes
	profile string
	why     string // there is no scenario
}

func (m *machine) teller() *teller { return &teller{m: m, actors: map[string]string{}} }

func (t *teller) cannot(why string) {
	if t.why == "" {
		t.why = why
	}
}

func (t *teller) needs(profile string) {
	if t.profile != "" && t.profile != profile {
		t.cannot("it takes a broker of two profiles")
	}
	t.profile = profile
}

// step takes a step in, after it has happened.
func (t *teller) step(s *state, e *event, o *outcome, c Coordinator) {
	now := moment{armed: o.armed, running: slices.Clone(c.Timers())}
	line := ""
	switch e.Kind {
	case classic.MemberTimer, classic.JoinTimer, classic.SyncTimer:
		fires := e.timer
		now.fires = &fires
	case classic.Loaded:
		if line = "restart"; !e.crash {
			t.cannot("the coordinator loads")
		}
		t.needs("restart")
	case classic.Unload, classic.LoadStarts:
		t.cannot("the coordinator gives the group up, or loads it")
	case classic.WriteDone:
		t.cannot("a write takes its time")
	default:
		line = t.request(s, e, o.minted)
	}
	if e.Write == classic.WriteFailed {
		t.needs("faults")
		if line == "" {
			t.cannot("a write fails that a timer has begun")
		}
		line = "broker refuses-writes\n----\n\n" + line + "\n----\n\nbroker accepts-writes"
	}
	t.moments, t.lines = append(t.moments, now), append(t.lines, line)
}

// actor is who holds an id; whoever joins without one is somebody new.
func (t *teller) actor(id string, joins bool) string {
	if name, ok := t.actors[id]; ok {
		return name
	}
	if id == nobody || id == "" && !joins {
		if t.named == 0 {
			t.cannot("somebody sends a request who has never joined")
		}
		return "A" // on behalf of whom it is not
	}
	t.named++
	return string(rune('A' + t.named - 1))
}

func (t *teller) request(s *state, e *event, minted string) string {
	id := t.m.memberID(s, e.Ref)
	who, version := t.actor(id, e.Kind == classic.JoinGroup), t.m.req.version
	args := fmt.Sprintf(" v=%d", version)
	switch {
	case id == nobody:
		args = " member=stranger" + args
	case id == "":
		args = " member=none" + args
	}
	if e.BadGroup {
		args += " group=none"
	}
	if in := t.m.instanceID(s, e.Instance, e.Kind == classic.JoinGroup && e.Ref.Kind == classic.NoID); in != "" {
		args += " static=" + in
	} else if t.m.run.Static {
		args += " static=none"
	}
	generation := fmt.Sprintf(" gen=%d", s.asked(e.Gen))
	if e.Gen == classic.NoGen {
		generation = " gen=none"
	}
	switch e.Kind {
	case classic.JoinGroup:
		line := "join " + who
		for _, name := range t.m.lexicon.Lists[e.List].Names {
			line += fmt.Sprintf(" %s=%s", protocolName(name), metadata)
		}
		if e.List == 0 {
			line += " -empty"
		}
		line += map[bool]string{false: " session=10s", true: " session=below-min"}[e.BadSession] + " rebalance=1m"
		line += map[uint8]string{0: " type=none", groupType: " type=t", otherType: " type=u"}[e.Type] + args
		if e.Ref.Kind == classic.KnownID && s.models[0].parked[e.Ref.Slot].join.ticket != 0 {
			line += " -again"
		}
		if minted != "" {
			t.actors[minted] = who
		}
		return line
	case classic.SyncGroup:
		line := "sync " + who
		for i := range s.rows {
			if e.Assign[i] != 0 {
				line += fmt.Sprintf(" %s=%s", t.actor(s.rows[i].id, false), assigned)
			}
		}
		line += generation + args
		switch {
		case e.NoProtocol:
			line += " type=none protocol=none"
		case e.Type != 0:
			line += fmt.Sprintf(" type=%s protocol=%s", types[e.Type], protocolName(e.Protocol))
		}
		if e.Ref.Kind == classic.KnownID && s.models[0].parked[e.Ref.Slot].sync.ticket != 0 {
			line += " -again"
		}
		return line
	case classic.Heartbeat:
		return "heartbeat " + who + generation + args
	case classic.OffsetCommit:
		return "commit " + who + " t/0=1" + generation + args
	case classic.LeaveGroup:
		return t.leave(s, e, version)
	case classic.DescribeGroups:
		return fmt.Sprintf("describe v=%d", version)
	case classic.ListGroups:
		return fmt.Sprintf("list v=%d", version)
	}
	return fmt.Sprintf("delete v=%d", version)
}

func (t *teller) leave(s *state, e *event, version int16) string {
	if e.OldLeave || e.BadGroup {
		if len(e.Leaves) == 0 {
			t.cannot("nobody leaves, of no group")
			return ""
		}
		id := t.m.memberID(s, e.Leaves[0])
		line := "leave " + t.actor(id, false)
		switch id {
		case nobody:
			line += " member=stranger"
		case "":
			line += " member=none"
		}
		return fmt.Sprintf("%s v=%d static=none", line, version)
	}
	line := "leave-batch"
	for i, ref := range e.Leaves {
		switch id := t.m.memberID(s, ref); id {
		case nobody:
			line += " stranger"
		case "":
			line += " none"
		default:
			line += " " + t.actor(id, false)
		}
		if i < len(e.Instances) {
			if in := t.m.instanceID(s, e.Instances[i], false); in != "" {
				line += "@" + in
			}
		}
	}
	return fmt.Sprintf("%s v=%d", line, version)
}

// errUntimed says that a trace is no scenario. The error that wraps it says why.
var errUntimed = errors.New("untimed")

// text is the scenario, or why there is none.
func (t *teller) text(f explore.Finding, wrong mismatch) (string, error) {
	at, ok := solve(t.moments)
	switch {
	case t.why != "":
		return "", fmt.Errorf("%w: %s", errUntimed, t.why)
	case t.m.run.Delay:
		return "", fmt.Errorf("%w: its initial delay is none of a broker's profile", errUntimed)
	case !ok:
		return "", fmt.Errorf("%w: no timing lets the timers fire in this order", errUntimed)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Found by joint exploration: %s.\n# expected  %s\n# got       %s\n", f.Property, wrong.expected, wrong.got)
	if f.Rule != "" {
		fmt.Fprintf(&b, "# rule: %s\n", f.Rule)
	}
	if t.profile != "" {
		fmt.Fprintf(&b, "# profile: %s\n", t.profile)
	}
	for i, line := range t.lines {
		if i > 0 && at[i] > at[i-1] {
			fmt.Fprintf(&b, "\nadvance %v\n----\n", at[i]-at[i-1])
		}
		if line != "" {
			fmt.Fprintf(&b, "\n%s\n----\n", line)
		}
	}
	return b.String(), nil
}
