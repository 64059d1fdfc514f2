package core

import "github.com/twmb/franz-go/pkg/kmsg"

// hasRoom is §2.2.2, group.max.size: whether a JoinGroup may go on, before anything else is asked (max-size.first). In a rebalance the
// first to join have the places (max-size.preparing).
func (c *Coordinator) hasRoom(g *group, id string) bool {
	m := g.members[id]
	switch g.state {
	case PreparingRebalance:
		return m != nil && m.join != nil || g.joining < c.settings.MaxSize
	case CompletingRebalance, Stable:
		return m != nil || len(g.members) < c.settings.MaxSize
	case Empty, Dead:
	}
	return true
}

// refuseForSize forgets the id that found no room (max-size.refuses, max-size.forgets). Where everybody else has joined already the join
// completes: Kafka waits for its timer (max-size.reevaluates, the contract).
func (c *Coordinator) refuseForSize(g *group, r Request, id string) kmsg.Response {
	if _, pending := g.pending[id]; pending {
		delete(g.pending, id)
		c.cancel(g, PendingTimer, id)
	}
	if m := g.members[id]; m != nil {
		c.remove(g, m)
	}
	c.completeIfAllJoined(g, false)
	return joinError(r.Version, GroupMaxSizeReached, "")
}
