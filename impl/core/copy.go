package core

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// CopyTo makes another coordinator what this one is, but for its settings: a shell that may have to go back makes a copy before it goes
// on. What is open in this one is open in the other, under the same tickets and ids. What the other was is over, and its memory is used
// again.
//
// It fails, and leaves the other one of no use, while a commit, a deletion, a fetch or a marker waits for the log: what is to follow of
// those is known to this one only.
func (c *Coordinator) CopyTo(n *Coordinator) error {
	n.now, n.effects, n.status, n.epoch, n.lostFor, n.cleaning = c.now, nil, c.status, c.epoch, slices.Clone(c.lostFor), c.cleaning
	n.timerSeq, n.lastID, n.abandoned, n.position, n.faulty, n.reason = c.timerSeq, c.lastID, c.abandoned, c.position, c.faulty, c.reason
	refill(n.timers, c.timers)
	refill(n.open, c.open)
	for name := range n.groups {
		if c.groups[name] == nil {
			delete(n.groups, name)
		}
	}
	for name, g := range c.groups {
		if g.deleting != 0 || len(g.commits) > 0 {
			return fmt.Errorf("group %q waits for the log with a commit or a deletion; copy the coordinator when that has ended", name)
		}
		to := n.groups[name]
		if to == nil {
			to = newGroup(name, g.since)
			n.groups[name] = to
		}
		g.copyTo(to)
	}
	clear(n.writes)
	for id, w := range c.writes {
		to, err := n.copyWrite(w)
		if err != nil {
			return fmt.Errorf("write %d: %w", id, err)
		}
		n.writes[id] = to
	}
	return nil
}

// copyWrite copies what follows of a write, for the copied groups.
func (c *Coordinator) copyWrite(w *write) (*write, error) {
	to := &write{}
	for _, then := range w.then {
		switch then := then.(type) {
		case *answering:
			of := *then
			to.then = append(to.then, &of)
		case *emptied:
			to.then = append(to.then, then)
		case *created:
			to.then = append(to.then, &created{c.groupOf(then.group), then.creator})
		case *assigned:
			to.then = append(to.then, &assigned{c.groupOf(then.group)})
		case *replacing:
			of := *then
			of.group = c.groupOf(then.group)
			if of.member = of.group.members[then.member.id]; of.member == nil {
				of.member = &member{} // it is gone, and nothing will come of it
				then.member.copyTo(of.member)
			}
			to.then = append(to.then, &of)
		default:
			return nil, fmt.Errorf("%T cannot be copied; copy the coordinator when the write has ended", then)
		}
	}
	if len(w.late) > 0 {
		return nil, errors.New("it is late; copy the coordinator when it has ended")
	}
	return to, nil
}

// groupOf is the copy of a group; one that is gone already keeps nothing to itself that could still change.
func (c *Coordinator) groupOf(g *group) *group {
	if to := c.groups[g.id]; to != nil {
		return to
	}
	to := newGroup(g.id, g.since)
	g.copyTo(to)
	return to
}

// copyTo shares only what never changes in place: protocol lists, assignments and names.
func (g *group) copyTo(n *group) {
	was := *n
	*n = *g
	n.order, n.members, n.static, n.support, n.pending = was.order[:0], was.members, was.static, was.support, was.pending
	n.offsets, n.unstable, n.commits, n.postponed = was.offsets, was.unstable, was.commits, slices.Clone(g.postponed)
	refill(n.support, g.support)
	refill(n.pending, g.pending)
	refill(n.offsets, g.offsets)
	clear(n.commits)
	clear(n.unstable)
	for producer, offsets := range g.unstable {
		n.unstable[producer] = maps.Clone(offsets)
	}
	clear(n.members)
	clear(n.static)
	for i, m := range g.order {
		to := &member{}
		if i < len(was.order) {
			to = was.order[i]
		}
		m.copyTo(to)
		n.order = append(n.order, to)
		n.members[to.id] = to
		if to.instance != nil && g.static[*to.instance] == m {
			n.static[*to.instance] = to
		}
	}
}

// refill makes a map what another one is.
func refill[K comparable, V any](n, m map[K]V) {
	clear(n)
	for k, v := range m {
		n[k] = v
	}
}

func (m *member) copyTo(n *member) {
	join, sync := n.join, n.sync
	*n = *m
	n.join, n.sync = m.join.copyTo(join), m.sync.copyTo(sync)
}

func (p *parked) copyTo(n *parked) *parked {
	if p == nil {
		return nil
	}
	if n == nil {
		n = &parked{}
	}
	*n = *p
	return n
}
