package linearize

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
)

// What a request writes is not written at once. Where another request of the same member is on its way meanwhile it may come before the write has ended, and Kafka then does to the
// first what it does to one that is parked: the replacement of a static member that is itself replaced is fenced (observe.Request.Raced). This was seen on 4.3.1. The
// reference answers by contract, so it is not explained under its profile. What may come while an assignment is written is in flight.go.

// rival is who the request is of, where another of the same would take its place; empty for others.
func (c *call) rival() string {
	switch r := c.message.(type) {
	case *kmsg.JoinGroupRequest:
		if r.MemberID == "" && r.InstanceID != nil && c.version >= 5 {
			return "join " + *r.InstanceID
		}
	case *kmsg.SyncGroupRequest:
		if r.MemberID != "" {
			return "sync " + r.MemberID
		}
	}
	return ""
}

// until is how long the coordinator may have been at work on a call: where its client was cut off or has given it up, for as long as it takes to take a request up, and not only
// until then.
func (c *call) until() int64 {
	if c.outcome == history.Answered {
		return c.to
	}
	return max(c.to, c.taken)
}

// overlap says whether two calls may have been at work at the same time.
func (c *call) overlap(d *call) bool { return c.from <= d.until() && d.from <= c.until() }

// races notes which requests were open at the same time as their rivals.
func (p *partition) races() {
	rivals := map[string][]*call{}
	for _, c := range p.calls {
		who := c.rival()
		if who == "" {
			continue
		}
		for _, d := range rivals[who] {
			if c.overlap(d) {
				c.raced, d.raced = true, true
			}
		}
		rivals[who] = append(rivals[who], c)
	}
	p.leaves()
}

// unfenced says whether a replacement was fenced as if it had been replaced itself, and its member is still there. Both calls were open at the same time, but the other
// has to have had its effect when the answer comes. Where what it wrote may have failed, or may have been lost with the target, it may have been undone.
func (p *partition) unfenced(e *explanation, c *call) bool {
	join, ok := c.actual.(*kmsg.JoinGroupResponse)
	if !ok || !c.raced || join.ErrorCode != kerr.FencedInstanceID.Code || join.MemberID == "" || !e.branch.Has(join.MemberID) {
		return false
	}
	written := observe.Window{Earliest: c.from, Latest: p.slack.after(c.to)}
	return len(within(p.fails, written)) == 0 && !slices.ContainsFunc(p.restarts, func(r *operation) bool {
		return r.at.Earliest <= written.Latest && r.call.gone >= written.Earliest
	})
}
