package observe

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// leaveOneByOne applies a batch LeaveGroup as the Scala coordinator does (Profile.LeavesOneByOne): the group reacts to each entry before
// the next is looked at. A member that comes later in the batch may be answered by such a reaction: its SyncGroup with
// REBALANCE_IN_PROGRESS, its JoinGroup with a generation.
func (w *World) leaveOneByOne(b *Branch, r Request, at Window, yield func(Outcome) bool) (bool, error) {
	batch := r.Message.(*kmsg.LeaveGroupRequest).Members
	var failed error
	var walk func(so Outcome, done []kmsg.LeaveGroupResponseMember) bool
	walk = func(so Outcome, done []kmsg.LeaveGroupResponseMember) bool {
		if len(done) == len(batch) {
			m := kmsg.NewPtrLeaveGroupResponse()
			m.SetVersion(r.Version)
			m.Members = done
			so.Answers = append(slices.Clone(so.Answers), Answer{Ticket: r.Ticket, Message: m})
			return yield(so)
		}
		one := *r.Message.(*kmsg.LeaveGroupRequest)
		one.Members = batch[len(done) : len(done)+1]
		entry := r
		entry.Message = &one
		more, err := w.apply(so.Branch, entry, at, func(o Outcome) bool {
			if o.Overflow {
				return yield(o)
			}
			i := slices.IndexFunc(o.Answers, func(a Answer) bool { return a.Ticket == r.Ticket })
			result := o.Answers[i].Message.(*kmsg.LeaveGroupResponse).Members[0]
			o.Answers = slices.Delete(slices.Clone(o.Answers), i, i+1)
			return walk(so.Then(o), append(slices.Clone(done), result))
		})
		if err != nil {
			failed = err
		}
		return more
	}
	more := walk(Outcome{Branch: b}, nil)
	return more && failed == nil, failed
}
