package clients

import (
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// heal tells how healing ends at worst.
func (n *narrator) heal(opening string, begin func(*world) (world, permutation)) {
	w, p := begin(&n.state)
	n.base += int(n.state.ahead)
	n.tracked = false
	n.permute(p)
	n.state = w
	n.told = append(n.told, explore.Step{Event: "(" + opening + ")", State: n.names.state(&n.state)})
	seen := map[world]int{}
	for {
		if at, again := seen[n.state]; again {
			n.told = append(n.told, explore.Step{Event: "(and so on)", State: n.round(len(seen) - at)})
			return
		}
		seen[n.state] = len(seen)
		if !n.worse() {
			break
		}
	}
	why, _ := n.m.explain(&n.state, n.names)
	n.told = append(n.told, explore.Step{Event: "(nothing happens any more)", State: why})
}

// round tells of a healing that goes round, by what makes it: timers that fire, or else all of it.
func (n *narrator) round(steps int) string {
	var all, timers []string
	for _, s := range n.told[len(n.told)-steps:] {
		all = append(all, s.Event)
		if strings.HasSuffix(s.Event, " fires") {
			timers = append(timers, s.Event)
		}
	}
	if len(timers) > 0 {
		all = timers
	}
	return fmt.Sprintf("healing may go round for ever, the last %d steps again and again: %s", steps, strings.Join(all, "; "))
}

// worse takes the first step of healing that may end as badly as any.
func (n *narrator) worse() (taken bool) {
	worst := n.m.ask(&n.state).end
	n.m.healing(&n.state, func(a *act, next *world) bool {
		e := n.m.ask(next).end
		if taken = e == worst || e == stuck && worst == rounds; taken {
			n.take(a)
		}
		return !taken
	})
	return taken
}

// explain says in words why healing has ended though not all are together, and which rule should have gone on.
func (m *machine) explain(w *world, n *names) (string, string) {
	why := &reasons{m: m, w: w, n: n}
	why.group()
	for i := range w.clients {
		if c := &w.clients[i]; c.is && !m.settled(w, c) {
			why.client(int8(i))
		}
	}
	for i := range w.group.Slots {
		if w.group.Slots[i].Kind != classic.Free && w.whose(int8(i)) < 0 {
			why.orphan(int8(i))
		}
	}
	return strings.Join(why.texts, "; "), why.rule
}

// reasons collects why nothing happens. The rule is that of the first reason that has one.
type reasons struct {
	m     *machine
	w     *world
	n     *names
	texts []string
	rule  string
}

func (r *reasons) because(rule classic.RuleID, format string, args ...any) {
	r.say(format, args...)
	if r.rule == "" {
		r.rule = rule.String()
	}
}

func (r *reasons) say(format string, args ...any) {
	r.texts = append(r.texts, fmt.Sprintf(format, args...))
}

// group is what the group waits for.
func (r *reasons) group() {
	g := &r.w.group
	switch g.Phase {
	case classic.PreparingRebalance:
		missing := r.missing(func(s *classic.Slot) bool { return s.Kind == classic.Pending || !s.Joining })
		switch {
		case inUse(g) == 0:
			r.because(classic.JoinCompleteTimeout, "nobody is left, the group does not become Empty, and %s", r.timer(g.JoinTimer, "the join timer"))
		case missing == "":
			r.because(classic.JoinCompleteAll, "everybody has joined, and the join is not completed")
		default:
			r.because(classic.JoinCompleteTimeout, "the group waits for the join of %s, and %s", missing, r.timer(g.JoinTimer, "the join timer"))
		}
	case classic.CompletingRebalance:
		leader := r.missing(func(s *classic.Slot) bool { return s.Leader })
		switch {
		case leader == "":
			r.because(classic.JoinCompleteLeader, "the group waits for an assignment, and nobody leads")
		default:
			r.because(classic.SyncTimerExpels, "the group waits for the assignment of %s, and %s", leader, r.timer(g.SyncTimer, "the sync timer"))
		}
	}
}

// timer says that something will not fire, or changes nothing when it does.
func (r *reasons) timer(runs bool, what string) string {
	if runs {
		return what + " fires and changes nothing"
	}
	return what + " is not set"
}

// missing are the ids in memory of which something is so.
func (r *reasons) missing(is func(*classic.Slot) bool) string {
	var ids []string
	for i := range r.w.group.Slots {
		s := &r.w.group.Slots[i]
		if s.Kind == classic.Free || !is(s) {
			continue
		}
		text := r.n.slots[i]
		if s.Kind == classic.Pending {
			text = "pending id " + text
		}
		if !s.Timed {
			text += ", whose session timer is not set"
		}
		ids = append(ids, text)
	}
	return strings.Join(ids, " and ")
}

// client is what a client waits for, or asks for in vain.
func (r *reasons) client(who int8) {
	c, name := &r.w.clients[who], r.n.clients[who]
	switch {
	case c.waits == joining:
		r.because(classic.JoinCompleteAll, "%s waits for the answer to its JoinGroup, which the coordinator holds back", name)
	case c.waits == syncing:
		r.because(classic.SyncLeaderAssigns, "%s waits for the answer to its SyncGroup, which the coordinator holds back", name)
	default:
		r.request(who)
	}
}

// request is the request that a client sends in vain.
func (r *reasons) request(who int8) {
	var of act
	var got *classic.Reply
	r.m.program(r.w, who, surroundings{room: r.m.healer.room}, func(a *act) bool {
		of = *a
		if len(a.answers) > 0 {
			got = &a.answers[0].reply
		}
		return false
	})
	api := map[classic.EventKind]string{classic.JoinGroup: "JoinGroup", classic.SyncGroup: "SyncGroup", classic.Heartbeat: "Heartbeat"}[of.event.Kind]
	if got == nil {
		r.say("%s sends its %s in vain", r.n.clients[who], api)
		return
	}
	text := fmt.Sprintf("each %s of %s is answered %s", api, r.n.clients[who], codeNames[got.Error])
	c := &r.w.clients[who]
	switch {
	case of.event.Kind == classic.Heartbeat && !c.inMemory():
		r.because(classic.HeartbeatUnknownMember, "%s, though it is no member", text)
	case of.event.Kind == classic.Heartbeat && r.w.group.Phase == classic.PreparingRebalance:
		r.because(classic.HeartbeatPreparing, "%s, though the group waits for it to join", text)
	case of.event.Kind == classic.Heartbeat && c.gen != r.w.current():
		r.because(classic.HeartbeatIllegalGeneration, "%s, though its generation is over", text)
	default:
		r.say("%s", text)
	}
}

// orphan is an id that no client has, and that stays.
func (r *reasons) orphan(slot int8) {
	s := &r.w.group.Slots[slot]
	rule := classic.SessionExpires
	if s.Kind == classic.Pending {
		rule = classic.JoinPendingExpires
	}
	r.because(rule, "%s stays though no client has it, and %s", r.n.slots[slot], r.timer(s.Timed, "its session timer"))
}
