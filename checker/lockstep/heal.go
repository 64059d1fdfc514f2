package lockstep

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/converge"
	"github.com/muster-kafka/muster/fuzz/gen"
)

// A run may end with healing (Options.Heal): the coordinator serves, writes succeed, and all clients follow the program of package converge.
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
	groups   map[string]*converge.Group
	requests int
	seen     *kmsg.DescribeGroupsResponse

	since time.Time // when all were found together; zero where they are not
	stale bool      // something has happened since that may have changed it
}

// patient is a client that heals.
type patient struct {
	*converge.Member
	next time.Time // when it is to act again, where it does not wait for its JoinGroup
}

// heal ends the run.
func (w *walk) heal() *Violation {
	h := &healer{w: w, began: w.machine.Now(), groups: map[string]*converge.Group{}}
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
	for _, group := range w.gen.Groups() {
		h.groups[group] = &converge.Group{Name: group, Patience: patience}
	}
	room := map[string]int{}
	for _, c := range w.gen.Clients() {
		// As many as there is room for.
		if room[c.Group]++; w.maxSize == 0 || room[c.Group] <= w.maxSize {
			p := &patient{Member: &converge.Member{Client: c, Asked: w.machine.Now()}}
			h.clients = append(h.clients, p)
			h.groups[c.Group].Members = append(h.groups[c.Group].Members, p.Member)
			h.giveUp(p) // what it waits for may be what another client's id has asked for
			p.Unanswered = 0
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
		if c.Waits() && now.Sub(c.Asked) > patience {
			h.giveUp(c)
		}
		if c.Joins > 0 || now.Before(c.next) {
			continue
		}
		before, waited := c.Knows(), c.Waits()
		if v := h.send(c); v != nil || h.w.stats.Inconclusive != "" {
			return true, v
		}
		acted = true
		h.stale = h.stale || c.Knows() != before
		switch now := h.w.machine.Now(); {
		case c.Waits() && !waited:
			c.Asked, c.next = now, now.Add(heartbeatEvery)
		case c.Settled() || waited: // a member that waits for its assignment goes on with its heartbeats
			c.next = now.Add(heartbeatEvery)
		case c.Knows() == before:
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
			c.Unanswered++
		}
	}
	c.next = h.w.machine.Now()
}

// send sends what the program says.
func (h *healer) send(c *patient) *Violation {
	return h.ask(c.Client, c.Request(func(member string) string { return fmt.Sprintf("%s.h%d", h.w.gen.Who(member), h.requests) }))
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
	now := h.w.machine.Now()
	for _, anew := range h.groups[to.Group].Heard(h.clients[i].Member, resp, now) {
		for _, c := range h.clients {
			if c.Member == anew {
				c.next = now
			}
		}
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

// next is when a client has something to do again, at the latest.
func (h *healer) next() time.Time {
	next := h.began.Add(together + time.Second)
	for _, c := range h.clients {
		at := c.next
		if end := c.Asked.Add(patience + time.Second); c.Joins > 0 || c.Waits() && end.Before(at) {
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
		if !c.Settled() {
			return false, nil
		}
	}
	for _, group := range h.w.gen.Groups() {
		d, v := h.describe(group)
		if v != nil || d == nil || !h.groups[group].Whole(d) {
			return false, v
		}
	}
	return true, nil
}

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
			if !converge.Deserted(d) {
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
