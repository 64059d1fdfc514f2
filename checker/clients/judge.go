package clients

import (
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// property is what a crash leaves true. The two forms are asked about states and about steps; one of them is nil.
type property struct {
	name  string
	rule  classic.RuleID
	state func(*machine, *world) bool
	step  func(*machine, *world, *act) bool
}

// holding are properties that hold, whatever is lost.
var holding = []property{
	{name: "a Stable group is what its log says", rule: classic.LoadState, state: stableIsLogged},
	{name: "a crash brings back what the log has, and nobody else", rule: classic.LoadState, step: broughtBack},
	{name: "no request of another generation than that of memory succeeds", rule: classic.GenerationFence, step: fenced},
	{name: "no request of whoever is not in memory succeeds", rule: classic.HeartbeatUnknownMember, step: unknownRefused},
}

// refuted are beliefs that do not hold. The rule is the nearest one; docs/exploration.md has the fact.
var refuted = []property{
	{name: "a generation is used once", rule: classic.JoinCompleteGeneration, step: usedOnce},
	{name: "whoever acts in a generation has heard of it", rule: classic.GenerationFence, step: actsInItsOwn},
	{name: "a generation that a crash has lost is valid again only for those who have joined the new one", rule: classic.StaticRetained, step: joinedAnew},
	{name: "an assignment is made by a leader that has heard of the generation", rule: classic.SyncLeaderAssigns, step: assignsItsOwn},
	{name: "of one generation there is one leader", rule: classic.JoinReplyFollower, state: oneLeader},
	{name: "an id that is gone stays unknown", rule: classic.JoinUnknownMember, step: staysGone},
	{name: "an Empty group has no members after a crash", rule: classic.JoinCompleteEmpty, step: staysEmpty},
	{name: "the ids of a Stable group are those of its log", rule: classic.StaticWriteFails, state: idsLogged},
}

func (m *machine) judgeState(w *world, x *explore.Expansion) {
	m.judge(x, explore.OfState, func(p *property) bool { return p.state == nil || p.state(m, w) })
}

func (m *machine) judgeStep(w *world, a *act, edge int, x *explore.Expansion) {
	m.judge(x, edge, func(p *property) bool { return p.step == nil || p.step(m, w, a) })
}

func (m *machine) judge(x *explore.Expansion, edge int, holds func(*property) bool) {
	if m.run.Crash != Log {
		return
	}
	for _, list := range [...][]property{holding, refuted} {
		for i := range list {
			if p := &list[i]; !holds(p) {
				x.Findings = append(x.Findings, explore.Finding{Edge: edge, Property: p.name, Rule: p.rule.String()})
			}
		}
		if !m.run.Refuted {
			return
		}
	}
}

// stableIsLogged says whether the log has all that there is of a Stable group: nothing that anybody was told can be lost. The id of a static
// member is another matter (idsLogged).
func stableIsLogged(_ *machine, w *world) bool {
	if w.group.Phase != classic.Stable {
		return true
	}
	if w.log.Phase != classic.Stable || w.ahead != 0 || w.log.Protocol != w.group.Protocol {
		return false
	}
	for l := range w.same {
		r := &w.log.Slots[l]
		if r.Kind == classic.Free {
			continue
		}
		if w.same[l] < 0 {
			return false
		}
		s := &w.group.Slots[w.same[l]]
		if s.Leader != r.Leader || s.Given != r.Given || s.Static != r.Static {
			return false
		}
	}
	for i := range w.group.Slots {
		if w.group.Slots[i].Kind == classic.Member && w.logSlot(int8(i)) < 0 {
			return false
		}
	}
	return true
}

func idsLogged(_ *machine, w *world) bool {
	for l := range w.same {
		if w.group.Phase == classic.Stable && w.fresh[l] {
			return false
		}
	}
	return true
}

// broughtBack compares a loaded group with the log.
func broughtBack(_ *machine, w *world, a *act) bool {
	if a.kind != crashes {
		return true
	}
	g, r := &a.next.group, &a.next.log
	for i := range g.Slots {
		s, l := &g.Slots[i], classic.Slot{}
		if i < maxRoom {
			l = r.Slots[i]
		}
		if s.Kind != l.Kind || s.Leader != l.Leader || s.Given != l.Given || s.Static != l.Static || s.OwesSync || s.Kind == classic.Member && !s.Timed {
			return false
		}
	}
	return g.Phase == r.Phase && g.FirstGen == r.FirstGen && g.Protocol == r.Protocol
}

// succeeds says whether a client's Heartbeat or SyncGroup was not refused.
func succeeds(a *act) bool {
	if a.kind != happens || a.who < 0 || a.event.Kind != classic.Heartbeat && a.event.Kind != classic.SyncGroup {
		return false
	}
	for _, got := range a.answers {
		if got.reply.To.Kind == classic.Caller {
			return got.reply.Error == classic.CodeNone
		}
	}
	return true // it waits
}

func fenced(_ *machine, w *world, a *act) bool {
	return !succeeds(a) || w.clients[a.who].gen == w.current()
}

func unknownRefused(_ *machine, w *world, a *act) bool {
	return !succeeds(a) || w.clients[a.who].holds == ownID
}

// usedOnce is about a generation of a number that some client was told before.
func usedOnce(_ *machine, w *world, a *act) bool {
	if a.kind != happens || a.transition.Generation != classic.NextGeneration || a.transition.Next.Phase != classic.CompletingRebalance {
		return true
	}
	for i := range w.clients {
		if c := &w.clients[i]; c.is && c.lost && c.gen == w.current()+1 {
			return false
		}
	}
	return true
}

// joinedAnew is about members that are in a generation without having joined it. Only static ones can be.
func joinedAnew(_ *machine, w *world, a *act) bool {
	if usedOnce(nil, w, a) {
		return true
	}
	for i := range w.clients {
		c := &w.clients[i]
		if !c.lost || c.gen != w.current()+1 || c.holds != ownID || a.who == int8(i) || w.group.Slots[c.at].Joining {
			continue
		}
		if d := &a.next.clients[i]; d.holds == ownID {
			return false
		}
	}
	return true
}

func actsInItsOwn(_ *machine, w *world, a *act) bool {
	return !succeeds(a) || !w.clients[a.who].lost || a.event.Kind != classic.Heartbeat
}

func assignsItsOwn(_ *machine, w *world, a *act) bool {
	return !succeeds(a) || !w.clients[a.who].lost || a.event.Kind != classic.SyncGroup || w.group.Writing || !a.transition.Next.Writing
}

func oneLeader(_ *machine, w *world) bool {
	for i := range w.clients {
		for j := range i {
			a, b := &w.clients[i], &w.clients[j]
			if a.leads && b.leads && a.gen == b.gen && a.gen >= baseGen {
				return false
			}
		}
	}
	return true
}

func staysGone(_ *machine, w *world, a *act) bool {
	for i := range w.clients {
		if a.kind == crashes && w.clients[i].holds == logID && a.next.clients[i].holds == ownID {
			return false
		}
	}
	return true
}

func staysEmpty(_ *machine, w *world, a *act) bool {
	return a.kind != crashes || w.group.Phase != classic.Empty || a.next.group.Phase != classic.Stable
}
