package linearize

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// The replacement of a static member in a Stable group is answered when its record has been written, and Kafka makes the answer only then: the leader and the members in it are
// those of that moment, so that it tells of others that have been replaced, have left or have expired while the call was open. The model makes the answer with the effect. Where
// the recorded one differs in nothing else, the explanation goes on, and must come to a state of the group that it tells of before the call has returned. The reference answers
// by contract, and what it answers is what the group was when the member was replaced.

// writing is a replacement that has had its effect, and whose answer does not tell of the group as it was then.
type writing struct {
	ticket    checker.Ticket
	predicted kmsg.Response // what the answer would have been then
	rules     []classic.RuleID
}

// supportsSkipping is the first version of JoinGroup whose answer tells a leader of the members. Before, the answer to a replacement tells of nobody but the leader as it was before.
const supportsSkipping = 9

// written says whether a predicted answer is to a replacement whose answer Kafka makes later, and the recorded one may be that.
func (j *judge) written(to, c *call, predicted kmsg.Response, o *observe.Outcome) bool {
	actual, ok := to.actual.(*kmsg.JoinGroupResponse)
	if !ok || !j.later && !to.hangs || to != c || c.rival() == "" || c.version < supportsSkipping {
		return false
	}
	if !slices.ContainsFunc(o.Records, func(r classic.Record) bool { return r.Kind == classic.GroupRecord }) {
		return false
	}
	then := *predicted.(*kmsg.JoinGroupResponse)
	if then.ErrorCode != 0 || then.Generation != o.Branch.Generation() || observe.Match(&then, actual) == nil {
		return false
	}
	then.LeaderID, then.Members, then.SkipAssignment = actual.LeaderID, actual.Members, actual.SkipAssignment
	return observe.Match(&then, actual) == nil
}

// settleWritten takes those writings for ended whose answers tell of the group as it is now.
func (j *judge) settleWritten(e *explanation) {
	for _, w := range e.writing {
		if j.world.Written(e.branch, j.partition.calls[w.ticket].actual.(*kmsg.JoinGroupResponse)) {
			e.writing = withoutWriting(e.writing, w.ticket)
			e.owed = withTicket(e.owed, w.ticket)
		}
	}
}

func withoutWriting(all []writing, t checker.Ticket) []writing {
	return slices.DeleteFunc(slices.Clone(all), func(w writing) bool { return w.ticket == t })
}

func withWriting(all []writing, w writing) []writing {
	at, _ := slices.BinarySearchFunc(all, w.ticket, func(o writing, t checker.Ticket) int { return int(o.ticket) - int(t) })
	return slices.Insert(slices.Clone(all), at, w)
}

// refuseWritten tells why the answer of a replacement does not fit: it tells of what the group has not been while the call was open.
func (j *judge) refuseWritten(e *explanation, c *call) bool {
	for _, w := range e.writing {
		if w.ticket == c.ticket {
			j.refuse(e, c, w.predicted, w.rules, observe.Match(w.predicted, c.actual).Error())
			return true
		}
	}
	return false
}
