package coverage

import (
	"context"
	"fmt"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Explore counts what is reachable in the groups. Nothing is judged: whether the rules hold is for package explore to say.
func Explore(ctx context.Context, groups []explore.Group, workers int) (*Counts, error) {
	all := &Counts{}
	err := each(ctx, groups, workers, func() (watcher, func()) {
		share := &Counts{}
		return share.transition, func() { all.Add(share) }
	})
	return all, err
}

// sort counts the steps of an exploration by what stands in their way.
func sort(ctx context.Context, groups []explore.Group, by map[Obstacle]*Counts) error {
	return each(ctx, groups, 2, func() (watcher, func()) {
		share := map[Obstacle]*Counts{}
		for o := range by {
			share[o] = &Counts{}
		}
		watch := func(from *classic.State, e *classic.Event, t *classic.Transition) {
			if c := share[obstacleOf(from, e)]; c != nil {
				c.transition(from, e, t)
			}
		}
		return watch, func() {
			for o := range by {
				by[o].Add(share[o])
			}
		}
	})
}

type watcher = func(*classic.State, *classic.Event, *classic.Transition)

// each explores the groups one after the other. watch is called for each worker; what it returns second is called when the worker has ended.
func each(ctx context.Context, groups []explore.Group, workers int, watch func() (watcher, func())) error {
	for _, g := range groups {
		var ended []func()
		g.Unjudged = true
		g.Watch = func() func(*classic.State, *classic.Event, *classic.Transition) {
			w, end := watch()
			ended = append(ended, end)
			return w
		}
		if r := explore.Run(ctx, g.Name, g.Machine, explore.Options{Workers: workers}); !r.Complete {
			return fmt.Errorf("exploration of %s is not complete: %s", g.Name, r.Reason)
		}
		for _, end := range ended {
			end()
		}
	}
	return nil
}
