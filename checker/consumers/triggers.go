package consumers

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/muster-kafka/muster/checker/ownership"
)

// pull lets a trigger happen. Whether anything came of it is seen in the log, in the end.
func (g *group) pull(ctx context.Context, t Trigger) error {
	switch t {
	case Join:
		_, err := g.add(g.rand.IntN(2) == 0)
		return err
	case Leave:
		c, err := g.victim((*consumer).free)
		if err != nil || c == nil {
			return err
		}
		g.forget(c)
		c.leave()
	case Crash:
		c, err := g.victim((*consumer).works)
		if err != nil || c == nil {
			return err
		}
		g.forget(c)
		c.kill()
	case Session:
		if c := g.pick((*consumer).works); c != nil {
			c.stall(g.plan.Session*3/2, t)
		}
	case Poll:
		return g.linger()
	case Absence, Return:
		return g.static(ctx, t)
	case Subscribe:
		c, err := g.pickOrAdd(ctx, func(c *consumer) bool { return !c.pattern && c.works() }, func() error {
			_, err := g.add(false)
			return err
		})
		if err != nil || c == nil {
			return err
		}
		topic := g.names()[1]
		g.say(ownership.Event{Kind: ownership.Note, Client: c.name, Topic: topic, What: "changes its subscription by " + topic})
		c.subscribe(topic)
	case Match:
		return g.match(ctx)
	case Partitions:
		return g.grow(ctx)
	case Switch:
		return g.upgrade(ctx)
	}
	return nil
}

// pick draws a member.
func (g *group) pick(want func(*consumer) bool) *consumer {
	for _, n := range g.rand.Perm(len(g.members)) {
		if c := g.members[n]; want(c) {
			return c
		}
	}
	return nil
}

// pickOrAdd draws a member; where there is none it adds one and, when the group has settled, draws again.
func (g *group) pickOrAdd(ctx context.Context, want func(*consumer) bool, add func() error) (*consumer, error) {
	if c := g.pick(want); c != nil {
		return c, nil
	}
	if err := add(); err != nil {
		return nil, err
	}
	if err := g.settle(ctx); err != nil {
		return nil, err
	}
	return g.pick(want), nil
}

// victim draws a member that may go, and lets others come first if there are too few.
func (g *group) victim(want func(*consumer) bool) (*consumer, error) {
	for len(g.members) <= fewest {
		if _, err := g.add(g.rand.IntN(2) == 0); err != nil {
			return nil, err
		}
	}
	return g.pick(want), nil
}

// forget takes a member off the list.
func (g *group) forget(gone *consumer) {
	g.members = slices.DeleteFunc(slices.Clone(g.members), func(c *consumer) bool { return c == gone }) // others go through the list meanwhile
}

// linger makes a member take too long for what it has to give up, and lets another come, so that it has to.
func (g *group) linger() error {
	c := g.pick((*consumer).works)
	if c == nil {
		return nil
	}
	c.engage(g.plan.Rebalance * 3)
	c.mu.Lock()
	c.linger = true
	c.mu.Unlock()
	if len(g.members) >= most {
		if other := g.pick((*consumer).free); other != nil {
			g.forget(other)
			other.leave()
		}
		return nil
	}
	_, err := g.add(g.rand.IntN(2) == 0)
	return err
}

// static lets a static member miss a rebalance, or come back.
func (g *group) static(ctx context.Context, t Trigger) error {
	c, err := g.pickOrAdd(ctx, func(c *consumer) bool { return c.static != "" && c.works() }, func() error {
		g.statics++
		_, err := g.start(fmt.Sprintf("%si%d", g.plan.Name, g.statics), false, slices.Clone(g.names()[:1]), g.balancers()...)
		return err
	})
	if err != nil || c == nil {
		return err
	}
	if t == Absence {
		c.stall((g.plan.Rebalance+g.plan.Session)/2, t)
		_, err := g.start("", false, slices.Clone(g.names()[:1]), g.balancers()...)
		return err
	}
	g.forget(c)
	c.kill()
	again, err := g.start(c.static, c.pattern, slices.Clone(g.names()[:1]), g.balancers()...)
	if err != nil {
		return err
	}
	again.engage(g.plan.Session)
	return nil
}

// match creates a topic that fits the pattern of a member.
func (g *group) match(ctx context.Context) error {
	if g.matches == 2 {
		return nil
	}
	if g.pick(func(c *consumer) bool { return c.pattern }) == nil {
		if _, err := g.add(true); err != nil {
			return err
		}
	}
	name := g.names()[2+g.matches]
	g.matches++
	return g.create(ctx, name, 2)
}

// grow adds a partition to a topic that everybody may have.
func (g *group) grow(ctx context.Context) error {
	name := g.names()[0]
	n := g.topics[name] + 1
	if n > mostPartitions {
		return nil
	}
	return g.change(ctx, name, n, g.plan.Topics.Grow, kerr.InvalidPartitions)
}

const mostPartitions = 8

// upgrade replaces all members, one by one, by such that can do both, and these by such that rebalance cooperatively alone, as people upgrade
// running groups.
func (g *group) upgrade(ctx context.Context) error {
	both := []kgo.GroupBalancer{kgo.CooperativeStickyBalancer(), kgo.RangeBalancer()}
	for round, balancers := range [][]kgo.GroupBalancer{both, both[:1]} {
		g.balancers = func() []kgo.GroupBalancer { return balancers }
		old := g.members
		g.note("the members are replaced by others that balance by %v", protocols(balancers))
		for _, c := range old {
			if ctx.Err() != nil || g.enter(ctx) != nil {
				return nil
			}
			g.forget(c)
			c.leave()
			if _, err := g.add(c.pattern); err != nil {
				return fmt.Errorf("in round %d of the change of balancers: %w", round+1, err)
			}
		}
		g.moved()
		if err := g.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}
