package lockstep

import (
	"maps"
	"slices"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// happening is what the specification says of something that happens to the broker: the outcomes for one group.
type happening func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) error

// always makes one of what cannot fail.
func always(happen func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool)) happening {
	return func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) error {
		happen(b, at, yield)
		return nil
	}
}

// void is what comes of an order that does not count.
var void = always(func(b *observe.Branch, _ observe.Window, yield func(observe.Outcome) bool) {
	yield(observe.Outcome{Branch: b})
})

// act does to the machine's broker what the event says, and judges what comes out.
func (w *walk) act(e gen.Event) *Violation {
	m, _ := w.machine.(checker.Broker)
	switch e.Act {
	case gen.BeginTxn: // of which no group hears
		return nil
	case gen.EndTxn:
		if e.Unmarked {
			return w.unmarked(m, e)
		}
		return w.happens(gen.Event{Act: e.Act}, func() { m.EndTxn(e.Producer.ID, e.Producer.Epoch, e.Commit) },
			always(func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) {
				w.world.EndTxn(b, e.Producer.ID, e.Commit, at, yield)
			}))
	case gen.DeleteTopics:
		return w.happens(e, func() { m.DeleteTopics(e.Topics...) },
			always(func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) {
				w.world.DeleteTopics(b, e.Topics, e.FailWrites, at, yield)
			}))
	case gen.Cleanup:
		return w.happens(e, m.Cleanup, func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) error {
			return w.world.Cleanup(b, e.FailWrites, at, yield)
		})
	case gen.Unload:
		return w.unload(m, e.Epoch)
	case gen.Load:
		return w.load(m, e.Epoch)
	case gen.Loaded:
		return w.loaded(m)
	case gen.Restart:
		if v := w.load(m, e.Epoch); v != nil || w.stats.Inconclusive != "" {
			return v
		}
		return w.loaded(m)
	}
	return nil
}

func (w *walk) unload(m checker.Broker, epoch int32) *Violation {
	e, expected := gen.Event{Act: gen.Unload}, always(w.world.Unload)
	if epoch < w.epoch || w.serving == classic.NoCoordinator { // load.epoch
		w.stats.Rules[classic.LoadEpoch]++
		e, expected = gen.Event{}, void
	} else {
		w.serving = classic.NoCoordinator
	}
	w.epoch = max(w.epoch, epoch)
	return w.happens(e, func() { m.Unload(epoch) }, expected)
}

// load gives the groups up first.
func (w *walk) load(m checker.Broker, epoch int32) *Violation {
	e, expected := gen.Event{}, void
	if epoch >= w.epoch {
		w.epoch, w.serving, e.Act = epoch, classic.Loading, gen.Load
		expected = func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) error {
			w.world.Unload(b, at, func(o observe.Outcome) bool {
				going := true
				w.world.LoadStarts(o.Branch, at, func(next observe.Outcome) bool {
					going = yield(o.Then(next))
					return going
				})
				return going
			})
			return nil
		}
	}
	return w.happens(e, func() { m.Load(epoch) }, expected)
}

func (w *walk) loaded(m checker.Broker) *Violation {
	e, expected := gen.Event{}, void
	switch {
	case w.serving == classic.Loading && w.damaged: // nobody coordinates the groups of a log that cannot be read
		w.serving, e.Act = classic.NoCoordinator, gen.Loaded
		expected = always(w.world.Unload)
	case w.serving == classic.Loading:
		w.serving, e.Act = classic.Active, gen.Loaded
		expected = always(w.world.Loaded)
	}
	return w.happens(e, m.Loaded, expected)
}

// happens lets something happen to all groups at once and judges each.
func (w *walk) happens(e gen.Event, do func(), expected happening) *Violation {
	fails := e.FailWrites
	w.stats.Steps++
	w.fails(e)
	if v := w.survives("?", do); v != nil {
		return v
	}
	effects := w.drain()
	if v := w.watched(e, effects); v != nil {
		return v
	}
	if w.blind {
		w.forget(effects)
		return nil
	}
	at := observe.At(w.machine.Now())
	var parts []observe.Part
	for _, g := range slices.Sorted(maps.Keys(w.sets)) {
		parts = append(parts, observe.Part{Group: g})
		v := w.judge(g, effects, fails, func(b *observe.Branch, yield func(observe.Outcome) bool) error {
			return expected(b, at, yield)
		})
		if v != nil || w.stats.Inconclusive != "" {
			return v
		}
	}
	return w.elsewhere(parts, effects)
}
