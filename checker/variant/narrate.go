package variant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/checker/explore"
)

// Narrate tells a path, each event on one line. What is never answered has a line more.
func (m *machine) Narrate(edges []int, finding explore.Finding) (told []explore.Step) {
	s := initial()
	for _, edge := range edges {
		var next state
		at := 0
		m.transitions(&s, func(x *execution) {
			if at == edge {
				told = append(told, x.tell())
				next = x.s
			}
			at++
		})
		s = next
	}
	waits, ok := m.inVain(&s, finding)
	if !ok {
		return told
	}
	n := m.following(s.key())
	end := fmt.Sprintf("the %d states that can follow by themselves all have it", n)
	if n == 1 {
		end = "nothing follows by itself"
	}
	return append(told, explore.Step{Event: "(for ever)", Answers: []string{waits}, State: end})
}

// inVain says in words what never comes.
func (m *machine) inVain(s *state, f explore.Finding) (string, bool) {
	switch f.Property {
	case properties[joinAnswered].Name:
		return "the JoinGroup of " + name(int8(f.Detail)) + " waits", true
	case properties[syncAnswered].Name:
		return "the SyncGroup of " + name(int8(f.Detail)) + " waits", true
	case properties[deadRemoved].Name:
		return name(int8(f.Detail)) + ", which is gone, stays a member", true
	case properties[rebalanceEnds].Name:
		return "the group stays in a rebalance", true
	}
	return "", false
}

func name(client int8) string { return [...]string{"A", "B", "a stranger"}[client] }

func (e event) String() string {
	who := name(e.client)
	switch e.kind {
	case joinGroup:
		return "JoinGroup of " + who
	case syncGroup:
		return "SyncGroup of " + who
	case heartbeat:
		return "Heartbeat of " + who
	case leaveGroup:
		return "LeaveGroup of " + who
	case commit:
		return "OffsetCommit of " + who
	case expiry:
		return "the session of " + who + " ends"
	case crash:
		return who + " crashes"
	case joinTimeout:
		return "the join timer fires"
	case restart:
		return "the coordinator restarts"
	}
	return "the group is deleted"
}

// tell tells what has happened.
func (x *execution) tell() explore.Step {
	step := explore.Step{Event: x.e.String()}
	say := func(format string, args ...any) { step.Answers = append(step.Answers, fmt.Sprintf(format, args...)) }
	for _, m := range x.moves {
		switch {
		case m.refused:
			say("%v to %v is in the table, and its actions refuse it", m.from, m.to)
		case m.outside:
			say("%v to %v is not in the table", m.from, m.to)
		}
	}
	switch {
	case x.e.kind == commit && x.e.client != stranger:
		say("generation %d: %v", x.before.clients[x.e.client].held, x.replies[0].code)
	default:
		for _, r := range x.addressees() {
			say("%s", r)
		}
	}
	if x.parked && x.s.clients[x.e.client].waits != forNothing {
		say("waits")
	}
	step.State = x.states()
	return step
}

// addressees tells the answers, first that to the sender of the request, who needs no name.
func (x *execution) addressees() (all []string) {
	replies := slices.Clone(x.replies)
	slices.SortStableFunc(replies, func(a, b reply) int { return int(bit(a.client != x.e.client)) - int(bit(b.client != x.e.client)) })
	for _, r := range replies {
		to := ""
		if r.client != x.e.client {
			to = name(r.client) + ": "
		}
		if r.join {
			all = append(all, fmt.Sprintf("%sgeneration %d", to, r.told))
		} else {
			all = append(all, to+r.code.String())
		}
	}
	return all
}

// states tells the states before and after, and who is in the group then.
func (x *execution) states() string {
	text := x.before.short()
	if now := x.s.short(); now != text {
		text += " → " + now
	}
	var who []string
	for i := range int8(clients) {
		if is := x.s.describe(i); is != "" {
			who = append(who, is)
		}
	}
	if x.s.offsets != noOffsets {
		who = append(who, [...]string{ownOffsets: "offsets", foreignOffsets: "offsets of the deleted group"}[x.s.offsets])
	}
	if len(who) == 0 {
		return text
	}
	return text + ": " + strings.Join(who, ", ")
}

func (s *state) short() string {
	if s.phase == Dead {
		return s.phase.String()
	}
	return fmt.Sprintf("%v %d", s.phase, s.generation)
}

// describe tells what a client is to the group; nothing, if nothing.
func (s *state) describe(i int8) string {
	c := &s.clients[i]
	var is []string
	add := func(on bool, text string) {
		if on {
			is = append(is, text)
		}
	}
	add(c.member && s.leader == i, "leads")
	add(c.dead, "gone")
	add(c.waits == forJoin, "in JoinGroup")
	add(c.waits == forSync, "in SyncGroup")
	add(c.waits == forRetry, "to send its JoinGroup again")
	add(c.member && c.owes == owesJoin && c.waits == forJoin, "and yet awaited")
	add(c.member && !c.timer, "no timer")
	add(!c.dead && c.held > 0 && (!c.member || c.held != s.generation), fmt.Sprintf("holds %d", c.held))
	switch {
	case !c.member && len(is) == 0:
		return ""
	case !c.member:
		is = append([]string{"no member"}, is...)
	case len(is) == 0:
		return name(i)
	}
	return fmt.Sprintf("%s (%s)", name(i), strings.Join(is, "; "))
}
