package linearize

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
)

// The assignment of a leader is written before its SyncGroup is answered. Until then the leader waits like those whose SyncGroups are parked: its session may end and it stays a
// member (session.parked), and when the write has ended all sessions of those that waited start anew (session.renewed-by-completion). The model takes the write for done with the
// request, which is right as long as no timer is due before the answer: the request may then have come as late as that. Where one is, the write is taken apart from the request,
// and ends by the time at which the call does (or as soon as an answer is due, where none came); or a rebalance overtakes it.

// assigns says whether a call may be a leader's, whose assignment is written.
func (c *call) assigns() bool {
	_, sync := c.message.(*kmsg.SyncGroupRequest)
	return sync
}

// lands is by when the assignment of a call has been written: before its answer, and where there is none as soon as it would be due.
func (c *call) lands() int64 {
	if c.actual != nil {
		return c.to
	}
	return min(c.to, c.taken)
}

// inFlight is whose assignment is being written after a step of e.
func inFlight(e *explanation, c *call, after *observe.Branch) checker.Ticket {
	switch {
	case !after.Writing():
		return 0
	case e.flight == 0 && c != nil:
		return c.ticket
	}
	return e.flight
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
