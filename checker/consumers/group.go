package consumers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/ownership"
)

// group is one at work.
type group struct {
	plan   Plan
	tap    *history.Tap
	life   context.Context
	rand   *rand.Rand
	offset atomic.Int64

	members   []*consumer
	born      int
	balancers func() []kgo.GroupBalancer
	topics    map[string]int32 // that exist
	statics   int              // instance ids that were given
	restless  bool             // it has not come to rest in time: there is no more to learn from it
	matches   int              // topics that were created for patterns

	mu     sync.Mutex
	events []ownership.Event
	blind  []span // when clients stood still or were killed: what was open then says nothing about the target
	held   time.Duration
	latest time.Time
}

// span is a time of a client.
type span struct {
	client     string
	from, to   int64
	everything bool
}

const (
	// most members at a time.
	most = 5
	// fewest members: somebody has to be there who takes over.
	fewest = 2
)

// Run is Start and Finish in one.
func Run(ctx context.Context, plan Plan) (*Result, error) {
	r := Begin(plan)
	err := r.Drive(ctx)
	return r.Result(), err
}

// Runner is a plan at work. Its Recorder is there from the beginning, for whoever notes what is done to the target meanwhile.
type Runner struct{ group *group }

// Begin makes a plan ready.
func Begin(plan Plan) *Runner {
	g := &group{
		plan: plan, tap: history.NewTap(plan.Group), rand: rand.New(rand.NewPCG(plan.Seed, 0x0e4)), topics: map[string]int32{}, latest: time.Now(),
	}
	return &Runner{g}
}

// Recorder is what records the calls.
func (r *Runner) Recorder() *history.Recorder { return r.group.tap.Recorder() }

// Drive does what the plan says. When the context is over all consumers are killed. The error is one of the target: it cannot be spoken to.
func (r *Runner) Drive(ctx context.Context) error {
	g := r.group
	life, stop := context.WithCancel(ctx)
	defer stop()
	g.life = life
	defer g.end()
	if err := g.prepare(ctx); err != nil {
		return err
	}
	return g.drive(ctx)
}

// names are those of all topics that there may be.
func (g *group) names() []string {
	if g.plan.Topics == nil {
		return []string{g.plan.Fixed}
	}
	return []string{g.plan.Prefix + "a", g.plan.Prefix + "b", g.plan.Prefix + "c0", g.plan.Prefix + "c1"}
}

// prepare makes the topics that there are at first.
func (g *group) prepare(ctx context.Context) error {
	if g.plan.Topics == nil {
		g.exists(g.plan.Fixed, g.plan.FixedCount)
		return nil
	}
	for n, name := range g.names()[:2] {
		if err := g.create(ctx, name, int32(4-2*n)); err != nil {
			return err
		}
	}
	return nil
}

func (g *group) create(ctx context.Context, name string, partitions int32) error {
	return g.change(ctx, name, partitions, g.plan.Topics.Create, kerr.TopicAlreadyExists)
}

// change makes a topic have so many partitions. Where the target is killed meanwhile it is asked again; that it has done so already is fine
// then.
func (g *group) change(ctx context.Context, name string, partitions int32, do func(context.Context, string, int32) error, done error) error {
	for tries := 0; ; tries++ {
		life, err := g.lives(ctx)
		if err != nil {
			return nil // the campaign is over
		}
		err = do(ctx, name, partitions)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil || tries > 0 && errors.Is(err, done) {
			g.exists(name, partitions)
			return nil
		}
		if now, gone := g.lives(ctx); gone != nil || now == life {
			return err
		}
	}
}

func (g *group) exists(name string, partitions int32) {
	g.topics[name] = partitions
	g.say(ownership.Event{Kind: ownership.Topic, Topic: name, Count: partitions})
}

// enter waits until the target may be spoken to.
func (g *group) enter(ctx context.Context) error {
	_, err := g.lives(ctx)
	return err
}

func (g *group) lives(ctx context.Context) (int64, error) {
	if g.plan.Enter == nil {
		return 0, ctx.Err()
	}
	return g.plan.Enter(ctx)
}

// say puts an event into the log, now.
func (g *group) say(e ownership.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e.At = max(0, g.tap.Recorder().Now())
	g.events = append(g.events, e)
}

func (g *group) note(format string, args ...any) {
	g.say(ownership.Event{Kind: ownership.Note, What: fmt.Sprintf(format, args...)})
}

// stood notes that a client has stood still since an instant.
func (g *group) stood(client string, from int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blind = append(g.blind, span{client: client, from: from, to: g.tap.Recorder().Now()})
}

// waited notes how long a request waited for its turn.
func (g *group) waited(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = max(g.held, d)
}

// disturbed notes that a client is killed now.
func (g *group) disturbed(client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blind = append(g.blind, span{client: client, from: g.tap.Recorder().Now(), everything: true})
}

// drive lets triggers happen, in an order of its own for each seed, and waits now and then until the group has come to rest.
func (g *group) drive(ctx context.Context) error {
	end := time.Now().Add(g.plan.Duration)
	kind := g.draw()
	for n := range fewest {
		if _, err := g.add(n%2 == 0); err != nil {
			return err
		}
	}
	if err := g.settle(ctx); err != nil {
		return err
	}
	for order := g.order(kind == switching); len(order) > 0; order = g.missing() {
		for _, t := range order {
			if ctx.Err() != nil || g.restless || time.Now().After(end) || g.enter(ctx) != nil {
				break
			}
			if err := g.pull(ctx, t); err != nil {
				return err
			}
			g.moved()
			if g.rand.IntN(2) == 0 {
				if err := g.settle(ctx); err != nil {
					return err
				}
			} else {
				wait(ctx, time.Duration(g.rand.Int64N(int64(g.plan.Heartbeat*4))))
			}
		}
		if g.restless {
			return nil
		}
		if err := g.settle(ctx); err != nil || ctx.Err() != nil || g.restless || time.Now().After(end) {
			return err
		}
	}
	return nil
}

// missing are the triggers that are possible and have not happened yet.
func (g *group) missing() (all []Trigger) {
	done := happened(g.log(g.history()))
	for _, t := range g.order(false) {
		if done[t] == 0 {
			all = append(all, t)
		}
	}
	return all
}

// order is one in which each trigger that is possible comes once.
func (g *group) order(change bool) []Trigger {
	var all []Trigger
	impossible := g.plan.Impossible()
	for _, t := range Triggers() {
		if _, not := impossible[t]; !not && t != Switch {
			all = append(all, t)
		}
	}
	g.rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	if change {
		all = slices.Insert(all, g.rand.IntN(len(all)/2), Switch)
	}
	return all
}

// switching is the kind of group that goes from eager to cooperative.
const switching = 4

// draw chooses how the group balances.
func (g *group) draw() int {
	kinds := [...][]kgo.GroupBalancer{
		{kgo.RangeBalancer()},
		{kgo.RoundRobinBalancer()},
		{kgo.StickyBalancer()},
		{kgo.CooperativeStickyBalancer()},
		switching: {kgo.RangeBalancer()},
	}
	kind := g.plan.Kind % len(kinds)
	g.balancers = func() []kgo.GroupBalancer { return slices.Clone(kinds[kind]) }
	return kind
}

// add starts one more member. Where topics are fixed nobody has a pattern.
func (g *group) add(pattern bool) (*consumer, error) {
	pattern = pattern && g.plan.Topics != nil
	topics := g.names()[:1]
	if g.plan.Topics != nil && g.rand.IntN(2) == 0 {
		topics = g.names()[:2]
	}
	static := ""
	if g.plan.Static && g.rand.IntN(2) == 0 {
		g.statics++
		static = fmt.Sprintf("%si%d", g.plan.Name, g.statics)
	}
	return g.start(static, pattern, slices.Clone(topics), g.balancers()...)
}

// end ends all members that are still there, at once where there is no time, and removes the topics.
func (g *group) end() {
	var work sync.WaitGroup
	for _, c := range g.members {
		work.Go(func() {
			if g.life.Err() != nil {
				c.kill()
			} else {
				c.leave()
			}
		})
	}
	work.Wait()
	g.members = nil
	if g.plan.Topics == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(g.life), 2*time.Second)
	defer stop()
	var all []string
	for topic := range g.topics {
		all = append(all, topic)
	}
	_ = g.plan.Topics.Delete(ctx, all...) // they go with the target otherwise
}
