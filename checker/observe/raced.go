package observe

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// fencedMeanwhile yields the outcome of a static member's replacement without a rebalance that is itself replaced before its record is
// written: it has had its effect, but what it is answered then is that it is fenced (static.fenced), with the id that it was given. Kafka 4.3.1
// was seen to do so. The model knows no time between such a record and its end.
func (w *World) fencedMeanwhile(c *call, t *classic.Transition, o Outcome, yield func(Outcome) bool) bool {
	return w.refusedMeanwhile(c, t, o, classic.CodeFencedInstanceID, o.Branch.holders[t.Rekeyed].id, classic.StaticFenced, yield)
}

// removedMeanwhile yields the outcome of such a replacement that a LeaveGroup removes before its record is written: it waits for an answer as a
// parked JoinGroup does, and gets the same (join.parked.removed). Kafka 4.3.1 was seen to do so.
func (w *World) removedMeanwhile(c *call, t *classic.Transition, o Outcome, yield func(Outcome) bool) bool {
	return w.refusedMeanwhile(c, t, o, classic.CodeUnknownMemberID, "", classic.JoinParkedRemoved, yield)
}

// joinedMeanwhile yields the outcome of such a replacement that takes part in the next rebalance, as that begins and ends before its record is written: Kafka
// counts a JoinGroup that waits for its record as one of a member that has joined, and answers it with the generation that the others make.
func (w *World) joinedMeanwhile(c *call, t *classic.Transition, o Outcome, yield func(Outcome) bool) bool {
	i := w.replacementIn(c, t, o)
	if i < 0 {
		return true
	}
	o.Answers = slices.Delete(slices.Clone(o.Answers), i, i+1)
	o.Branch = o.Branch.next()
	o.Branch.state.Slots[t.Rekeyed].Joining = true
	o.Branch.park(c, t)
	return yield(o)
}

// replacementIn is which of the answers is that to a replacement without a rebalance, which waits for a record; -1 without one. The reference answers by
// contract, as if a record took no time, unless it does (Request.Hangs).
func (w *World) replacementIn(c *call, t *classic.Transition, o Outcome) int {
	if w.config.Profile.Name == classic.Reference.Name && !c.request.Hangs || !slices.ContainsFunc(t.Records, func(r classic.Record) bool { return r.Kind == classic.GroupRecord }) {
		return -1
	}
	return slices.IndexFunc(o.Answers, func(a Answer) bool {
		join, ok := a.Message.(*kmsg.JoinGroupResponse)
		return ok && a.Ticket == c.request.Ticket && join.ErrorCode == 0
	})
}

// refusedMeanwhile yields the outcome of a replacement that has had its effect and is refused all the same.
func (w *World) refusedMeanwhile(c *call, t *classic.Transition, o Outcome, code int16, id string, rule classic.RuleID, yield func(Outcome) bool) bool {
	i := w.replacementIn(c, t, o)
	if i < 0 {
		return true
	}
	refused := kmsg.NewPtrJoinGroupResponse()
	refused.SetVersion(c.request.Version)
	refused.ErrorCode, refused.Generation, refused.MemberID = code, -1, id
	if c.request.Version < 7 {
		refused.Protocol = kmsg.StringPtr("") // join.reply.error
	}
	o.Answers = slices.Clone(o.Answers)
	o.Answers[i].Message = refused
	o.Rules = append(slices.Clone(o.Rules), rule)
	return yield(o)
}

// Replaced says whether the branch still has the member into which a request has made a static one, and nobody has seen its id.
func (b *Branch) Replaced(t checker.Ticket) bool { return b.Has(ghost(t)) }
