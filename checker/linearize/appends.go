package linearize

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// What a target writes can be made to fail for a while, or to hang until that is over (history.AppendFails, history.AppendHangs). At no other time may it, but that a
// target which is asked to end may fail at it on its way.
//
//   - While writes fail, each request that writes, and each timer that does, is also tried with a write that fails. It does at once.
//   - While writes hang, others may come between a request and its record. What an OffsetCommit stores is seen later than the group has let it pass; a replacement of a static member
//     waits for its record, so that what was seen of Kafka then (races.go, leaves.go, writing.go) may happen to the reference, too. A leader's assignment is told of in flight.go.
//     Timers of no length wait for the writes that are open, so that the first rebalance of a group takes a while (settings.go).

// mayLose says for when a crash may have lost what was written, unless somebody was answered only after it. A process writes at the latest when it does what else is due; where
// the history tells when writes hang, as a simulation does, or the log is in memory, the reference writes at once at all other times. Nil where nobody crashes.
func mayLose(run *history.History, profile *classic.Profile) func(observe.Window) bool {
	var all []observe.Window
	slack := newSlack(run.Header.Lateness(), run.Faults)
	exact := profile.Name == classic.Reference.Name && (run.Header.InitialDelay == 0 || run.Had(history.AppendHangs))
	for _, crash := range run.Faults {
		switch {
		case !crash.Restarts():
		case !exact:
			all = append(all, observe.Window{Earliest: slack.before(crash.At), Latest: crash.Gone})
		default:
			for _, f := range run.Faults {
				if f.Kind == history.AppendHangs && f.At <= crash.Gone && f.End() >= crash.At {
					all = append(all, observe.Window{Earliest: f.At, Latest: crash.Gone})
				}
			}
		}
	}
	if all == nil {
		return nil
	}
	return func(at observe.Window) bool { return len(within(all, at)) > 0 }
}

// appends notes when what the target wrote may have failed, and may have hung.
func (p *partition) appends(faults []history.Fault) {
	for i := range faults {
		w := observe.Window{Earliest: faults[i].At, Latest: faults[i].End()}
		switch faults[i].Kind {
		case history.AppendFails:
			p.fails = append(p.fails, w)
		case history.Shutdown: // it gives up what it writes to before it ends
			p.fails = append(p.fails, observe.Window{Earliest: faults[i].At, Latest: faults[i].Gone})
		case history.AppendHangs:
			p.hangs = append(p.hangs, w)
		}
	}
}

// within are those parts of a window in which something of what the list says went on.
func within(all []observe.Window, at observe.Window) (parts []observe.Window) {
	for _, w := range all {
		if part := (observe.Window{Earliest: max(w.Earliest, at.Earliest), Latest: min(w.Latest, at.Latest)}); part.Earliest <= part.Latest {
			parts = append(parts, part)
		}
	}
	return parts
}

// troubled applies a request in those ways in which its write fails, or takes its time.
func (j *judge) troubled(e *explanation, c *call, at observe.Window, next *set) {
	for _, part := range within(j.partition.fails, at) {
		j.apply(e, c, part, next, how{fails: true})
	}
	if _, commits := c.message.(*kmsg.OffsetCommitRequest); commits {
		for _, part := range within(j.partition.hangs, at) {
			j.apply(e, c, part, next, how{slow: true})
		}
	}
}

// commitsLand are the explanations after the write of the oldest OffsetCommit that is on its way has ended.
func (j *judge) commitsLand(e *explanation, op *operation) []firing {
	if len(e.commits) == 0 {
		return nil
	}
	at := observe.Window{Earliest: e.now, Latest: min(op.last(), j.latest(e))}
	if at.Earliest > at.Latest {
		return nil
	}
	c := j.partition.calls[e.commits[0]]
	o, err := j.world.Land(e.branch, j.asked(c), at)
	if err != nil {
		j.giveUp(err)
		return nil
	}
	if o.Overflow {
		j.leaveOut()
		return nil
	}
	after := *e
	after.branch, after.commits = o.Branch, e.commits[1:]
	return []firing{{explanation: after, at: at}}
}

// landsBy is the last instant at which all the commits that are on their way may still not be written: before the answer of each.
func (j *judge) landsBy(e *explanation) int64 {
	last := int64(maxInstant)
	for _, t := range e.commits {
		last = min(last, j.partition.calls[t].lands())
	}
	return last
}

// commitsWait says whether a commit was answered, and is still being written.
func (j *judge) commitsWait(e *explanation) (*call, bool) {
	i := slices.IndexFunc(e.commits, func(t checker.Ticket) bool { return j.partition.calls[t].actual != nil })
	if i < 0 {
		return nil, false
	}
	return j.partition.calls[e.commits[i]], true
}
