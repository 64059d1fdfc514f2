package consumers

import (
	"context"
	"time"

	"github.com/muster-kafka/muster/checker/ownership"
)

func (g *group) moved() { g.latest = time.Now() }

// calm is for how long nothing must have moved in a group that is at rest: long enough for a metadata update, and for a heartbeat that tells
// of a rebalance.
func (g *group) calm() time.Duration { return max(2*metadataAge, 2*g.plan.Heartbeat) }

// patience is how long a group may take to come to rest: members that are gone have to be found so, and each of two rebalances in a row, as
// cooperative ones are, may wait for one that does not come.
func (g *group) patience() time.Duration {
	return 3*(g.plan.Session+g.plan.Rebalance) + 2*g.plan.Delay + 5*time.Second
}

// settle waits until the group has come to rest, all that there is belongs to somebody, and consumers have had the time to see what is new. If
// that takes too long the log says so.
func (g *group) settle(ctx context.Context) error {
	for {
		life, err := g.lives(ctx)
		if err != nil {
			return nil // the campaign is over
		}
		began := g.tap.Recorder().Now()
		ok, patient := g.await(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if now, err := g.lives(ctx); err != nil {
			return nil
		} else if now != life {
			continue // it was killed meanwhile: all begins anew
		}
		if ok || patient {
			g.say(ownership.Event{Kind: ownership.Quiet, Began: began, Patient: !ok})
		}
		g.restless = patient
		return nil
	}
}

// await says whether the group has come to rest, or that it has had all the time for that.
func (g *group) await(ctx context.Context) (ok, patient bool) {
	end := time.Now().Add(g.patience())
	for time.Now().Before(end) {
		if time.Since(g.latest) > 3*metadataAge && g.rests() {
			return true, false
		}
		if !wait(ctx, 20*time.Millisecond) {
			return false, false
		}
	}
	return false, true
}

func (g *group) rests() bool {
	var generation int32
	for i, c := range g.members {
		n, ok := c.rests(g.calm() + 50*time.Millisecond)
		if !ok || i > 0 && n != generation {
			return false
		}
		generation = n
	}
	wanted, owned := map[string]bool{}, map[string]int32{}
	for _, c := range g.members {
		c.mu.Lock()
		for _, topic := range c.subscribes() {
			wanted[topic] = true
		}
		for topic, numbers := range c.holds {
			owned[topic] += int32(len(numbers))
		}
		c.mu.Unlock()
	}
	for topic := range wanted {
		if owned[topic] < g.topics[topic] {
			return false
		}
	}
	return true
}

// subscribes are the topics that the consumer wants, of those that there are. The caller holds the lock.
func (c *consumer) subscribes() []string {
	if !c.pattern {
		return c.topics
	}
	var all []string
	for topic := range c.group.topics {
		all = append(all, topic)
	}
	return all
}
