package campaign

import (
	"context"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/muster-kafka/muster/checker/consumers"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/target"
)

// Reachable is a target that other clients can reach: where they begin, a function that dials, and how they log in, or nil.
type Reachable interface {
	Clients() (addr string, dial func(ctx context.Context, network, addr string) (net.Conn, error), auth sasl.Mechanism)
}

// Consumers is what real consumers did in groups of their own, and what was found of who owned what.
type Consumers struct {
	Groups      int // whose ownership was judged
	Generations int // of these, in which members had an assignment
	Claims      int // of a member on a partition in a generation
	Zombies     int // claims that were still held when another member had the partition in a later generation
	Rests       int // times at which a group had come to rest and all was owned
	Unrested    int // times at which it had not, and could not be expected to

	Triggers   map[consumers.Trigger]int    // that had their effect
	Asked      []consumers.Trigger          // that had to
	Impossible map[consumers.Trigger]string // triggers that the target cannot have, and why
	Problems   []string                     // what kept groups from work, or from a verdict

	Broken   int // rules that were broken, each once for a group and generation
	Failures []OwnershipFailure
}

// OwnershipFailure is one rule of ownership that was broken in one group.
type OwnershipFailure struct {
	Rule   ownership.Rule
	Group  string
	Text   string
	File   string // the log; empty if it could not be saved
	Replay string // the command that judges it again
}

const (
	// leastBudget is the budget below which there is no time for everything to happen to consumers: on a target of Muster's own, and on one whose
	// requests are counted, where sessions are long.
	leastBudget, leastBudgetPaced = 30 * time.Second, 2 * time.Minute

	// consumerGroups are the groups of real consumers at a time; one where the target has limits.
	consumerGroups = 2
	// longestConsumers is how long something is done to one of them.
	longestConsumers = 25 * time.Second
	// leastConsumers is the time below which none is begun any more.
	leastConsumers = 8 * time.Second
	// session of the consumers, where the target allows as little, and where requests are counted: heartbeats are among them.
	consumerSession, consumerSessionPaced = 1800 * time.Millisecond, 6 * time.Second
)

// LeastForConsumers is the budget below which no real consumers are put to work on a target.
func LeastForConsumers(caps target.Capabilities) time.Duration {
	if caps.MaxGroups > 0 {
		return leastBudgetPaced
	}
	return leastBudget
}

// consume lets groups of real consumers work one after the other, until the context is over.
func (c *campaign) consume(ctx context.Context) {
	reach, ok := c.target.(Reachable)
	if !c.o.Consumers || !ok {
		return
	}
	var work sync.WaitGroup
	groups := consumerGroups
	if c.caps.MaxGroups > 0 {
		groups = 1
	}
	first := c.consumerPlan(reach, 0)
	impossible := first.Impossible()
	c.mu.Lock()
	c.report.Consumers.Impossible, c.report.Consumers.Triggers = impossible, map[consumers.Trigger]int{}
	for _, t := range consumers.Triggers() {
		if _, not := impossible[t]; !not {
			c.report.Consumers.Asked = append(c.report.Consumers.Asked, t)
		}
	}
	c.mu.Unlock()
	for n := range groups {
		work.Go(func() {
			for i := n; ctx.Err() == nil; i += groups {
				end, _ := ctx.Deadline()
				if time.Until(end) < leastConsumers {
					return
				}
				plan := c.consumerPlan(reach, i)
				plan.Duration = time.Until(end) - leastConsumers/2
				if c.caps.MaxGroups == 0 {
					plan.Duration = min(plan.Duration, longestConsumers)
				}
				if !c.consumeOne(ctx, plan) {
					return
				}
			}
		})
	}
	work.Wait()
}

// prefer lets the requests of real consumers go before those of other clients, where all are counted: these take their turns one by one, so that
// at most one of them is before a heartbeat that must not be late.
func (c *campaign) prefer() {
	c.urgent = c.pace
	if c.caps.MaxGroups == 0 || c.pace == nil || !c.o.Consumers {
		return
	}
	turn := make(chan struct{}, 1)
	c.pace = func(ctx context.Context) error {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-turn }()
		return c.urgent(ctx)
	}
}

// consumerPlan is what a group of real consumers does; n counts them.
func (c *campaign) consumerPlan(reach Reachable, n int) consumers.Plan {
	addr, dial, auth := reach.Clients()
	session, beats := max(consumerSession, c.caps.MinSession), time.Duration(12)
	if c.caps.MaxGroups > 0 {
		session, beats = max(consumerSessionPaced, c.caps.MinSession), 6
	}
	name := fmt.Sprintf("%sown-%s-%d", c.caps.Prefix, c.stamp, n)
	plan := consumers.Plan{
		// Neighbours balance differently, so that a short campaign has seen the change from eager to cooperative.
		Seed: c.o.Seed*0x9e3779b97f4a7c15 + uint64(n), Kind: n + 4, Name: fmt.Sprintf("u%d", n), Target: c.target.Name(), Group: name,
		Network: consumers.Network{Addr: addr, Dial: dial, SASL: auth, Pace: c.urgent},
		Static:  c.caps.Has(target.Static), Session: session, Rebalance: session * 3 / 5, Heartbeat: session / beats, Delay: c.caps.InitialDelay, Enter: c.around.Enter,
	}
	if c.caps.MaxGroups == 0 {
		plan.Topics, plan.Prefix = c.keeping(consumers.TopicsOf(c.target)), name+"-"
	} else {
		plan.Fixed, plan.FixedCount = c.topic(), c.o.topicPartitions()
	}
	return plan
}

// kept are topics that stay until the target goes. When any topic is deleted, the coordinator of Kafka up to 3.9 removes all groups that are Empty and have
// no offsets, whoever's they are (cleanup.removes): so their generations would begin anew, and no history of theirs would say why.
type kept struct{ consumers.Topics }

func (kept) Delete(context.Context, ...string) error { return nil }

// keeping are topics that stay where the coordinator may be one that removes groups when they go.
func (c *campaign) keeping(t consumers.Topics) consumers.Topics {
	if t != nil && slices.ContainsFunc(c.o.Profiles, linearize.IsScala) {
		return kept{t}
	}
	return t
}

// topicPartitions are those that the one topic of a target has at least: see target.Capabilities.
func (Options) topicPartitions() int32 { return 2 }

// consumeOne lets one group work and judges it. It says no where the target gives no group a chance.
func (c *campaign) consumeOne(ctx context.Context, plan consumers.Plan) bool {
	runner := consumers.Begin(plan)
	one := &cell{plan: traffic.Plan{Setup: traffic.Setup{Seed: plan.Seed, Name: plan.Name, Groups: []string{plan.Group}}}, rec: runner.Recorder(), started: runner.Recorder().Start}
	c.around.join(one)
	err := runner.Drive(ctx)
	down := c.around.down()
	c.around.leave(one)
	ended := time.Now()
	result := runner.Result()
	recorded := result.History
	if recorded == nil { // calls are missing in it
		recorded = &history.History{}
	}
	one.ended = ended
	c.finish(one, recorded, ended)
	lost := down || c.lostGroups(one) // then generations have begun anew, and so has who owns what
	interrupted := c.interrupted(ctx, one)
	if !lost && !interrupted {
		c.owned(ctx, plan, result, one.worst > plan.Session/2 || result.Held > plan.Session/4)
	}
	if _, gone := c.died(); err != nil && ctx.Err() == nil && gone == nil && !interrupted {
		c.mu.Lock()
		c.report.Consumers.Problems = append(c.report.Consumers.Problems, "a group of real consumers could not work: "+err.Error())
		c.mu.Unlock()
	}
	if len(recorded.Calls) > 0 {
		c.handOver(ctx, one, lost)
	}
	return err == nil
}

// owned judges who owned what. Where the machine stood still, or requests had to wait for their turn, that a group has not come to rest says
// nothing.
func (c *campaign) owned(ctx context.Context, plan consumers.Plan, result *consumers.Result, stood bool) {
	v := ownership.Judge(result.Log)
	spare := func(rules ...string) (spared []string) {
		v.Violations = slices.DeleteFunc(v.Violations, func(one ownership.Violation) bool {
			if !slices.Contains(rules, one.Rule) {
				return false
			}
			spared = append(spared, one.Rule+": "+one.Text)
			return true
		})
		return spared
	}
	_, gone := c.died()
	if gone != nil { // nobody comes to rest then
		v.Unrested += len(spare(clients...))
	}
	if stood {
		v.Unrested += len(spare(ownership.Rest, ownership.Orphan))
	}
	// What consumers make of answers is theirs: where each answer was right, so was the coordinator.
	var doubts []string
	if slices.ContainsFunc(v.Violations, func(one ownership.Violation) bool { return slices.Contains(clients, one.Rule) }) && c.explains(ctx, result.History) {
		for _, one := range spare(clients...) {
			doubts = append(doubts, fmt.Sprintf("group %q, rule %s But the specification explains all that the coordinator answered: the consumers are to blame, or had too little time", plan.Group, one))
		}
	}
	file := ""
	if len(v.Violations) > 0 {
		file = filepath.Join(c.o.Out, fmt.Sprintf("ownership-%d.jsonl", plan.Seed))
		if err := result.Log.WriteFile(file); err != nil {
			c.unsaved(err)
			file = ""
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &c.report.Consumers
	r.Problems = append(r.Problems, doubts...)
	r.Groups++
	r.Generations += v.Generations
	r.Claims += v.Claims
	r.Zombies += v.Zombies
	r.Rests += v.Rests
	r.Unrested += v.Unrested
	r.Broken += len(v.Violations)
	for t, n := range result.Happened {
		r.Triggers[t] += n
	}
	for _, one := range v.Violations {
		if len(r.Failures) >= explained || slices.ContainsFunc(r.Failures, func(f OwnershipFailure) bool { return f.Rule.ID == one.Rule }) {
			continue
		}
		rule, _ := ownership.FindRule(one.Rule)
		f := OwnershipFailure{Rule: rule, Group: plan.Group, Text: ownership.Tell(result.Log, one), File: file}
		if file != "" {
			f.Replay = "muster check " + file
			f.Text += fmt.Sprintf("\nSeed %d. Next: %s\n", plan.Seed, f.Replay)
		}
		r.Failures = append(r.Failures, f)
	}
}

// clients are the rules that a coordinator needs the consumers for: these may break them by themselves.
var clients = []string{ownership.Rest, ownership.Orphan, ownership.Cooperative}

// explains says whether the specification explains all that was answered to a group.
func (c *campaign) explains(ctx context.Context, h *history.History) bool {
	if h == nil {
		return false
	}
	v, err := c.check(ctx, h)
	return err == nil && v.Result == linearize.Legal
}

// Doubts are why nothing can be said of ownership, where it was asked for.
func (r *Consumers) Doubts() (doubts []string) {
	if len(r.Asked) == 0 {
		return nil
	}
	if r.Groups == 0 {
		doubts = append(doubts, "no group of real consumers was at work; give more budget")
	} else if r.Rests == 0 && r.Broken == 0 {
		doubts = append(doubts, "no group of real consumers was seen at rest; give more budget")
	}
	for _, t := range r.Asked {
		if r.Triggers[t] == 0 {
			doubts = append(doubts, fmt.Sprintf("%q was to happen to consumers and never did; give more budget", t))
		}
	}
	return append(doubts, r.Problems[:min(len(r.Problems), maxReasons)]...)
}

// clone is for whoever reads it while it changes.
func (r *Consumers) clone() Consumers {
	copied := *r
	copied.Triggers, copied.Failures = maps.Clone(r.Triggers), slices.Clone(r.Failures)
	return copied
}
