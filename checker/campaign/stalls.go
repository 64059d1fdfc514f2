package campaign

import (
	"cmp"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// stalls tells the history of a cell when target or machine have stood still by themselves: for its judge that is what a pause on purpose is, at
// that time and at no other. It returns the sum of the stalls that the canary saw and that are longer than all that may be late anyway.
func (c *campaign) stalls(one *cell, h *history.History, ended time.Time) (total time.Duration) {
	var all, stalls []history.Fault
	onPurpose := func(kind history.FaultKind, from, until int64) (sum int64) {
		for _, f := range h.Faults {
			if f.Kind == kind {
				sum += max(0, min(until, f.End())-max(from, f.At))
			}
		}
		return sum
	}
	add := func(from, until, hung int64) {
		late := until - from - hung - onPurpose(history.Pause, from, until) // what was done on purpose is no stall
		one.worst = max(one.worst, time.Duration(late))
		all = append(all, history.Fault{Kind: history.Pause, At: max(0, from), Until: max(0, until), What: "nothing came back"})
	}
	for _, s := range c.canary.between(one.started, ended) {
		add(one.rec.At(s.due), one.rec.At(s.end), 0) // with what was on purpose: nothing came back before, between, and after that
		if s.late > c.o.Slack {
			total += s.late
		}
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		from, until := c.Call, c.Return
		if hung := onPurpose(history.AppendHangs, from, until); until-from-hung >= int64(stallFrom) && prompt(c) {
			add(from, until, hung)
		}
	}
	slices.SortFunc(all, func(a, b history.Fault) int { return cmp.Compare(a.At, b.At) })
	for len(all) > 0 { // what overlaps is one
		first := all[0]
		for all = all[1:]; len(all) > 0 && all[0].At <= first.Until; all = all[1:] {
			first.Until = max(first.Until, all[0].Until)
		}
		stalls = append(stalls, first)
	}
	h.AddFaults(stalls...)
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
