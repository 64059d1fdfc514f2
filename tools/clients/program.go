package clients

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	partitions = 4
	batch      = 5 // records that are produced to each partition at a time

	// Sessions are short, since a crash is noticed only when one ends, and long enough for a busy machine.
	session   = 6 * time.Second
	heartbeat = 500 * time.Millisecond
)

// program is what each client is put through, and the log of what came of it.
type program struct {
	client  *Client
	command []string // of a member
	tooling []string // of the tool, where there is one
	cluster *cluster
	wire    *wire
	group   string
	topic   string
	version string // of the client, as its programs say

	running []*process
	rename  map[int32]int32 // partitions, where it is chance who gets which
	log     []string
}

// run puts a client through the program on a cluster.
func run(ctx context.Context, c *Client, command, tooling []string, on *cluster, topic string) (p *program, err error) {
	p = &program{client: c, command: command, tooling: tooling, cluster: on, group: "group-" + topic, topic: topic}
	if p.wire, err = newWire(on.brokers); err != nil {
		return p, err
	}
	defer p.wire.close()
	defer func() {
		for _, m := range p.running {
			m.kill()
		}
	}()
	if _, err := on.admin.CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
		return p, fmt.Errorf("creating topic %s: %w", topic, err)
	}
	play := c.Play
	if play == nil {
		play = (*program).consumers
	}
	if err := play(p, ctx); err != nil {
		return p, err
	}
	return p, p.wire.fault()
}

// consumers is the program of consumers: a member alone, a second one, a crash of that one, the end of the first, and a new one that reads on.
func (p *program) consumers(ctx context.Context) error {
	s := &acts{program: p, ctx: ctx}
	s.produce()
	s.say("== A alone")
	a := s.start("A")
	s.rest(a)
	s.consume(a, 1)
	s.commit(a)

	s.say("== B joins")
	b := s.start("B")
	s.rest(a, b)
	s.produce()
	for _, m := range []*process{a, b} {
		s.consume(m, 2)
		s.commit(m)
	}

	s.say("== B is killed; it has consumed more than it has committed")
	s.produce()
	s.consume(a, 3)
	s.consume(b, 3)
	s.commit(a)
	if p.client.Auto { // it commits whatever it is told
		s.commit(b)
	}
	s.kill(b)
	s.rest(a)
	s.produce() // not before: who consumed them while the group rebalances is chance
	s.consume(a, 4)
	s.commit(a)

	s.say("== A leaves")
	s.leave(a)

	s.say("== C reads on")
	c := s.start("C")
	s.produce()
	s.rest(c)
	s.consume(c, 5)
	s.commit(c)
	s.leave(c)
	return s.err
}

func (p *program) say(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

func (p *program) produce(ctx context.Context) error {
	if err := p.cluster.produce(ctx, p.topic, batch); err != nil {
		return fmt.Errorf("producing to %s: %w", p.topic, err)
	}
	return nil
}

func (p *program) start(name string) (*process, error) {
	m, err := spawn(name, p.command, strings.Join(p.wire.addrs, ","), p.group, p.topic, name,
		fmt.Sprint(session.Milliseconds()), fmt.Sprint(heartbeat.Milliseconds()), p.client.assignor())
	if err == nil {
		p.running = append(p.running, m)
	}
	return m, err
}

// rest waits until the members own all partitions between them, in equal shares, and the group is Stable with them alone; then it says what each was told.
func (p *program) rest(ctx context.Context, members ...*process) error {
	for _, m := range members {
		if err := m.wait(fmt.Sprintf("owned %d partitions", partitions/len(members)), func() bool { return len(m.owned) == partitions/len(members) }); err != nil {
			return err
		}
	}
	if err := p.until(ctx, "Stable", len(members)); err != nil {
		return err
	}
	if p.client.Unsorted && len(members) > 1 && p.rename == nil {
		p.rename = map[int32]int32{}
		for _, m := range members {
			m.mu.Lock()
			for _, n := range m.owned {
				p.rename[n] = int32(len(p.rename))
			}
			m.mu.Unlock()
		}
	}
	for _, m := range members {
		m.mu.Lock()
		p.version = m.version
		for _, e := range m.ownership {
			p.say("%s %s %v", m.name, e.Event, p.named(e.Partitions))
		}
		m.ownership = nil
		p.say("%s owns %v", m.name, p.named(m.owned))
		m.mu.Unlock()
	}
	p.say("group Stable, generation %d, members %d", p.wire.generation(p.group), len(members))
	return nil
}

// until waits for a state of the group.
func (p *program) until(ctx context.Context, state string, members int) error {
	for deadline := time.Now().Add(patience); ; {
		s, n, err := p.cluster.describe(ctx, p.group)
		if err == nil && s == state && n == members {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("group %s never was %s with %d members within %s: it is %s with %d (%v)", p.group, state, members, patience, s, n, err)
		}
		time.Sleep(20 * time.Millisecond) // between two questions
	}
}

// consume waits until a member has consumed all of its partitions up to the end of a batch, and says where it began.
func (p *program) consume(m *process, batches int64) error {
	if err := m.wait(fmt.Sprintf("consumed up to offset %d", batches*batch), func() bool {
		for _, n := range m.owned {
			if m.next[n] < batches*batch {
				return false
			}
		}
		return len(m.owned) > 0
	}); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := map[int32]int64{}
	for _, n := range m.owned {
		if o, ok := m.fresh[n]; ok && o >= 0 {
			fresh[n] = o
			m.fresh[n] = -1 // said
		}
	}
	if len(fresh) > 0 {
		p.say("%s began at %s", m.name, p.offsets(fresh))
	}
	p.say("%s consumed up to offset %d", m.name, batches*batch)
	return nil
}

// commit lets a member commit what it has consumed, and read it back; then the cluster is asked beside it.
func (p *program) commit(ctx context.Context, m *process) error {
	if p.client.Auto {
		return p.committedItself(ctx, m)
	}
	committed, err := m.ask("commit", "committed")
	if err != nil {
		return err
	}
	p.say("%s committed %s", m.name, p.offsets(committed))
	read, err := m.ask("read", "read")
	if err != nil {
		return err
	}
	p.say("%s read %s", m.name, p.offsets(read))
	asked, err := p.cluster.committed(ctx, p.group, p.topic)
	if err != nil {
		return err
	}
	p.say("the group has %s", p.offsets(asked))
	return nil
}

// committedItself waits for what a client commits of its own accord.
func (p *program) committedItself(ctx context.Context, m *process) error {
	m.mu.Lock()
	want := map[int32]int64{}
	for _, n := range m.owned {
		want[n] = m.next[n]
	}
	m.mu.Unlock()
	for deadline := time.Now().Add(patience); ; {
		asked, err := p.cluster.committed(ctx, p.group, p.topic)
		done := err == nil
		for n, o := range want {
			done = done && asked[n] == o
		}
		if done { // of others' partitions it is not known what is committed by now
			p.say("%s committed %s", m.name, p.offsets(want))
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s never committed %v within %s: the group has %v (%v)%s", m.name, want, patience, asked, err, m.words())
		}
		time.Sleep(20 * time.Millisecond) // between two questions
	}
}

// leave ends a member as it should end. Once its LeaveGroup is answered the group has to be without it: that is asked once.
func (p *program) leave(ctx context.Context, m *process) error {
	before := p.wire.leaves()
	if err := m.close(); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); p.wire.leaves() == before; time.Sleep(10 * time.Millisecond) { // some do not wait for the answer
		if time.Now().After(deadline) {
			return fmt.Errorf("%s ended, and no LeaveGroup was answered%s", m.name, m.words())
		}
	}
	state, members, err := p.cluster.describe(ctx, p.group)
	if err != nil {
		return err
	}
	p.say("%s has left; group %s, members %d", m.name, state, members)
	asked, err := p.cluster.committed(ctx, p.group, p.topic)
	if err != nil {
		return err
	}
	p.say("the group has %s", p.offsets(asked))
	for _, text := range m.errors {
		p.say("%s error: %s", m.name, text)
	}
	return nil
}

// named are partitions under the names that they have in the log.
func (p *program) named(numbers []int32) []int32 {
	names := []int32{}
	for _, n := range numbers {
		if to, ok := p.rename[n]; ok {
			n = to
		}
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (p *program) offsets(offsets map[int32]int64) string {
	named := map[int32]int64{}
	for n, o := range offsets {
		named[p.named([]int32{n})[0]] = o
	}
	words := []string{}
	for _, n := range slices.Sorted(maps.Keys(named)) {
		words = append(words, fmt.Sprintf("%d:%d", n, named[n]))
	}
	return strings.Join(words, " ")
}
