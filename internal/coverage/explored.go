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
	for _, g := range groups {
		var shares []*Counts
		g.Unjudged = true
		g.Watch = func() func(*classic.State, *classic.Event, *classic.Transition) {
			share := &Counts{}
			shares = append(shares, share)
			return share.transition
		}
		if r := explore.Run(ctx, g.Name, g.Machine, explore.Options{Workers: workers}); !r.Complete {
			return nil, fmt.Errorf("exploration of %s is not complete: %s", g.Name, r.Reason)
		}
		for _, share := range shares {
			all.Add(share)
		}
	}
	return all, nil
}
