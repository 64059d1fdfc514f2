package core

import (
	"slices"
	"time"
)

type armed struct {
	seq      uint64
	deadline time.Time
}

func (c *Coordinator) arm(g *group, kind TimerKind, member string, after time.Duration) {
	id := TimerID{Group: g.id, Kind: kind, Member: member}
	after = max(after, 0)
	c.timerSeq++
	c.timers[id] = armed{c.timerSeq, c.now.Add(after)}
	c.arming(Arm{Timer: id, Seq: c.timerSeq, After: after, Deadline: c.now.Add(after)})
}

func (c *Coordinator) cancel(g *group, kind TimerKind, member string) {
	id := TimerID{Group: g.id, Kind: kind, Member: member}
	if _, ok := c.timers[id]; !ok {
		return
	}
	delete(c.timers, id)
	c.emit(Cancel{Timer: id})
}

// armSession starts a member's session timer anew, in place of the five minutes of a new member (§3.1).
func (c *Coordinator) armSession(g *group, m *member) {
	c.cancel(g, NewMemberTimer, m.id)
	c.arm(g, SessionTimer, m.id, m.sessionTimeout)
}

// renew is what a sign of life does. A new member keeps its five minutes until its join is complete (join.new.timeout): Kafka
// replaces them by the session timeout, which expels a member that has every right to be parked (heartbeat.new-member).
func (c *Coordinator) renew(g *group, m *member) {
	if !m.isNew {
		c.armSession(g, m)
	}
}

func (c *Coordinator) cancelMember(g *group, id string) {
	c.cancel(g, NewMemberTimer, id)
	c.cancel(g, SessionTimer, id)
}

func (c *Coordinator) timerDue(due TimerDue) {
	id := due.Timer
	if a, ok := c.timers[id]; !ok || a.seq != due.Seq || c.now.Before(a.deadline) {
		return // taken back or armed anew while the caller was on its way, or early
	}
	delete(c.timers, id)
	if id.Kind == CleanupTimer {
		c.cleaning = false
		c.startCleaning()
		c.cleanup()
		return
	}
	g := c.groups[id.Group]
	if g == nil {
		_ = c.inconsistent(id.Group, "the "+id.Kind.String()+" timer outlived its group")
		return
	}
	switch id.Kind {
	case SessionTimer, NewMemberTimer:
		c.memberExpires(g, id)
	case PendingTimer:
		c.pendingExpires(g, id)
	case JoinTimer:
		c.joinTimerDue(g)
	case SyncTimer:
		c.syncTimerDue(g)
	case CleanupTimer:
		// Not one of a group's.
	}
}

// memberExpires is §3.1.
func (c *Coordinator) memberExpires(g *group, id TimerID) {
	m := g.members[id.Member]
	if m == nil {
		_ = c.inconsistent(g.id, "the timer of "+id.Member+" outlived its member")
		return
	}
	if !m.isNew && (m.join != nil || m.sync != nil) {
		return // session.parked: not armed again before its request is answered or it gives a sign of life
	}
	c.reason = SessionExpired
	if m.isNew {
		c.reason = JoinNotCompleted
	}
	c.remove(g, m) // session.expires; join.new.timeout
	c.afterRemoval(g, true)
}

// pendingExpires is §3.2; join.pending.expires.
func (c *Coordinator) pendingExpires(g *group, id TimerID) {
	c.reason = IDNotUsed
	delete(g.pending, id.Member)
	c.completeIfAllJoined(g, true)
}

// syncTimerDue is §2.3.3; sync.timer.expels.
func (c *Coordinator) syncTimerDue(g *group) {
	if g.state != CompletingRebalance && g.state != Stable {
		_ = c.inconsistent(g.id, "the sync timer ran in "+g.state.String())
		return
	}
	c.reason = SyncTimedOut
	for _, m := range slices.Clone(g.order) {
		if m.unsynced {
			c.remove(g, m)
		}
	}
	c.afterRemoval(g, true)
}
