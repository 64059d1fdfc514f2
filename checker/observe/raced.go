package observe

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// fencedMeanwhile yields the outcome of a static member's replacement without a rebalance that is itself replaced before its record is
// written: it has had its effect, but what it is answered then is that it is fenced (static.fenced), with the id that it was given. Kafka 4.3.1
// was seen to do so. The model knows no time between such a record and its end.
func (w *World) fencedMeanwhile(c *call, t *classic.Transition, o Outcome, yield func(Outcome) bool) bool {
	if w.config.Profile.Name == classic.Reference.Name || !slices.ContainsFunc(t.Records, func(r classic.Record) bool { return r.Kind == classic.GroupRecord }) {
		return true
	}
	for i, a := range o.Answers {
		join, ok := a.Message.(*kmsg.JoinGroupResponse)
		if !ok || a.Ticket != c.request.Ticket || join.ErrorCode != 0 {
			continue
		}
		fenced := kmsg.NewPtrJoinGroupResponse()
		fenced.SetVersion(c.request.Version)
		fenced.ErrorCode, fenced.Generation, fenced.MemberID = classic.CodeFencedInstanceID, -1, o.Branch.holders[t.Rekeyed].id
		if c.request.Version < 7 {
			fenced.Protocol = kmsg.StringPtr("") // join.reply.error
		}
		o.Answers = slices.Clone(o.Answers)
		o.Answers[i].Message = fenced
		o.Rules = append(slices.Clone(o.Rules), classic.StaticFenced)
		return yield(o)
	}
	return true
}
