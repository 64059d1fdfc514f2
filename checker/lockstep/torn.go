package lockstep

import (
	"maps"
	"slices"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
)

// torn judges a crash in the middle of a request's write (checker.Tearer): all that waits is dropped, and every group is what its log says, that
// of the request with what it wrote or without.
func (w *walk) torn(e gen.Event, ticket checker.Ticket, parts []observe.Part, effects checker.Effects) *Violation {
	at := observe.At(w.machine.Now())
	asked := map[string]observe.Part{}
	for _, p := range parts {
		asked[p.Group] = p
		w.set(p.Group)
	}
	for _, group := range slices.Sorted(maps.Keys(w.sets)) {
		p, is := asked[group]
		v := w.judges(group, effects, false, func(b *observe.Branch, yield func(observe.Outcome) bool) error {
			dropped := b.Open()
			if is && w.sent.group(ticket) == group {
				dropped = append(dropped, ticket)
			}
			loaded := func(from *observe.Branch) bool {
				return w.reloaded(from, at, func(o observe.Outcome) bool {
					o.Answers, o.Records, o.Dropped = nil, nil, dropped
					return yield(o)
				})
			}
			if !is || !e.Kept {
				loaded(b)
				return nil
			}
			return w.world.Apply(b, w.asked(e, ticket, p, effects), at, func(o observe.Outcome) bool {
				if o.Overflow {
					return yield(o)
				}
				return loaded(o.Branch)
			})
		}, w.verdict.takes)
		if v != nil || w.stats.Inconclusive != "" {
			return v
		}
	}
	for group := range w.sets {
		parts = append(parts, observe.Part{Group: group})
	}
	return w.elsewhere(parts, effects)
}

// reloaded yields what becomes of a group when another coordinator reads its log.
func (w *walk) reloaded(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) bool {
	going := true
	w.world.Unload(b, at, func(o observe.Outcome) bool {
		w.world.LoadStarts(o.Branch, at, func(next observe.Outcome) bool {
			o := o.Then(next)
			w.world.Loaded(next.Branch, at, func(next observe.Outcome) bool {
				going = yield(o.Then(next))
				return going
			})
			return going
		})
		return going
	})
	return going
}
