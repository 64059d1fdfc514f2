package core

import (
	"fmt"
	"reflect"
)

// CheckInvariants checks §7.1 (I2 to I10) and the coordinator's own book-keeping.
func (c *Coordinator) CheckInvariants() error {
	waiting := map[Ticket]bool{}
	for name, g := range c.groups {
		if c.status == loading {
			break // what has been read is not a whole yet
		}
		if err := c.checkGroup(g, waiting); err != nil {
			return fmt.Errorf("group %q in %v: %w", name, g.state, err)
		}
		if g.id != name {
			return fmt.Errorf("group %q is filed as %q", g.id, name)
		}
		for _, r := range g.postponed {
			waiting[r.Ticket] = true
		}
	}
	for id := range c.timers {
		if id.Kind == CleanupTimer {
			continue
		}
		g := c.groups[id.Group]
		if g == nil {
			return fmt.Errorf("timer %v of a group that is gone", id)
		}
		_, member := g.members[id.Member]
		_, pending := g.pending[id.Member]
		switch id.Kind {
		case SessionTimer, NewMemberTimer:
			if !member {
				return fmt.Errorf("timer %v of no member", id)
			}
		case PendingTimer:
			if !pending {
				return fmt.Errorf("timer %v of no pending id", id)
			}
		}
	}
	for _, w := range c.writes {
		for _, then := range w.then { // what is late has been answered
			switch then := then.(type) {
			case *answering:
				waiting[then.request.Ticket] = true
			case *committing:
				waiting[then.ticket] = true
			case *fetching:
				waiting[then.request.Ticket] = true
			case *deleting:
				waiting[then.of.request.Ticket] = true
			}
		}
	}
	for t := range c.open {
		if !waiting[t] {
			return fmt.Errorf("ticket %d waits for nothing", t)
		}
	}
	if len(waiting) != len(c.open) {
		return fmt.Errorf("%d requests wait, %d are open", len(waiting), len(c.open))
	}
	return nil
}

func (c *Coordinator) checkGroup(g *group, waiting map[Ticket]bool) error {
	joining, unsynced, static := 0, 0, 0
	support := map[string]int{}
	for _, m := range g.order {
		if g.members[m.id] != m {
			return fmt.Errorf("member %s is not filed", m.id)
		}
		if _, pending := g.pending[m.id]; pending {
			return fmt.Errorf("I3: %s is member and pending", m.id)
		}
		seen := map[string]bool{}
		for _, p := range m.protocols {
			if !seen[p.name] {
				support[p.name]++
			}
			seen[p.name] = true
		}
		if m.instance != nil {
			if static++; g.static[*m.instance] != m {
				return fmt.Errorf("I4: instance %q is not filed", *m.instance)
			}
		}
		if m.join != nil {
			joining++
			waiting[m.join.ticket] = true
			if g.state != PreparingRebalance && (g.state != Stable || m.instance == nil || len(c.writes) == 0) {
				return fmt.Errorf("I7: %s waits in JoinGroup", m.id)
			}
		}
		if m.sync != nil {
			waiting[m.sync.ticket] = true
			if g.state != CompletingRebalance || m.unsynced {
				return fmt.Errorf("I8: %s waits in SyncGroup, owes one: %v", m.id, m.unsynced)
			}
		}
		if m.unsynced {
			unsynced++
		}
		if m.isNew && g.state != PreparingRebalance {
			return fmt.Errorf("%s is new", m.id)
		}
		_, session := c.timers[TimerID{g.id, SessionTimer, m.id}]
		_, fresh := c.timers[TimerID{g.id, NewMemberTimer, m.id}]
		if m.isNew != fresh || session && fresh || !session && !fresh && m.join == nil && m.sync == nil {
			return fmt.Errorf("%s (new %v) has session timer %v, new-member timer %v", m.id, m.isNew, session, fresh)
		}
		if g.state == Stable || g.state == CompletingRebalance {
			if g.protocol == nil || !seen[*g.protocol] {
				return fmt.Errorf("I6: %s does not support the chosen protocol", m.id)
			}
		}
	}
	for producer, offsets := range g.unstable {
		if len(offsets) == 0 {
			return fmt.Errorf("producer %d has nothing pending", producer)
		}
	}
	if c.status != serving {
		return fmt.Errorf("it is there while nothing is served")
	}
	for id := range g.pending {
		if _, ok := c.timers[TimerID{g.id, PendingTimer, id}]; !ok {
			return fmt.Errorf("pending id %s has no timer", id)
		}
	}
	_, join := c.timers[TimerID{g.id, JoinTimer, ""}]
	_, sync := c.timers[TimerID{g.id, SyncTimer, ""}]
	switch {
	case len(g.order) != len(g.members):
		return fmt.Errorf("%d members filed, %d listed", len(g.members), len(g.order))
	case len(g.static) != static:
		return fmt.Errorf("I4: %d instances filed, %d members are static", len(g.static), static)
	case joining != g.joining || unsynced != g.unsynced:
		return fmt.Errorf("counts %d joining, %d unsynced; there are %d, %d", g.joining, g.unsynced, joining, unsynced)
	case fmt.Sprint(support) != fmt.Sprint(g.support):
		return fmt.Errorf("counts support %v; there is %v", g.support, support)
	case (g.leader != "") != (len(g.members) > 0) || g.leader != "" && g.members[g.leader] == nil:
		return fmt.Errorf("I5: leader %q of %d members", g.leader, len(g.members))
	case g.state == Empty && (len(g.members) > 0 || g.protocol != nil):
		return fmt.Errorf("I2: %d members", len(g.members))
	case (g.state == Stable || g.state == CompletingRebalance) && len(g.members) == 0:
		return fmt.Errorf("I2: no members")
	case g.state == Dead:
		return fmt.Errorf("Dead and still filed")
	case join != (g.state == PreparingRebalance):
		return fmt.Errorf("join timer armed: %v", join)
	case sync != (unsynced > 0):
		return fmt.Errorf("sync timer armed: %v, %d owe a SyncGroup", sync, unsynced)
	}
	return nil
}

// Breaking a group from inside, to see that the coordinator notices.
func (c *Coordinator) ForceState(group string, s State) { c.groups[group].state = s }

// ForgetSupport makes the vote of a group fail.
func (c *Coordinator) ForgetSupport(group string) { clear(c.groups[group].support) }

// Transitions is the table.
func Transitions(from, to State) bool { return transitions[from][to] }

// Fields are the fields of groups and members.
func Fields() map[string][]string {
	names := func(of reflect.Type) (list []string) {
		for i := range of.NumField() {
			list = append(list, of.Field(i).Name)
		}
		return list
	}
	return map[string][]string{"group": names(reflect.TypeFor[group]()), "member": names(reflect.TypeFor[member]())}
}
