package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
)

// A request over several groups (DeleteGroups, ListGroups, OffsetFetch since version 8) goes to one broker, which answers for the groups that it
// coordinates. So in a cluster a run keeps to one broker: it names its groups so that this one coordinates them, and sends it all else, too.

// probeGroup is what the groups are called that are used to find out about the target.
const probeGroup = "probe"

// tries bounds the names that are tried for a group: of so many brokers that share groups evenly one is missed once in e^20 times.
func tries(brokers int) int { return 20 * brokers }

var errNoName = errors.New("no name of a group was found that it coordinates")

// keepTo settles which broker the run keeps to: the one at the address given, if that tells and coordinates groups, else the one that
// coordinates the first group that was named. What was learnt from the address given is learnt anew from that.
func (t *Target) keepTo(ctx context.Context, c *control, first int32) error {
	if !t.table.many() || t.opts.LookOnly || first == seedNode {
		return nil
	}
	t.home = first
	if given, ok := t.given(ctx); ok && given != first {
		_, err := t.place(ctx, c, t.caps.Prefix+probeGroup, given)
		switch {
		case err == nil:
			t.home = given
		case !errors.Is(err, errNoName):
			return err
		}
	}
	t.caps.Place = func(ctx context.Context, group string) (string, error) {
		c := control{target: t}
		defer c.close()
		return t.place(ctx, &c, group, t.home)
	}
	t.found.Home = t.homeAddr()
	c.close() // the next question goes there
	return t.probeVersions(ctx, c)
}

// given is the broker that is advertised at the address given, by name or by what the names resolve to.
func (t *Target) given(ctx context.Context) (int32, bool) {
	t.table.mu.Lock()
	defer t.table.mu.Unlock()
	for node, addr := range t.table.brokers {
		if sameAddr(ctx, addr, t.opts.Addr) {
			return node, true
		}
	}
	return 0, false
}

func sameAddr(ctx context.Context, a, b string) bool {
	if a == b {
		return true
	}
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB {
		return false
	}
	ofA, errA := net.DefaultResolver.LookupHost(ctx, hostA)
	ofB, errB := net.DefaultResolver.LookupHost(ctx, hostB)
	return errA == nil && errB == nil && slices.ContainsFunc(ofA, func(ip string) bool { return slices.Contains(ofB, ip) })
}

// place appends to a group's name what makes the node its coordinator.
func (t *Target) place(ctx context.Context, c *control, group string, node int32) (string, error) {
	n := tries(t.found.Brokers)
	for i := range n {
		name := group
		if i > 0 {
			name += "-" + strconv.Itoa(i)
		}
		found, err := t.coordinator(ctx, c, name)
		if err != nil {
			return "", fmt.Errorf("finding the coordinator of %s: %w", name, err)
		}
		if found == node {
			return name, nil
		}
	}
	return "", fmt.Errorf("node %d: %w (%d were tried, beginning with %s)", node, errNoName, n, group)
}

// homeAddr is where the broker listens that the run keeps to; "" is the address given.
func (t *Target) homeAddr() string {
	addr, _ := t.table.addr(t.home)
	return addr
}
