package coverage

import (
	"context"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Obstacle is why no broker of the harness can be brought to a cell, as far as exploration shows.
type Obstacle string

const (
	None      Obstacle = ""
	Unserved  Obstacle = "elsewhere" // the broker is not the group's coordinator
	LoadsFast Obstacle = "loading"   // a request meets the coordinator while it loads the group
	GivesUp   Obstacle = "unload"    // only the step in which a living coordinator gives the group up
	NoTopic   Obstacle = "topics"    // only the step in which a topic is deleted
	Writes    Obstacle = "write"     // only with a write that fails, or that has not ended yet
)

// obstacleOf is what stands in the way of a single step.
func obstacleOf(from *classic.State, e *classic.Event) Obstacle {
	switch {
	case from.Serving == classic.NoCoordinator:
		return Unserved
	case from.Serving == classic.Loading && e.Kind != classic.Loaded:
		return LoadsFast
	case e.Kind == classic.Unload:
		return GivesUp
	case e.Kind == classic.TopicsDeleted:
		return NoTopic
	case e.Write == classic.WriteFailed:
		return Writes
	}
	return None
}

// survey explores the groups twice, as they are and without what stands in the way, and says what stands in the way of each cell.
func survey(ctx context.Context, groups []explore.Group) (*Counts, func(Cell) Obstacle, error) {
	all, err := Explore(ctx, groups, 2)
	if err != nil {
		return nil, nil, err
	}
	var plain []explore.Group
	for _, g := range groups {
		g.WriteFailures, g.WriteInFlight = false, false
		plain = append(plain, g)
	}
	by := map[Obstacle]*Counts{None: {}, Unserved: {}, LoadsFast: {}, GivesUp: {}, NoTopic: {}}
	if err := sort(ctx, plain, by); err != nil {
		return nil, nil, err
	}
	return all, func(c Cell) Obstacle {
		for _, o := range []Obstacle{None, Unserved, LoadsFast, GivesUp, NoTopic} {
			if by[o].Seen(c) > 0 {
				return o
			}
		}
		return Writes
	}, nil
}
