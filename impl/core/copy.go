package core

import (
	"fmt"
	"slices"
)

// Copy returns a coordinator that is as this one is, goes on by itself, and asks its own settings: a shell that may have to go back makes
// one before it goes on. What is open in this one is open in the copy, under the same tickets and ids.
//
// It fails while a commit, a deletion, a fetch or a marker waits for the log: what is to follow of those is known to this one only.
func (c *Coordinator) Copy(s Settings) (*Coordinator, error) {
	n := &Coordinator{
		settings: s.WithDefaults(), now: c.now,
		groups: make(map[string]*group, len(c.groups)), timers: make(map[TimerID]armed, len(c.timers)),
		writes: make(map[AppendID]*write, len(c.writes)), open: make(map[Ticket]struct{}, len(c.open)),
		status: c.status, epoch: c.epoch, lostFor: slices.Clone(c.lostFor), cleaning: c.cleaning, timerSeq: c.timerSeq,
		lastID: c.lastID, abandoned: c.abandoned, position: c.position, reason: c.reason,
	}
	for id, t := range c.timers {
		n.timers[id] = t
	}
	for t := range c.open {
		n.open[t] = struct{}{}
	}
	for name, g := range c.groups {
		if g.deleting != 0 || len(g.commits) > 0 {
			return nil, fmt.Errorf("group %q waits for the log with a commit or a deletion; copy the coordinator when that has ended", name)
		}
		n.groups[name] = g.copy()
	}
	for id, w := range c.writes {
		to, err := n.copyWrite(w)
		if err != nil {
			return nil, fmt.Errorf("write %d: %w", id, err)
		}
		n.writes[id] = to
	}
	return n, nil
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
				of.member = then.member.copy() // it is gone, and nothing will come of it
			}
			to.then = append(to.then, &of)
		default:
			return nil, fmt.Errorf("%T cannot be copied; copy the coordinator when the write has ended", then)
		}
	}
	if len(w.late) > 0 {
		return nil, fmt.Errorf("it is late; copy the coordinator when it has ended")
	}
	return to, nil
}

// groupOf is the copy of a group; one that is gone already keeps nothing to itself that could still change.
func (c *Coordinator) groupOf(g *group) *group {
	if to := c.groups[g.id]; to != nil {
		return to
	}
	return g.copy()
}

// copy shares only what never changes in place: protocol lists, assignments and names.
func (g *group) copy() *group {
	n := *g
	n.order = make([]*member, 0, len(g.order))
	n.members = make(map[string]*member, len(g.members))
	n.static = make(map[string]*member, len(g.static))
	for _, m := range g.order {
		of := m.copy()
		n.order = append(n.order, of)
		n.members[of.id] = of
		if of.instance != nil && g.static[*of.instance] == m {
			n.static[*of.instance] = of
		}
	}
	n.support = copyMap(g.support)
	n.pending = copyMap(g.pending)
	n.offsets = copyMap(g.offsets)
	n.unstable = make(map[int64]map[partition]offset, len(g.unstable))
	for producer, offsets := range g.unstable {
		n.unstable[producer] = copyMap(offsets)
	}
	n.commits = make(map[AppendID][]committed, len(g.commits))
	n.postponed = slices.Clone(g.postponed)
	return &n
}

// copyMap copies a map, which a group never lets be nil.
func copyMap[K comparable, V any](m map[K]V) map[K]V {
	n := make(map[K]V, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}

func (m *member) copy() *member {
	n := *m
	if m.join != nil {
		request := *m.join
		n.join = &request
	}
	if m.sync != nil {
		request := *m.sync
		n.sync = &request
	}
	return &n
}
