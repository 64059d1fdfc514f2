package linearize

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
)

// restart puts what a crash does to every group among the operations of this one: all that is in memory goes, and what the log has is
// read again.
func (p *partition) restart(faults []history.Fault) {
	for i, f := range faults {
		if !f.Restarts() {
			continue
		}
		c := &call{id: -int64(i) - 1, client: fmt.Sprintf("restart (%.3f ms - %.3f ms)", ms(f.At), ms(f.Until)), from: f.At, to: f.Until, gone: f.Gone}
		op := &operation{call: c, stage: restart, at: observe.Window{Earliest: f.At, Latest: f.Until}}
		p.restarts = append(p.restarts, op)
		p.operations = append(p.operations, op)
	}
}

// whileDown says whether a call was open at some instant of a restart.
func (p *partition) whileDown(c *call) bool {
	for _, r := range p.restarts {
		if c.from <= r.at.Latest && c.to >= r.at.Earliest {
			return true
		}
	}
	return false
}

// restart takes an explanation through a crash. What waited for an answer at the dead coordinator has none coming: one that came after
// all was decided before, so it cannot have waited. The timers of what is loaded start between the instant at which the old one was
// surely dead and the one at which the new one served.
func (j *judge) restart(e *explanation, op *operation, next *set) {
	crash := observe.Window{Earliest: max(e.now, op.at.Earliest), Latest: op.call.gone}
	if crash.Latest = min(crash.Latest, j.latest(e)); crash.Earliest > crash.Latest {
		j.refuse(e, nil, nil, nil, "a timer must have fired before the crash")
		return
	}
	loaded := observe.Window{Earliest: op.call.gone, Latest: op.at.Latest}
	for _, t := range e.branch.Open() {
		if to := j.partition.calls[t]; to.actual != nil {
			j.refuse(e, to, nil, nil, "it was answered, but still waited when the coordinator crashed")
			return
		}
	}
	if to, waits := j.commitsWait(e); waits {
		j.refuse(e, to, nil, nil, "it was answered, but was not written when the coordinator crashed")
		return
	}
	j.world.Unload(e.branch, crash, func(o observe.Outcome) bool {
		j.world.LoadStarts(o.Branch, crash, func(o observe.Outcome) bool {
			for b := range o.Branch.Surviving() {
				j.loaded(e, b, loaded, next)
			}
			return j.abandoned() == nil
		})
		return j.abandoned() == nil
	})
}

// loaded takes an explanation to where the new coordinator has read what the log says by a branch.
func (j *judge) loaded(e *explanation, b *observe.Branch, at observe.Window, next *set) {
	j.world.Loaded(b, at, func(o observe.Outcome) bool {
		if o.Overflow {
			j.leaveOut()
			return true
		}
		next.add(explanation{branch: o.Branch, now: at.Earliest, owed: e.owed, cleaned: e.cleaned, fork: e.fork})
		return true
	})
}

// notServed says whether an answer is an error of a coordinator that does not serve the group, or not yet.
func notServed(resp kmsg.Response) bool {
	return Moved(resp) || slices.Contains(allCodes(resp), kerr.CoordinatorNotAvailable.Code)
}

// Moved says whether an answer is an error of a broker that is not the group's coordinator, or only becomes it.
func Moved(resp kmsg.Response) bool {
	all := allCodes(resp)
	return slices.Contains(all, kerr.NotCoordinator.Code) || slices.Contains(all, kerr.CoordinatorLoadInProgress.Code)
}

// allCodes are the error codes of any answer.
func allCodes(resp kmsg.Response) []int16 {
	all := codes(resp)
	switch r := resp.(type) {
	case *kmsg.LeaveGroupResponse:
		all = append(all, r.ErrorCode)
	case *kmsg.OffsetDeleteResponse:
		all = append(all, r.ErrorCode)
	case *kmsg.OffsetFetchResponse:
		all = append(all, r.ErrorCode)
		for _, g := range r.Groups {
			all = append(all, g.ErrorCode)
		}
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				all = append(all, p.ErrorCode)
			}
		}
	case *kmsg.DescribeGroupsResponse:
		for _, g := range r.Groups {
			all = append(all, g.ErrorCode)
		}
	case *kmsg.ListGroupsResponse:
		all = append(all, r.ErrorCode)
	}
	return all
}
