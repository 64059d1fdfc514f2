package core

import (
	"maps"
	"slices"
	"time"
)

// startCleaning arms the cleanup timer where it has to be (§3.5).
func (c *Coordinator) startCleaning() {
	if c.cleaning || c.settings.CleanupInterval <= 0 {
		return
	}
	c.cleaning = true
	c.arm(&group{}, CleanupTimer, "", c.settings.CleanupInterval)
}

// cleanup forgets the offsets that have expired, and the groups that have nothing left, once that is durable. A group that nobody
// has committed to is not waited for: its pending ids do not protect it, an open transaction does (verified item 2).
func (c *Coordinator) cleanup() {
	if c.status != serving {
		return
	}
	for _, id := range sortedKeys(c.groups) {
		g := c.groups[id]
		if g.deleting != 0 || g.creating != 0 {
			continue
		}
		expired := c.expired(g)
		if g.state == Empty && len(expired) == len(g.offsets) && len(g.unstable)+len(g.commits) == 0 {
			g.deleting = c.append(g, g.tombstones(), &expiring{g}) // cleanup.removes, cleanup.pending
		} else {
			c.forget(g, expired)
		}
	}
}

// expiring is a group that has come to its end.
type expiring struct{ group *group }

func (w *expiring) ended(c *Coordinator, id AppendID, code int16) {
	switch code {
	case RequestTimedOut:
		return
	case None:
	default:
		c.settings.Report(&WriteError{w.group.id, code}) // the next cleanup tries again
	}
	w.settled(c, id, code == None)
}

func (w *expiring) settled(c *Coordinator, _ AppendID, written bool) {
	c.deleted(w.group, written, NoOffsetsLeft)
	c.resume(w.group)
}

func (w *expiring) blocked() *group { return w.group }

// expired are the offsets whose time is over, in order. One that a transaction or a commit is about to replace is left alone (expiry.pending).
func (c *Coordinator) expired(g *group) (gone []partition) {
	busy := map[partition]struct{}{}
	for _, commits := range g.commits {
		for _, o := range commits {
			busy[o.partition] = struct{}{}
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(g.offsets), comparePartitions) {
		if _, ok := busy[p]; !ok && !g.isUnstable(p) && c.isExpired(g, p, g.offsets[p]) {
			gone = append(gone, p)
		}
	}
	return gone
}

// isExpired is the table of §3.5. The retention runs from the commit, or for a group that had members from when it became Empty; an
// expiry of the offset's own counts instead.
func (c *Coordinator) isExpired(g *group, p partition, o offset) bool {
	base := time.UnixMilli(o.made)
	switch {
	case g.protocolType == "": // expiry.simple
	case g.state == Empty: // expiry.empty
		if !g.since.IsZero() {
			base = g.since
		}
	case g.state == Stable && g.protocolType == consumerType && !g.consumes(p.topic): // expiry.unsubscribed
	default: // expiry.rebalancing
		return false
	}
	if o.expires != noExpiry { // expiry.explicit
		return c.now.UnixMilli() >= o.expires
	}
	return c.now.Sub(base) >= c.settings.OffsetsRetention
}
