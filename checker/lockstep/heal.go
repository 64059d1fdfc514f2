package lockstep

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// A run may end with healing (Options.Heal): the coordinator serves, writes succeed, and all clients follow the program of package clients:
// they join where they have no generation, sync where they have no assignment, send heartbeats in time, and give up what is not answered.
// Within a bound of virtual time each group must be Stable, with every client in it, nobody else, and for each what the leader gave it.
// Then all clients fall silent, and each group must become Empty.

const (
	heartbeatEvery = 4 * time.Second // sessions of random clients are 6 s and longer
	tryAgainAfter  = time.Second     // where an answer has changed nothing
	patience       = 2 * time.Minute // longer than a coordinator holds a request back: the longest rebalance timeout is a minute

	// together is how long it may take until all are in, and gone how long until all are out: five minutes for a new member that nobody waits
	// for, and some sessions and rebalances of a minute at most.
	together = 10 * time.Minute
	gone     = 10 * time.Minute

	// calm is how long they must stay together: longer than any session, and than the sync timer of an id that is gone, which costs a
	// rebalance at most once (static.replaced.owes-sync).
	calm = 65 * time.Second

	// most bounds requests, for coordinators that have clients ask again and again without time passing.
	most = 4000
)

// healer is a run that heals.
type healer struct {
	w        *walk
	began    time.Time
	clients  []*patient
	requests int
	given    map[string]assignment // by group: the latest that a leader has made and has been told of
	seen     *kmsg.DescribeGroupsResponse

	// When the members of a group were last made to start anew, by its name: whoever sees that others are refused for their protocols
	// (join.protocol.inconsistent), and whose own are the odd ones, has to.
	restarted map[string]time.Time

	since time.Time // when all were found together; zero where they are not
	stale bool      // something has happened since that may have changed it
}

// assignment is what a leader gives the members of a generation, by their ids.
type assignment struct {
	generation int32
	to         map[string]string
}

// patient is a client that heals.
type patient struct {
	*gen.Client
	asked      time.Time // when it began to wait
	next       time.Time // when it is to act again, where it does not wait for its JoinGroup
	unanswered int       // requests that it has given up
	makes      assignment
	has        string // its assignment
	told       string // the last error that it was told, of which request
}

// heal ends the run.
func (w *walk) heal() *Violation {
	h := &healer{w: w, began: w.machine.Now(), given: map[string]assignment{}, restarted: map[string]time.Time{}}
	w.network = false
	w.deliver()
	w.answered = h.answered
	w.gen.Heal()
	for {
		e, more := w.gen.Serve()
		if !more {
			break
		}
		w.open(e.Line)
		if v := w.act(e); v != nil || w.stats.Inconclusive != "" {
			return v
		}
	}
	room := map[string]int{}
	for _, c := range w.gen.Clients() {
		// As many as there is room for.
		if room[c.Group]++; w.maxSize == 0 || room[c.Group] <= w.maxSize {
			p := &patient{Client: c, asked: w.machine.Now()}
			h.clients = append(h.clients, p)
			h.giveUp(p) // what it waits for may be what another client's id has asked for
			p.unanswered = 0
		}
	}
	if v := h.run(); v != nil || w.stats.Inconclusive != "" {
		return v
	}
	w.stats.Healed = max(w.stats.Healed, h.since.Sub(h.began))
	return h.silence()
}

// run has everybody act until all are together.
func (h *healer) run() *Violation {
	for h.w.machine.Now().Sub(h.began) <= together && h.requests <= most {
		acted, v := h.round()
		if v != nil || h.w.stats.Inconclusive != "" {
			return v
		}
		if acted {
			continue
		}
		if calm, v := h.calm(); calm || v != nil || h.w.stats.Inconclusive != "" {
			return v
		}
		if v := h.pass(h.next()); v != nil || h.w.stats.Inconclusive != "" {
			return v
		}
	}
	return h.apart()
}

// round lets every client act that has something to do now.
func (h *healer) round() (acted bool, v *Violation) {
	for _, c := range h.clients {
		now := h.w.machine.Now()
		if c.waits() && now.Sub(c.asked) > patience {
			h.giveUp(c)
		}
		if c.Joins > 0 || now.Before(c.next) {
			continue
		}
		before, waited := c.knows(), c.waits()
		if v := h.send(c); v != nil || h.w.stats.Inconclusive != "" {
			return true, v
		}
		acted = true
		h.stale = h.stale || c.knows() != before
		switch now := h.w.machine.Now(); {
		case c.waits() && !waited:
			c.asked, c.next = now, now.Add(heartbeatEvery)
		case c.settled() || waited: // a member that waits for its assignment goes on with its heartbeats
			c.next = now.Add(heartbeatEvery)
		case c.knows() == before:
			c.next = now.Add(tryAgainAfter)
		}
	}
	return acted, nil
}

// giveUp is a client that waits no longer, and whose connection goes.
func (h *healer) giveUp(c *patient) {
	for _, s := range h.w.sent {
		if s.event.Client == c.Client && !s.abandoned {
			c.Lost(s.event.Request)
			s.abandoned = true
			c.unanswered++
		}
	}
	c.next = h.w.machine.Now()
}

// send sends what the program says.
func (h *healer) send(c *patient) *Violation {
	switch {
	case !c.waits() && c.joins():
		return h.ask(c.Client, c.JoinGroup())
	case !c.waits() && !c.Synced:
		c.makes = assignment{c.Generation, map[string]string{}}
		return h.ask(c.Client, c.SyncGroup(func(member string) string {
			c.makes.to[member] = fmt.Sprintf("%s.h%d", h.w.gen.Who(member), h.requests)
			return c.makes.to[member]
		}))
	}
	return h.ask(c.Client, c.Heartbeat())
}

// answered takes note of what clients are told.
func (h *healer) answered(to *gen.Client, resp kmsg.Response) {
	if m, ok := resp.(*kmsg.DescribeGroupsResponse); ok {
		h.seen = m
		return
	}
	i := slices.IndexFunc(h.clients, func(c *patient) bool { return c.Client == to })
	if i < 0 {
		return
	}
	c := h.clients[i]
	switch m := resp.(type) {
	case *kmsg.JoinGroupResponse:
		c.hears("JoinGroup", m.ErrorCode)
		if m.ErrorCode == classic.CodeInconsistentGroupProtocol {
			h.restart(c.Group)
		}
	case *kmsg.HeartbeatResponse:
		c.hears("Heartbeat", m.ErrorCode)
	case *kmsg.SyncGroupResponse:
		c.hears("SyncGroup", m.ErrorCode)
		if m.ErrorCode != 0 {
			return
		}
		c.has = string(m.MemberAssignment)
		// One that was there already is not the one that the leader has made now.
		if own, made := c.makes.to[c.ID()]; made && own == c.has {
			h.given[c.Group] = c.makes
		}
	}
}

// restart has the members of a group start anew, unless they just have.
func (h *healer) restart(group string) {
	now := h.w.machine.Now()
	if last, ever := h.restarted[group]; ever && now.Sub(last) < patience {
		return
	}
	h.restarted[group] = now
	for _, c := range h.clients {
		if c.Group == group && c.settled() {
			c.JoinID, c.Synced, c.Rejoin, c.next = "", false, true, now
		}
	}
}

// hears takes note of an error.
func (c *patient) hears(api string, errorCode int16) {
	if errorCode != 0 {
		c.told = api + ": " + checker.ErrorName(errorCode)
	}
}

// ask sends a request.
func (h *healer) ask(c *gen.Client, req kmsg.Request) *Violation {
	h.requests++
	e := h.w.gen.Ask(c, req)
	h.w.open(e.Line)
	if v := h.w.request(e); v != nil || h.w.stats.Inconclusive != "" {
		return v
	}
	return h.w.fireDue(h.w.machine.Now(), false)
}

// waits says whether the client waits for an answer.
func (c *patient) waits() bool { return c.Joins+c.Syncs > 0 }

// joins says whether a client that waits for nothing is to join.
func (c *patient) joins() bool {
	return c.JoinID == "" || c.Generation < 0 || c.Rejoin || c.JoinID != c.ID()
}

// settled says whether it has all that it can have, as far as it knows.
func (c *patient) settled() bool { return !c.waits() && !c.joins() && c.Synced }

// known is what a client knows, to be compared.
type known struct {
	id, next       string
	generation     int32
	synced, rejoin bool
	waiting        int
}

func (c *patient) knows() known {
	return known{c.ID(), c.JoinID, c.Generation, c.Synced, c.Rejoin, c.Joins + c.Syncs}
}

// next is when a client has something to do again, at the latest.
func (h *healer) next() time.Time {
	next := h.began.Add(together + time.Second)
	for _, c := range h.clients {
		at := c.next
		if end := c.asked.Add(patience + time.Second); c.Joins > 0 || c.waits() && end.Before(at) {
			at = end
		}
		if at.Before(next) {
			next = at
		}
	}
	return next
}

// pass lets time pass until then, or until the first timer that is due before.
func (h *healer) pass(until time.Time) *Violation {
	w := h.w
	if len(w.armed) > 0 && !w.armed[0].Deadline.After(until) {
		until = w.armed[0].Deadline
		w.passes(max(0, until.Sub(w.machine.Now())))
		h.stale = true
		return w.fireDue(until, false)
	}
	if d := until.Sub(w.machine.Now()); d > 0 {
		w.passes(d)
		w.machine.Advance(d)
	}
	return nil
}

// calm says whether all have been together for long enough.
func (h *healer) calm() (bool, *Violation) {
	now := h.w.machine.Now()
	over := !h.since.IsZero() && now.Sub(h.since) >= calm
	if !h.since.IsZero() && !h.stale && !over {
		return false, nil
	}
	done, v := h.done()
	switch {
	case !done:
		h.since = time.Time{}
	case h.since.IsZero():
		h.since = now
	}
	h.stale = false
	return done && over, v
}

// done says whether all are together.
func (h *healer) done() (bool, *Violation) {
	for _, c := range h.clients {
		if !c.settled() {
			return false, nil
		}
	}
	for _, group := range h.w.gen.Groups() {
		d, v := h.describe(group)
		if v != nil || d == nil || !h.whole(group, d) {
			return false, v
		}
	}
	return true, nil
}

// whole says whether a group is Stable and has just its clients, all of one generation, each with what its leader gave it.
func (h *healer) whole(group string, d *kmsg.DescribeGroupsResponseGroup) bool {
	var in []*patient
	for _, c := range h.clients {
		if c.Group == group {
			in = append(in, c)
		}
	}
	if d.State != "Stable" || len(d.Members) != len(in) {
		return false
	}
	for _, c := range in {
		i := slices.IndexFunc(d.Members, func(m kmsg.DescribeGroupsResponseGroupMember) bool { return m.MemberID == c.ID() })
		if i < 0 || c.Generation != in[0].Generation {
			return false
		}
		switch given, is := h.owed(c); {
		case is == passedOver, is == made && (given != string(d.Members[i].MemberAssignment) || given != c.has):
			return false
		}
	}
	return true
}

// owed is what the leader of a client's generation has given it, as far as that is known.
func (h *healer) owed(c *patient) (string, owing) {
	a, is := h.given[c.Group]
	if !is || a.generation != c.Generation {
		return "", notMade
	}
	given, is := a.to[c.ID()]
	switch {
	case is:
		return given, made
	case c.Instance != nil:
		return "", notMade // it has replaced the one that the leader has heard of
	}
	return "", passedOver
}

type owing uint8

const (
	notMade    owing = iota // its generation is older than the healing, or its leader has not been told yet
	made                    // the leader has made it
	passedOver              // the leader has not heard of the client
)

// describe asks what the coordinator says of a group; nil where it does not say.
func (h *healer) describe(group string) (*kmsg.DescribeGroupsResponseGroup, *Violation) {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups = []string{group}
	h.seen = nil
	if v := h.ask(nil, r); v != nil || h.seen == nil || len(h.seen.Groups) != 1 {
		return nil, v
	}
	return &h.seen.Groups[0], nil
}

// silence has all clients stop, and waits until the groups have become Empty.
func (h *healer) silence() *Violation {
	silent := h.w.machine.Now()
	for {
		left := ""
		for _, group := range h.w.gen.Groups() {
			d, v := h.describe(group)
			if v != nil || h.w.stats.Inconclusive != "" {
				return v
			}
			if d == nil || d.State != "Empty" && d.State != "Dead" {
				left = group
			}
		}
		if left == "" {
			h.w.stats.Emptied = max(h.w.stats.Emptied, h.w.machine.Now().Sub(silent))
			return nil
		}
		if len(h.w.armed) == 0 || h.w.armed[0].Deadline.Sub(silent) > gone {
			return h.lingers(left)
		}
		if v := h.pass(h.w.armed[0].Deadline); v != nil || h.w.stats.Inconclusive != "" {
			return v
		}
	}
}

// ruleOfPhase is the rule that gets a group out of a phase in the end.
var ruleOfPhase = map[string]classic.RuleID{
	"PreparingRebalance": classic.JoinCompleteTimeout, "CompletingRebalance": classic.SyncTimerExpels, "Stable": classic.SessionExpires,
	"Empty": classic.JoinEmptyRebalances, "Dead": classic.JoinCreatesGroup,
}
