package core

import (
	"math"
	"slices"
	"time"
)

// prepare starts a rebalance (§1.3). What triggers it has been recorded before, so that the joining member counts.
func (c *Coordinator) prepare(g *group) {
	if c.transition(g, PreparingRebalance) == nil {
		c.completeIfAllJoined(g, false)
	}
}

// startJoining is the entry action of PreparingRebalance.
func (c *Coordinator) startJoining(g *group) {
	c.cancel(g, SyncTimer, "")
	for _, m := range g.order {
		g.setSynced(m)
	}
	longest := g.maxRebalanceTimeout()
	if g.previous == Empty { // join.empty.rebalances
		g.initial = true
		g.wait = c.settings.InitialRebalanceDelay
		g.rest = max(longest-g.wait, 0)
		c.arm(g, JoinTimer, "", g.wait)
		return
	}
	c.arm(g, JoinTimer, "", longest) // join.timer.fixed
}

// joinTimerDue ends the initial delay, or extends it where a member was added meanwhile (§1.5); otherwise it ends the joining.
func (c *Coordinator) joinTimerDue(g *group) {
	if g.state != PreparingRebalance {
		_ = c.inconsistent(g.id, "the join timer ran in "+g.state.String())
		return
	}
	if g.initial && g.joinedDuringDelay && g.rest != 0 {
		g.joinedDuringDelay = false
		next := min(c.settings.InitialRebalanceDelay, g.rest)
		g.rest = max(g.rest-g.wait, 0)
		g.wait = next
		c.arm(g, JoinTimer, "", g.wait)
		return
	}
	c.reason = JoinTimedOut
	if g.initial {
		c.reason = DelayOver
	}
	c.completeJoin(g)
}

// completeIfAllJoined completes the join as soon as nobody is missing (join.complete.all-joined), but not during the initial delay.
// The end of a member or of a pending id by its timer ends that too (§5.1 DF6).
func (c *Coordinator) completeIfAllJoined(g *group, evenInitial bool) {
	if g.state == PreparingRebalance && (!g.initial || evenInitial) && g.allJoined() {
		if len(g.members) > 0 {
			c.reason = AllJoined
		}
		c.completeJoin(g)
	}
}

// shortestExtension bounds how often a join is extended for static members with no rebalance timeout at all.
const shortestExtension = time.Second

// completeJoin is COMPLETE-JOIN (§1.4): the only place where a generation is made (join.complete.generation). Static members keep their
// place even if they have not rejoined (static.retained), but one member has to be there to lead.
func (c *Coordinator) completeJoin(g *group) {
	if leader := g.members[g.leader]; g.joining > 0 && (leader == nil || leader.join == nil) {
		c.elect(g, func(m *member) bool { return m.join != nil }) // join.complete.leader
	}
	for _, m := range slices.Clone(g.order) {
		if m.join == nil && m.instance == nil {
			c.remove(g, m) // join.complete.timeout
		}
	}
	if g.joining == 0 && len(g.members) > 0 {
		g.initial = false
		c.arm(g, JoinTimer, "", max(g.maxRebalanceTimeout(), shortestExtension)) // static.nobody-joined
		return
	}
	if len(g.members) == 0 {
		c.nextGeneration(g)
		if c.transition(g, Empty) == nil { // join.complete.empty
			c.append(g, []Record{c.groupRecord(g)}, &emptied{group: g.id})
		}
		return
	}
	name, ok := c.vote(g)
	if !ok {
		c.dissolve(g, UnknownServerError, "no protocol that all members support")
		return
	}
	g.protocol = &name
	c.nextGeneration(g)
	_ = c.transition(g, CompletingRebalance)
}

// nextGeneration is §1.6, and what is known of the generation from its beginning. A number that runs out begins again at 1.
func (c *Coordinator) nextGeneration(g *group) {
	g.generation = g.generation%math.MaxInt32 + 1
	g.subscribed = g.subscriptions()
}

// vote chooses the protocol of a generation (join.complete.vote).
func (c *Coordinator) vote(g *group) (string, bool) {
	names, votes := g.candidates()
	var best []string
	for _, name := range names {
		switch {
		case len(best) == 0 || votes[name] > votes[best[0]]:
			best = []string{name}
		case votes[name] == votes[best[0]]:
			best = append(best, name)
		}
	}
	if len(best) == 0 {
		return "", false
	}
	return best[c.choose(len(best))], true
}

// startSyncing is the entry action of CompletingRebalance: everybody is told of the generation and owes a SyncGroup.
func (c *Coordinator) startSyncing(g *group) {
	for _, m := range g.order {
		m.isNew, m.unsynced = false, true
		g.unsynced++
		c.armSession(g, m) // session.renewed-by-completion
		if request := m.join; request != nil {
			m.join = nil
			g.joining--
			c.answer(request.ticket, joined(g, m, request.version))
		}
	}
	c.arm(g, SyncTimer, "", g.maxRebalanceTimeout())
}

// distribute is the entry action of Stable (sync.leader.assigns).
func (c *Coordinator) distribute(g *group) {
	for _, m := range g.order {
		m.assignment = g.proposed[m.id]
	}
	g.proposed = nil
	c.answerSyncs(g, None)
}

// endSyncs gives up the generation's assignment and answers those who wait for it.
func (c *Coordinator) endSyncs(g *group, code int16) {
	g.proposed = nil
	for _, m := range g.order {
		m.assignment = nil
	}
	c.answerSyncs(g, code)
}

func (c *Coordinator) answerSyncs(g *group, code int16) {
	for _, m := range g.order {
		if m.sync == nil {
			continue
		}
		request := m.sync
		m.sync = nil
		c.armSession(g, m) // session.renewed-by-completion
		if code == None {
			c.answer(request.ticket, synced(g, m, request.version))
		} else {
			c.answer(request.ticket, syncError(request.version, code))
		}
	}
}

// remove takes a member out of the group and answers what it has parked (join.parked.removed; sync.parked.removed, the contract: Kafka
// forgets the SyncGroup). The caller reacts once for all that it removes.
func (c *Coordinator) remove(g *group, m *member) {
	c.cancelMember(g, m.id)
	join, sync := m.join, m.sync
	g.drop(m)
	c.observe(g, g.state)
	m.join, m.sync = nil, nil
	if join != nil {
		c.answer(join.ticket, joinError(join.version, UnknownMemberID, ""))
	}
	if sync != nil {
		c.answer(sync.ticket, syncError(sync.version, UnknownMemberID))
	}
	if g.leader == m.id {
		c.elect(g, func(*member) bool { return true }) // §1.8
	}
}

// elect chooses a leader among the members that qualify; none where nobody does.
func (c *Coordinator) elect(g *group, qualifies func(*member) bool) {
	g.leader = ""
	var candidates []*member
	for _, m := range g.order {
		if qualifies(m) {
			candidates = append(candidates, m)
		}
	}
	if len(candidates) > 0 {
		g.leader = candidates[c.choose(len(candidates))].id
	}
}

// afterRemoval is what the group does when members have gone.
func (c *Coordinator) afterRemoval(g *group, evenInitial bool) {
	switch g.state {
	case Stable, CompletingRebalance:
		c.prepare(g)
	case PreparingRebalance:
		c.completeIfAllJoined(g, evenInitial)
	case Empty, Dead:
		_ = c.inconsistent(g.id, "a member was removed in "+g.state.String())
	}
}

// dissolve ends a group that cannot go on: its creation was not written, or something is wrong with it.
func (c *Coordinator) dissolve(g *group, code int16, inconsistency string) {
	if inconsistency != "" {
		c.reason = Inconsistent
		_ = c.inconsistent(g.id, inconsistency)
	}
	c.end(g, code, func(*member) string { return "" })
}

// end is the end of a group; what is parked is answered with the code, a JoinGroup with a name for its member.
func (c *Coordinator) end(g *group, code int16, name func(*member) string) {
	for _, m := range g.order {
		if m.join != nil {
			g.joining--
			c.answer(m.join.ticket, joinError(m.join.version, code, name(m)))
		}
		if m.sync != nil {
			c.answer(m.sync.ticket, syncError(m.sync.version, code))
		}
		m.join, m.sync = nil, nil
	}
	_ = c.transition(g, Dead)
}

// bury is the entry action of Dead: nothing of the group is left but what the log still has to say of it.
func (c *Coordinator) bury(g *group) {
	g.leader = "" // nobody needs to follow it
	for _, m := range slices.Clone(g.order) {
		c.remove(g, m)
	}
	for _, id := range sortedKeys(g.pending) {
		c.cancel(g, PendingTimer, id)
	}
	clear(g.pending)
	c.cancel(g, JoinTimer, "")
	c.cancel(g, SyncTimer, "")
	g.protocol, g.proposed = nil, nil
	if c.groups[g.id] == g {
		delete(c.groups, g.id)
	}
}

// stateMillis is the time of the last transition as records carry it.
func (g *group) stateMillis() int64 {
	if g.since.IsZero() {
		return -1
	}
	return g.since.UnixMilli()
}
