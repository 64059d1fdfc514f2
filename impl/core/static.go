package core

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// validate is §2.0.4, for every request that names a member: the instance id comes first, then the member id. A pending id is no
// member; a static member may leave its instance id out (static.optional).
func (g *group) validate(id string, instance *string) (*member, int16) {
	if instance != nil {
		switch owner := g.static[*instance]; {
		case owner == nil:
			return nil, UnknownMemberID // static.unmapped
		case owner.id != id:
			return nil, FencedInstanceID // static.fenced
		}
	}
	if m := g.members[id]; m != nil {
		return m, None
	}
	return nil, UnknownMemberID
}

// formerSelf is what a replaced static member was, to go back to where the replacement cannot be written.
type formerSelf struct {
	id, leader                       string
	sessionTimeout, rebalanceTimeout time.Duration
	protocols                        []protocol
}

// replace is §1.9: a static member has been restarted and joins without its id. It takes a new id and its own place. What it owed or
// had parked under the old id goes over to the new one or is fenced: unlike Kafka, a SyncGroup that is owed is owed by the new id
// (static.replaced.owes-sync, the contract).
func (c *Coordinator) replace(g *group, r Request, req *kmsg.JoinGroupRequest, m *member, protocols []protocol) kmsg.Response {
	id, ok := c.newMemberID(g, *m.instance)
	if !ok {
		return nil
	}
	before := formerSelf{m.id, g.leader, m.sessionTimeout, m.rebalanceTimeout, m.protocols}
	c.fence(g, m)
	c.rename(g, m, id)
	m.isNew = false    // static.replaced.new
	c.armSession(g, m) // static.replaced.timer: with the timeout that it had
	g.setProtocols(m, protocols)
	m.setTimeouts(r.Version, req)
	c.parkJoin(g, m, r)
	c.reason = Replaced
	switch {
	case g.state == PreparingRebalance: // static.replaced.preparing
		c.completeIfAllJoined(g, false)
	case g.state == Stable && c.keepsProtocol(g): // static.replaced.stable, static.replaced.record
		g.proposed = map[string][]byte{}
		for _, o := range g.order {
			g.proposed[o.id] = o.assignment
		}
		record := c.groupRecord(g)
		g.proposed = nil
		c.append(g, []Record{record}, &replacing{g, m, r, before})
	default: // static.replaced.completing, static.replaced.vote
		c.prepare(g)
	}
	return nil
}

// fence answers what a static member has parked under an id that is its own no more (static.replaced.parked-join, .parked-sync).
func (c *Coordinator) fence(g *group, m *member) {
	join, sync := m.join, m.sync
	m.sync = nil
	if join != nil {
		m.join = nil
		g.joining--
		c.answer(join.ticket, joinError(join.version, FencedInstanceID, m.id))
	}
	if sync != nil {
		c.answer(sync.ticket, syncError(sync.version, FencedInstanceID))
	}
}

// rename gives a member another id, in its place; the leadership goes with it (§1.8). The caller arms its timer.
func (c *Coordinator) rename(g *group, m *member, id string) {
	c.cancelMember(g, m.id)
	delete(g.members, m.id)
	if g.leader == m.id {
		g.leader = id
	}
	m.id = id
	g.members[id] = m
}

// keepsProtocol reports whether the members would choose the generation's protocol again. A tie is none that needs a rebalance.
func (c *Coordinator) keepsProtocol(g *group) bool {
	names, votes := g.candidates()
	return slices.Contains(names, *g.protocol) && !slices.ContainsFunc(names, func(n string) bool { return votes[n] > votes[*g.protocol] })
}

// replacing is the record of a static member's new id on its way to the log (§1.9-4 to 1.9-6).
type replacing struct {
	group   *group
	member  *member
	request Request
	before  formerSelf
}

func (w *replacing) ended(c *Coordinator, _ AppendID, code int16) {
	g, m := w.group, w.member
	if m.join == nil || m.join.ticket != w.request.Ticket {
		return // it has been answered since: fenced, removed, or by a rebalance
	}
	if g.state != Stable {
		return // it waits for the rebalance that has started since, which writes all anew
	}
	m.join = nil
	g.joining--
	answer := joined(g, m, w.request.Version)
	if w.request.Version < 9 || code != None {
		// Without SkipAssignment, a leader must not believe that it has to assign: it is shown its former id (static.replaced.leader.old).
		answer.LeaderID, answer.Members = w.before.leader, []kmsg.JoinGroupResponseMember{}
	}
	if code == None {
		answer.SkipAssignment = w.request.Version >= 9 && m.id == g.leader // static.replaced.leader
		if _, armed := c.timers[TimerID{g.id, SessionTimer, m.id}]; !armed {
			c.armSession(g, m) // it ran out while the answer was on its way
		}
		c.answer(w.request.Ticket, answer)
		return
	}
	answer.ErrorCode, answer.MemberID = appendError(code), ""
	c.restore(g, m, w.before)
	c.answer(w.request.Ticket, answer)
}

// restore makes a replaced member what it was (static.write.fails, static.write.fails.list).
func (c *Coordinator) restore(g *group, m *member, before formerSelf) {
	c.rename(g, m, before.id)
	m.sessionTimeout, m.rebalanceTimeout = before.sessionTimeout, before.rebalanceTimeout
	g.setProtocols(m, before.protocols)
	c.armSession(g, m)
}
