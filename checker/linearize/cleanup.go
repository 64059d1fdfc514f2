package linearize

import (
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// Now and then (offsets.retention.check.interval.ms) Kafka removes the groups that are Empty and have no offsets (cleanup.removes), so that their generations begin anew. Nobody asks for
// it and nobody is told, and all groups of a partition of its log are looked at at one time. Up to 3.9 it also does so when any topic is deleted, whoever's it is. Brokers that Muster
// starts do it too rarely to matter; of others the header says how often. A group is judged without that first: who explains it so explains everything that forgets its groups.

// cleanups are the explanations after the target has removed the group, as it had nothing.
func (j *judge) cleanups(e *explanation, op *operation) (after []firing) {
	if j.cleanup == 0 || e.branch.Phase() != classic.Empty {
		return nil
	}
	at := observe.Window{Earliest: e.now, Latest: min(op.last(), j.latest(e))}
	if e.cleaned != nil && !j.scala {
		at.Earliest = max(at.Earliest, *e.cleaned+j.cleanup-j.partition.slack.fixed)
	}
	if at.Earliest > at.Latest {
		return nil
	}
	err := j.world.Cleanup(e.branch, false, at, func(o observe.Outcome) bool {
		if o.Branch.Phase() != classic.Absent {
			return true // it stays
		}
		was := *e
		was.cleaned = &at.Earliest
		j.accept(&was, nil, o, at, func(next explanation) { after = append(after, firing{explanation: next, at: at}) })
		return j.abandoned() == nil
	})
	if err != nil {
		j.giveUp(err)
	}
	return after
}

// earlier is the earlier of two instants, of which both are there or none.
func earlier(a, b *int64) *int64 {
	if a == nil || *a < *b {
		return a
	}
	return b
}
