package consumers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/conformance/target"
)

// consumer is one kgo client in the group, and the application around it.
type consumer struct {
	group   *group
	name    string
	pattern bool   // it subscribes to all topics of the group by a pattern
	static  string // its instance id, or empty
	client  *kgo.Client
	gate    *gate
	cancel  context.CancelFunc
	work    sync.WaitGroup
	closing sync.Once
	rand    *rand.Rand // of the application alone

	mu         sync.Mutex
	holds      map[string]map[int32]bool
	generation int32     // of its assignment; 0 while it has none
	moved      time.Time // when that changed
	topics     []string  // that it subscribes to, unless by a pattern
	linger     bool      // when it gives something up the next time it takes longer than the group waits
	over       bool      // nothing that it is told counts any more
	busy       time.Time // until then something happens to it, and it may not go
}

// start begins a consumer with these balancers, in the order of its preference.
func (g *group) start(static string, pattern bool, topics []string, balancers ...kgo.GroupBalancer) (*consumer, error) {
	g.born++
	ctx, cancel := context.WithCancel(g.life)
	c := &consumer{
		group: g, name: fmt.Sprintf("%sm%d", g.plan.Name, g.born), pattern: pattern, static: static, cancel: cancel, holds: map[string]map[int32]bool{}, moved: time.Now(), topics: topics,
		rand: rand.New(rand.NewPCG(g.plan.Seed, uint64(g.born))),
	}
	c.gate = newGate(ctx, g.plan.Network.Pace, g.waited)
	opts := []kgo.Opt{
		kgo.WithContext(ctx), kgo.SeedBrokers(g.plan.Network.Addr), kgo.Dialer(c.gate.dial(g.tap.Dial(g.plan.Network.Dial))), kgo.ClientID(c.name),
		kgo.ConsumerGroup(g.plan.Group), kgo.Balancers(balancers...), kgo.DisableAutoCommit(), kgo.DisableClientMetrics(),
		kgo.SessionTimeout(g.plan.Session), kgo.RebalanceTimeout(g.plan.Rebalance), kgo.HeartbeatInterval(g.plan.Heartbeat),
		kgo.MetadataMinAge(metadataAge / 4), kgo.MetadataMaxAge(metadataAge),
		kgo.RetryBackoffFn(func(int) time.Duration { return 100 * time.Millisecond }),
		kgo.ConsumeStartOffset(kgo.NewOffset().At(0)), // nobody is asked where a topic begins
		kgo.MaxVersions(kversion.V3_7_0()),            // later ones name topics by id, which is not judged yet
		kgo.OnPartitionsAssigned(c.assigned), kgo.OnPartitionsRevoked(c.revoked), kgo.OnPartitionsLost(c.lost),
	}
	if g.plan.Network.SASL != nil {
		opts = append(opts, kgo.SASL(g.plan.Network.SASL))
	}
	if static != "" {
		opts = append(opts, kgo.InstanceID(static))
	}
	if pattern {
		opts = append(opts, kgo.ConsumeRegex(), kgo.ConsumeTopics("^"+g.plan.Prefix+".*"))
	} else {
		opts = append(opts, kgo.ConsumeTopics(topics...))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("consumers: %w", err)
	}
	c.client = client
	client.PauseFetchTopics(g.names()...)
	g.say(ownership.Event{Kind: ownership.Started, Client: c.name, What: fmt.Sprintf("with %v %s", protocols(balancers), static)})
	c.work.Go(func() { c.commits(ctx) })
	g.members = append(g.members, c)
	return c, nil
}

// metadataAge is how soon a consumer notices that topics have changed.
const metadataAge = 400 * time.Millisecond

func protocols(balancers []kgo.GroupBalancer) (names []string) {
	for _, b := range balancers {
		names = append(names, b.ProtocolName())
	}
	return names
}

// told notes what the client tells its application, in the order in which it does, unless the application is dead.
func (c *consumer) told(kind ownership.Kind, client *kgo.Client, some map[string][]int32, change func(generation int32)) {
	if !c.gate.pass() {
		return
	}
	member, generation := client.GroupMetadata()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	change(generation)
	c.moved = time.Now()
	c.group.say(ownership.Event{Kind: kind, Client: c.name, Member: member, Generation: max(0, generation), Partitions: ownership.Partitions(some)})
}

func (c *consumer) assigned(_ context.Context, client *kgo.Client, more map[string][]int32) {
	c.told(ownership.Assigned, client, more, func(generation int32) {
		for topic, numbers := range more {
			for _, n := range numbers {
				if c.holds[topic] == nil {
					c.holds[topic] = map[int32]bool{}
				}
				c.holds[topic][n] = true
			}
		}
		c.generation = generation
	})
}

// revoked works on what is to be given up for too long where that is asked for, and commits it.
func (c *consumer) revoked(ctx context.Context, client *kgo.Client, less map[string][]int32) {
	if !c.gate.pass() {
		return
	}
	c.mu.Lock()
	c.generation, c.moved = 0, time.Now()
	linger := c.linger
	c.linger = false
	last := c.rand.IntN(2) == 0
	c.mu.Unlock()
	if linger {
		c.group.say(ownership.Event{Kind: ownership.Note, Client: c.name, What: "is to give something up, and works on for longer than its rebalance timeout"})
		wait(c.gate.ctx, c.group.plan.Rebalance*3/2)
	}
	if last || linger {
		c.commit(ctx, client, less)
	}
	c.told(ownership.Revoked, client, less, func(int32) { c.drop(less) })
}

func (c *consumer) lost(_ context.Context, client *kgo.Client, gone map[string][]int32) {
	c.told(ownership.Lost, client, gone, func(int32) {
		c.generation = 0
		clear(c.holds)
	})
}

// drop forgets partitions. The caller holds the lock.
func (c *consumer) drop(some map[string][]int32) {
	for topic, numbers := range some {
		for _, n := range numbers {
			delete(c.holds[topic], n)
		}
	}
}

// commits commits now and then for some of what the consumer owns, as an application does that has worked on something.
func (c *consumer) commits(ctx context.Context) {
	for {
		c.mu.Lock()
		pause := c.group.plan.Heartbeat/2 + time.Duration(c.rand.Int64N(int64(c.group.plan.Heartbeat)))
		c.mu.Unlock()
		if !wait(ctx, pause) || !c.gate.pass() {
			return
		}
		c.mu.Lock()
		some := map[string][]int32{}
		for topic, numbers := range c.holds {
			for n := range numbers {
				if len(some) < 2 && len(some[topic]) < 2 {
					some[topic] = append(some[topic], n)
				}
			}
		}
		over := c.over
		c.mu.Unlock()
		if over {
			return
		}
		c.commit(ctx, c.client, some)
	}
}

func (c *consumer) commit(ctx context.Context, client *kgo.Client, some map[string][]int32) {
	offsets := map[string]map[int32]kgo.EpochOffset{}
	for topic, numbers := range some {
		offsets[topic] = map[int32]kgo.EpochOffset{}
		for _, n := range numbers {
			offsets[topic][n] = kgo.EpochOffset{Epoch: -1, Offset: c.group.offset.Add(1)}
		}
	}
	if len(offsets) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, c.group.plan.Session)
	defer stop()
	client.CommitOffsetsSync(ctx, offsets, nil)
}

// rests says whether the consumer has had the same assignment for a while, and of which generation.
func (c *consumer) rests(calm time.Duration) (generation int32, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation, c.generation > 0 && time.Since(c.moved) >= calm
}

// works says whether the consumer owns something in a generation that it knows of, and nothing is happening to it.
func (c *consumer) works() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, numbers := range c.holds {
		n += len(numbers)
	}
	return n > 0 && c.generation > 0 && time.Now().After(c.busy)
}

// free says whether nothing is happening to the consumer.
func (c *consumer) free() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().After(c.busy)
}

// engage says that something happens to the consumer for that long.
func (c *consumer) engage(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = time.Now().Add(d)
}

// kill ends the consumer at once; the group hears nothing of it.
func (c *consumer) kill() {
	c.mu.Lock()
	if !c.over {
		c.over = true
		c.group.say(ownership.Event{Kind: ownership.Crashed, Client: c.name})
	}
	c.mu.Unlock()
	c.group.disturbed(c.name)
	c.gate.kill()
	c.end()
}

// end waits until nothing of the client runs any more.
func (c *consumer) end() {
	c.cancel()
	c.close()
	c.work.Wait()
}

// close lets the client leave and end; it returns when it has.
func (c *consumer) close() { c.closing.Do(c.client.Close) }

// leave ends the consumer as it should. One whose client does not end in time is killed.
func (c *consumer) leave() {
	c.group.say(ownership.Event{Kind: ownership.Leaving, Client: c.name})
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.close()
	}()
	timer := time.NewTimer(c.group.plan.Session + 2*c.group.plan.Rebalance + c.group.plan.Delay)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-c.group.life.Done():
	}
	select {
	case <-done:
		c.mu.Lock()
		c.over = true
		c.group.say(ownership.Event{Kind: ownership.Closed, Client: c.name})
		c.mu.Unlock()
	default:
		c.kill()
		<-done
	}
	c.end()
}

// stall lets the consumer stand still for a while, and says for the sake of what. It returns at once.
func (c *consumer) stall(d time.Duration, t Trigger) {
	c.engage(2 * d)
	c.gate.stop()
	c.group.say(ownership.Event{Kind: ownership.Stalled, Client: c.name, What: string(t)})
	began := c.group.tap.Recorder().Now()
	c.work.Go(func() {
		wait(c.gate.ctx, d)
		c.group.stood(c.name, began)
		c.mu.Lock()
		if !c.over {
			c.group.say(ownership.Event{Kind: ownership.Resumed, Client: c.name, What: string(t)})
		}
		c.mu.Unlock()
		c.gate.resume()
	})
}

// wait lets time pass, and says no where the context ends before.
func wait(ctx context.Context, d time.Duration) bool { return target.WallClock{}.Sleep(ctx, d) == nil }

// subscribe changes what the consumer subscribes to by a topic: one more, or one less.
func (c *consumer) subscribe(topic string) {
	c.mu.Lock()
	n := slices.Index(c.topics, topic)
	if n < 0 {
		c.topics = append(slices.Clone(c.topics), topic)
	} else {
		c.topics = slices.Delete(slices.Clone(c.topics), n, n+1)
	}
	c.mu.Unlock()
	if n < 0 {
		c.client.AddConsumeTopics(topic)
		c.client.PauseFetchTopics(topic)
	} else {
		c.client.PurgeTopicsFromConsuming(topic)
	}
}
