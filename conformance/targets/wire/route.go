package wire

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// table knows the brokers of a cluster and who coordinates which group. One broker needs none of it.
type table struct {
	mu      sync.Mutex
	brokers map[int32]string // node to HOST:PORT as advertised
	groups  map[string]int32
}

// many says whether a group's coordinator may be another broker than the one at the address given.
func (t *table) many() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.brokers) > 1
}

// addr is where a node listens; of a single broker it is the address given, whatever it advertises.
func (t *table) addr(node int32) (string, bool) {
	if node == seedNode || !t.many() {
		return "", true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.brokers[node]
	return a, ok
}

// coordinator is the node that coordinates a group. What was found is kept: in a run without faults groups do not move.
func (t *Target) coordinator(ctx context.Context, c *control, group string) (int32, error) {
	t.table.mu.Lock()
	node, ok := t.table.groups[group]
	t.table.mu.Unlock()
	if ok {
		return node, nil
	}
	node, err := c.findCoordinator(ctx, group)
	if err != nil {
		return 0, err
	}
	t.table.mu.Lock()
	t.table.groups[group] = node
	t.table.mu.Unlock()
	return node, nil
}

// control is a connection of the harness itself, for one task at a time.
type control struct {
	target *Target
	link   *link
}

func (c *control) close() {
	if c.link != nil {
		_ = c.link.close()
		c.link = nil
	}
}

// ask sends a request to the broker that the run keeps to and waits for the answer, at most for the target's timeout.
func (c *control) ask(ctx context.Context, req kmsg.Request, version int16) (kmsg.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.target.opts.Timeout)
	defer cancel()
	if c.link == nil || c.link.dead() {
		l, err := c.target.dialer.dial(ctx, c.target.homeAddr(), "muster")
		if err != nil {
			return nil, err
		}
		c.link = l
	}
	return c.link.roundTrip(ctx, req, version)
}

// findCoordinator asks until there is a coordinator: the first question makes a broker create the offsets topic, and until that has
// a leader the answer is COORDINATOR_NOT_AVAILABLE.
func (c *control) findCoordinator(ctx context.Context, group string) (int32, error) {
	ctx, cancel := context.WithTimeout(ctx, c.target.opts.Timeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		node, addr, err := c.findOnce(ctx, group)
		if err == nil {
			return c.target.known(node, addr), nil
		}
		if !kerr.IsRetriable(err) {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("no coordinator within %v (last answer: %w)", c.target.opts.Timeout, err)
		case <-tick.C:
		}
	}
}

// known is the node as requests can be sent to it. One that Metadata does not list is no broker of the cluster: groups then go to the
// address given, where it shows who coordinates them.
func (t *Target) known(node int32, addr string) int32 {
	t.table.mu.Lock()
	_, ok := t.table.brokers[node]
	if !ok && t.found.Brokers == 0 { // there is no Metadata
		t.table.brokers[node], ok = addr, true
	}
	t.table.mu.Unlock()
	if ok {
		return node
	}
	t.doubt("FindCoordinator names node %d at %s, which Metadata does not list; groups are looked for at %s", node, addr, t.opts.Addr)
	return seedNode
}

func (c *control) findOnce(ctx context.Context, group string) (node int32, addr string, err error) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey = group
	req.CoordinatorKeys = []string{group}
	resp, err := c.ask(ctx, req, c.target.pick(req, 6))
	if err != nil {
		return 0, "", err
	}
	r := resp.(*kmsg.FindCoordinatorResponse)
	code, node, host, port := r.ErrorCode, r.NodeID, r.Host, r.Port
	if len(r.Coordinators) > 0 { // since version 4
		k := r.Coordinators[0]
		code, node, host, port = k.ErrorCode, k.NodeID, k.Host, k.Port
	}
	if err := kerr.ErrorForCode(code); err != nil {
		return 0, "", err
	}
	return node, net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// pick is the highest version that the target offers and this code knows how to fill, which is most or less.
func (t *Target) pick(req kmsg.Request, most int16) int16 {
	r, ok := t.caps.Versions[req.Key()]
	if !ok {
		return 0
	}
	return max(r.Min, min(r.Max, most))
}
