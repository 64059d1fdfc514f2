package rdkafka

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/muster-kafka/muster/conformance/targets/wire"
)

// node is the process of a group.
type node struct {
	process *process
	wire    *wire.Target
	conns   int // open ones of the group's
	end     *time.Timer
	once    sync.Once
}

// linger is how long a process without connections stays: a scenario may drop one and open the next.
const linger = 2 * time.Second

// start starts a process with the topics of the run.
func (t *Target) start(ctx context.Context) (*node, error) {
	topic, second := "t", "u"
	p, err := startProcess(ctx, t.program, topic+":2", second+":2")
	if err != nil {
		return nil, err
	}
	w, err := wire.Open(ctx, wire.Options{
		Addr: p.addr, Name: Name, Own: true, Profile: "default", Topic: topic, Second: second,
		Nulls: true, // the assignment of each SyncGroup that it refuses
		Settings: map[string]string{
			"group.min.session.timeout.ms":     "0",
			"group.max.session.timeout.ms":     strconv.FormatInt(maxSession.Milliseconds(), 10),
			"group.initial.rebalance.delay.ms": strconv.FormatInt(initialDelay.Milliseconds(), 10),
		},
	})
	if err != nil {
		p.stop()
		return nil, err
	}
	return &node{process: p, wire: w}, nil
}

// stop ends the process.
func (n *node) stop() {
	n.once.Do(func() {
		n.wire.Abandon()
		n.process.stop()
	})
}

// take returns the group's process for one more connection, and starts it if there is none.
func (t *Target) take(group string) (*node, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[group]
	if n == nil {
		if t.closed {
			return nil, fmt.Errorf("%s has been closed", Name)
		}
		ctx, cancel := context.WithTimeout(context.Background(), startTime)
		defer cancel()
		var err error
		if n, err = t.start(ctx); err != nil {
			return nil, fmt.Errorf("starting a mock for group %s: %w", group, err)
		}
		t.nodes[group] = n
	}
	if n.end != nil {
		n.end.Stop()
	}
	n.conns++
	return n, nil
}

// give returns a connection; a process that has none for a while ends.
func (t *Target) give(group string, n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(n)
	if n.conns--; n.conns > 0 {
		return
	}
	n.end = time.AfterFunc(linger, func() {
		t.mu.Lock()
		idle := n.conns == 0 && t.nodes[group] == n
		if idle {
			delete(t.nodes, group)
		}
		t.mu.Unlock()
		if idle {
			n.stop()
		}
	})
}

// note remembers how the process ended, if it has.
func (t *Target) note(n *node) {
	if err := n.process.crashed(); err != nil && !slices.Contains(t.crashes, err.Error()) {
		t.crashes = append(t.crashes, err.Error())
	}
}
