package linearize

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
)

// The assignment of a leader is written before its SyncGroup is answered, and only then is the group Stable. Until then the leader waits like those whose SyncGroups are parked:
//
//   - Its session may end and it stays a member (session.parked); when the write has ended all sessions of those that waited start anew (session.renewed-by-completion).
//   - A JoinGroup or LeaveGroup may begin a rebalance: the leader and all who wait are answered REBALANCE_IN_PROGRESS, nobody has what was assigned, and yet it has been written,
//     so that a coordinator which is killed then loads it.
//   - A replacement of the leader fences it, its own LeaveGroup ends its waiting, and its own next SyncGroup supersedes it.
//
// All of this was seen on 4.3.1. The model takes the write for done with the request, which is right where nothing of this can come in between: the request may then have come as
// late as its answer. Where something can, the write is also tried apart from the request. It ends by the time at which the call does (or as soon as an answer is due, where
// none came), unless a rebalance overtakes it.

// assigns says whether a call may be a leader's, whose assignment is written.
func (c *call) assigns() bool {
	_, sync := c.message.(*kmsg.SyncGroupRequest)
	return sync
}

// overtakes notes which SyncGroups are open at the same time as a request that may overtake what they assign.
func (p *partition) overtakes() {
	var others []*call // by their beginnings
	for _, c := range p.calls {
		switch c.message.(type) {
		case *kmsg.JoinGroupRequest, *kmsg.LeaveGroupRequest:
			others = append(others, c)
		}
	}
	slices.SortFunc(others, func(c, d *call) int { return cmp.Compare(c.from, d.from) })
	ends := make([]int64, len(others)+1) // of those before
	for i, d := range others {
		ends[i+1] = max(ends[i], d.until())
	}
	for _, c := range p.calls {
		if c.assigns() {
			before, _ := slices.BinarySearchFunc(others, c.lands()+1, func(d *call, at int64) int { return cmp.Compare(d.from, at) })
			c.overtaken = c.raced || ends[before] >= c.from
		}
	}
}

// lands is by when the assignment of a call has been written: before its answer, and where there is none as soon as it would be due, also where the client has given it up before.
func (c *call) lands() int64 {
	if c.actual != nil {
		return c.to
	}
	return c.taken
}

// inFlight is whose assignment is being written after a step of e. Where the leader's next SyncGroup supersedes the one that is being written, that one waits no longer, and its
// write goes on: the next is answered once the first of both has ended.
func inFlight(e *explanation, c *call, o *observe.Outcome) checker.Ticket {
	switch {
	case !o.Branch.Writing():
		return 0
	case c != nil && (e.flight == 0 || c.assigns() && waitsNoLonger(o, e.flight)):
		return c.ticket
	}
	return e.flight
}

// waitsNoLonger says whether a call has been answered, or forgotten.
func waitsNoLonger(o *observe.Outcome, t checker.Ticket) bool {
	return slices.Contains(o.Dropped, t) || slices.ContainsFunc(o.Answers, func(a observe.Answer) bool { return a.Ticket == t })
}

// landings are the explanations after the write of an assignment has ended.
func (j *judge) landings(e *explanation, op *operation) (after []firing) {
	if e.flight == 0 {
		return nil
	}
	at := observe.Window{Earliest: e.now, Latest: min(op.last(), j.latest(e))} // which is not after its end
	if at.Earliest > at.Latest {
		return nil
	}
	j.world.FinishWrite(e.branch, false, at, func(o observe.Outcome) bool {
		j.accept(e, nil, o, at, func(next explanation) { after = append(after, firing{explanation: next, at: at}) })
		return j.abandoned() == nil
	})
	return after
}
