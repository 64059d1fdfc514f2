package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Between two things that are done to the target itself there is time enough for groups to come and go.
const (
	betweenCrashes = 12 * time.Second
	betweenPauses  = 3 * time.Second
	longestPause   = 600 * time.Millisecond
)

// disturb kills the target and lets it stand still now and then, until the context is over. A target that does not come back ends the
// campaign.
func (c *campaign) disturb(ctx context.Context) {
	mortal, _ := c.target.(Mortal)
	freezer, _ := c.target.(Freezer)
	r := rand.New(rand.NewPCG(c.o.Seed, 0xdead))
	soon := func(d time.Duration) time.Time { // not too late for a short campaign
		return time.Now().Add(min(d, c.o.Budget/6)/2 + time.Duration(r.Int64N(int64(min(d, c.o.Budget/6)))))
	}
	crash, pause := soon(betweenCrashes), soon(betweenPauses)
	for {
		next := time.Hour
		if c.o.Faults.Crashes {
			next = min(next, time.Until(crash))
		}
		if c.o.Faults.Pauses {
			next = min(next, time.Until(pause))
		}
		if !wait(ctx, max(0, next)) {
			return
		}
		var err error
		switch {
		case c.o.Faults.Crashes && time.Until(crash) <= 0:
			// Once begun it is seen through, so that whoever closes the target finds it whole.
			err = c.around.crash(context.WithoutCancel(ctx), mortal)
			crash = time.Now().Add(betweenCrashes/2 + time.Duration(r.Int64N(int64(betweenCrashes))))
		case c.o.Faults.Pauses && time.Until(pause) <= 0:
			err = c.around.freeze(ctx, freezer, longestPause/6+time.Duration(r.Int64N(int64(longestPause*5/6))))
			pause = time.Now().Add(betweenPauses/2 + time.Duration(r.Int64N(int64(betweenPauses))))
		}
		if err != nil {
			c.fail(fmt.Errorf("campaign: %s did not come back from what was done to it: %w", c.target.Name(), err))
			return
		}
	}
}
