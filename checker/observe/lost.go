package observe

import (
	"iter"

	"github.com/muster-kafka/muster/model/classic"
)

// A coordinator that crashes may lose what was still on its way to its log. What somebody was answered after waiting for it was written, and so was everything before it. But
// nobody waits for what a timer writes, nor for the record by which a JoinGroup makes its group, nor, before 4.0, for that of a LeaveGroup (leave.write.fails): the group has
// changed all the same, and others are answered by that. So the log keeps what it said before such a write, where a crash may still lose it (Config.MayLose).

// mayLose says whether a crash may lose what a step writes although it has had its effect.
func (w *World) mayLose(c *call, t *classic.Transition, at Window) bool {
	return w.config.MayLose != nil && (!w.awaited(c, t) || c.request.Unwaited) && w.config.MayLose(at)
}

// awaited says whether the step is answered only when what it writes has been written.
func (w *World) awaited(c *call, t *classic.Transition) bool {
	switch c.event.Kind {
	case classic.JoinGroup:
		return t.Rekeyed >= 0 // static.replaced.record
	case classic.SyncGroup:
		return !c.event.Slow // the next SyncGroup may let it be answered before; what ends the write is WriteDone
	case classic.LeaveGroup:
		return w.config.Profile.WritesReported
	}
	return c.event.Kind.Request() || c.event.Kind == classic.TxnMarker
}

// Surviving yields the branch with everything that its log may say after a crash (Config.MayLose), from the latest to the earliest.
func (b *Branch) Surviving() iter.Seq[*Branch] {
	return func(yield func(*Branch) bool) {
		for l := b.log.orEmpty(); l != nil; l = l.before {
			n, kept := *b, *l
			kept.before = nil
			n.log = kept.orNone()
			if !yield(&n) {
				return
			}
		}
	}
}

// orEmpty is a log that is there.
func (l *logged) orEmpty() *logged {
	if l == nil {
		return &logged{}
	}
	return l
}

// orNone is nil for a log that says nothing, and has not said anything that it may still say.
func (l *logged) orNone() *logged {
	if l.group == nil && len(l.offsets) == 0 && len(l.pending) == 0 && l.before == nil {
		return nil
	}
	return l
}
