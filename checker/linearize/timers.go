package linearize

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// settle yields an explanation in all the ways in which its timers may have fired before the operation takes effect. With now as the
// present, a firing is possible from the timer's earliest deadline on, is over before the operation's last instant, and must have
// happened where the latest deadline and the lateness are past. What has fired starts what it arms at the instant of the firing.
func (j *judge) settle(ctx context.Context, e *explanation, op *operation) iter.Seq[explanation] {
	return func(yield func(explanation) bool) {
		present := max(e.now, op.at.Earliest)
		found := set{apart: j.apart}
		found.add(*e)
		// A merge may widen an explanation that has been expanded; it is expanded again then.
		queue := []int{0}
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			from := found.list[at]
			if ctx.Err() != nil || j.abandoned() != nil {
				return
			}
			for _, next := range j.firings(&from, op) {
				if i, changed := found.add(next.explanation); changed {
					queue = append(queue, i)
				}
			}
			if len(found.list) > j.capacity {
				j.giveUp(fmt.Errorf("%w: timers of group %q may have fired in more than %d ways", errCapacity, j.partition.group, j.capacity))
				return
			}
		}
		for i := range found.list {
			if j.latest(&found.list[i]) < present {
				j.refuse(&found.list[i], nil, nil, nil, "a timer must have fired, and did not")
				continue
			}
			if !yield(found.list[i]) {
				return
			}
		}
	}
}

// firings are the explanations after one more timer has fired.
func (j *judge) firings(e *explanation, op *operation) []firing {
	after := slices.Concat(j.lateFirings(e, op), j.landings(e, op), j.commitsLand(e, op), j.cleanups(e, op))
	last := min(op.last(), j.latest(e)) // a timer that has not fired yet bounds the instants of all others
	for _, t := range e.timers {
		at := observe.Window{Earliest: max(e.now, t.Window.Earliest), Latest: last}
		if at.Earliest > at.Latest {
			continue
		}
		j.world.Fire(e.branch, t, at, func(o observe.Outcome) bool {
			j.accept(e, nil, o, at, func(next explanation) { after = append(after, firing{next, t, at}) })
			return j.abandoned() == nil
		})
		for _, part := range within(j.partition.fails, at) {
			t.WriteFails = true
			j.world.Fire(e.branch, t, part, func(o observe.Outcome) bool {
				if len(o.Records) > 0 {
					j.accept(e, nil, o, part, func(next explanation) { after = append(after, firing{next, t, part}) })
				}
				return j.abandoned() == nil
			})
		}
	}
	return after
}

// lateFirings are the explanations after a session that had ended before its timer was started again has removed its member: see scala.go.
func (j *judge) lateFirings(e *explanation, op *operation) (after []firing) {
	for i, l := range e.late {
		at := observe.Window{Earliest: e.now, Latest: min(op.last(), l.until)}
		if at.Earliest > at.Latest {
			continue
		}
		if next, ok := j.vanishes(e, l, at); ok {
			after = append(after, firing{explanation: next, at: at})
		}
		for _, t := range e.timers {
			if t.Kind != classic.SessionTimer || t.Member != l.member {
				continue
			}
			was := *e
			was.late = slices.Delete(slices.Clone(e.late), i, i+1)
			j.world.Fire(e.branch, t, at, func(o observe.Outcome) bool {
				if o.Overflow || l.buries(&o, j.partition.calls) {
					j.accept(&was, nil, o, at, func(next explanation) { after = append(after, firing{next, t, at}) })
				}
				return j.abandoned() == nil
			})
		}
	}
	return after
}
