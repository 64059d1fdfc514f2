package linearize

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The replacement of a static member in a Stable group waits for its record to be written. Where a LeaveGroup removes the member meanwhile, Kafka does to it
// what it does to a parked JoinGroup: it answers UNKNOWN_MEMBER_ID (join.parked.removed), although the member has been replaced. Seen on 4.3.1; the end of the
// write then finds nobody to answer. Both calls have to be open at the same time, and the member has to be gone when the answer comes.

// leaves notes which replacements of static members were open at the same time as a LeaveGroup of the same instance.
func (p *partition) leaves() {
	leaving := p.leaving()
	for _, c := range p.calls {
		join, ok := c.message.(*kmsg.JoinGroupRequest)
		if !ok || c.rival() == "" {
			continue
		}
		for _, d := range leaving {
			if c.overlap(d) {
				c.removed = c.removed || slices.ContainsFunc(d.message.(*kmsg.LeaveGroupRequest).Members, func(m kmsg.LeaveGroupRequestMember) bool {
					return m.InstanceID != nil && *m.InstanceID == *join.InstanceID
				})
			}
		}
	}
}

// leaving are the calls by which members leave.
func (p *partition) leaving() (all []*call) {
	for _, c := range p.calls {
		if _, ok := c.message.(*kmsg.LeaveGroupRequest); ok {
			all = append(all, c)
		}
	}
	return all
}

// refusedMeanwhile says whether a JoinGroup was refused as the replacement that another request did away with while its record was being written.
func (c *call) refusedMeanwhile() bool {
	join, ok := c.actual.(*kmsg.JoinGroupResponse)
	return ok && (c.removed && join.ErrorCode == kerr.UnknownMemberID.Code || c.raced && join.ErrorCode == kerr.FencedInstanceID.Code)
}

// stays says whether a replacement was refused because its member has left, which it has not yet.
func stays(e *explanation, c *call) bool {
	join, ok := c.actual.(*kmsg.JoinGroupResponse)
	return ok && c.removed && join.ErrorCode == kerr.UnknownMemberID.Code && e.branch.Replaced(c.ticket)
}
