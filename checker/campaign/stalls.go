package campaign

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// stalls tells the history of a cell, before it is put together, when target or machine have stood still by themselves: for its judge that is what
// a pause on purpose is, at that time and at no other. It returns the sum of the stalls that the canary saw and that are longer than all that
// may be late anyway.
func (c *campaign) stalls(one *cell, ended time.Time) (total time.Duration) {
	tell := func(s stall, what string) {
		one.worst = max(one.worst, s.late)
		until := max(0, one.rec.At(s.end))
		one.rec.Fault(history.Fault{Kind: history.Pause, At: max(0, until-int64(s.late)), Until: until, What: what})
	}
	for _, s := range c.canary.between(one.started, ended) {
		tell(s, "nothing came back to the canary")
		if s.late > c.o.Slack {
			total += s.late
		}
	}
	calls := one.rec.History(history.Header{}).Calls
	for i := range calls {
		if late := time.Duration(calls[i].Return - calls[i].Call); late >= stallFrom && prompt(&calls[i]) {
			tell(stall{one.rec.Start.Add(time.Duration(calls[i].Return)), late}, "for as long an answer took that is due at once")
		}
	}
	return total
}

// prompt says whether a call was answered, and could not have been parked.
func prompt(c *history.Call) bool {
	if c.Outcome != history.Answered {
		return false
	}
	switch kmsg.Key(c.Key) {
	case kmsg.JoinGroup:
		resp, err := c.DecodeResponse()
		return err == nil && resp.(*kmsg.JoinGroupResponse).ErrorCode == kerr.MemberIDRequired.Code
	case kmsg.SyncGroup:
		return false
	}
	return true
}
