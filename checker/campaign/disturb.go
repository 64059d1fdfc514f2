package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/muster-kafka/muster/checker/history"
)

// Between two things that are done to the target itself there is time enough for groups to come and go.
const (
	betweenCrashes  = 12 * time.Second
	betweenEnds     = 24 * time.Second
	betweenPauses   = 3 * time.Second
	betweenFailures = 4 * time.Second
	betweenHangs    = 3 * time.Second
	longestPause    = 600 * time.Millisecond
	longestTrouble  = 300 * time.Millisecond // of appends
)

// apart is how long nothing is done to the target after something was. When it has stood still every timer that was due goes off at a time, and Kafka from 4.0 on refuses requests by
// what it has not written yet: killed in that instant it comes back without what it has just told of, and no history can be judged by that.
const apart = 500 * time.Millisecond

// harm is something that is done to the target now and then, by itself: never two of them at a time.
type harm struct {
	between time.Duration // on average
	do      func(context.Context) error
	due     time.Time
}

// disturb kills the target, lets it stand still, and troubles its log now and then, until the context is over. A target that does not come back ends the
// campaign.
func (c *campaign) disturb(ctx context.Context) {
	r := rand.New(rand.NewPCG(c.o.Seed, 0xdead))
	between := func(shortest, longest time.Duration) time.Duration {
		return shortest + time.Duration(r.Int64N(int64(longest-shortest)))
	}
	all := c.harms(between)
	for i := range all { // not too late for a short campaign
		first := min(all[i].between, c.o.Budget/6)
		all[i].due = time.Now().Add(between(first/2, first*3/2))
	}
	for len(all) > 0 {
		next := &all[0]
		for i := range all {
			if all[i].due.Before(next.due) {
				next = &all[i]
			}
		}
		if !wait(ctx, max(0, time.Until(next.due))) {
			return
		}
		if err := next.do(ctx); err != nil {
			c.fail(fmt.Errorf("campaign: %s did not come back from what was done to it: %w", c.target.Name(), err))
			return
		}
		next.due = time.Now().Add(between(next.between/2, next.between*3/2))
		for i := range all {
			if soonest := time.Now().Add(apart); all[i].due.Before(soonest) {
				all[i].due = soonest
			}
		}
	}
}

// harms are those that were asked for.
func (c *campaign) harms(between func(shortest, longest time.Duration) time.Duration) (all []harm) {
	if c.o.Faults.Crashes {
		all = append(all, harm{between: betweenCrashes, do: func(ctx context.Context) error {
			// Once begun it is seen through, so that whoever closes the target finds it whole.
			return c.around.crash(context.WithoutCancel(ctx), c.target.(Mortal))
		}})
	}
	if c.o.Faults.Shutdowns {
		all = append(all, harm{between: betweenEnds, do: func(ctx context.Context) error {
			return c.around.shutdown(context.WithoutCancel(ctx), c.target.(Retiring))
		}})
	}
	if c.o.Faults.Pauses {
		all = append(all, harm{between: betweenPauses, do: func(ctx context.Context) error {
			return c.around.freeze(ctx, c.target.(Freezer), between(longestPause/6, longestPause))
		}})
	}
	if c.o.Faults.Appends {
		trouble := func(kind history.FaultKind, do func(on bool)) func(context.Context) error {
			return func(ctx context.Context) error {
				c.around.troubles(ctx, kind, do, between(longestTrouble/6, longestTrouble))
				return nil
			}
		}
		w := c.target.(Writer)
		all = append(all, harm{between: betweenFailures, do: trouble(history.AppendFails, w.FailAppends)},
			harm{between: betweenHangs, do: trouble(history.AppendHangs, w.HangAppends)})
	}
	return all
}
