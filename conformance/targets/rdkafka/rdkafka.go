// Package rdkafka is the target rdkafka-mock: the mock cluster of librdkafka (rd_kafka_mock_cluster_new, NewMockCluster in Go), which tests
// of applications in C, Go, Python and others run against.
//
// The mock is C, so it is a program of its own, built on demand (see build.go). It aborts where it meets what it does not expect, and takes all
// its groups with it. So each group gets a process: what aborts is the group of one scenario, which then sees its connections closed. The
// mock has nothing that would show the groups of others (no ListGroups, no DescribeGroups).
//
// Four of its ways would hide all others, and are met half-way:
//
//   - It offers versions that it cannot read. Newest says which it can; scenarios that name a version see the others.
//   - It counts generations from 2. What scenarios see is one less.
//   - It has an initial rebalance delay of 3 s that is no setting.
//   - It looks at sessions once a second and at a rebalance when the session timeout less a second is over. Coarse makes scenarios about
//     timers slow, Scale all others quick.
package rdkafka

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// Name is how the target is called.
const Name = "rdkafka-mock"

// Options are all optional.
type Options struct {
	// Progress is told what is being waited for; may be nil.
	Progress func(string)
}

// Target is a mock of ours.
type Target struct {
	program string
	caps    target.Capabilities

	mu      sync.Mutex
	nodes   map[string]*node // by group; "" is the one that was looked at
	crashes []string
	dialled int
	closed  bool
}

var _ target.Target = (*Target)(nil)

// What the mock does not tell and cannot be asked.
const (
	initialDelay = 3 * time.Second
	sessionTick  = time.Second
	scale        = 0.08             // a session of 60 s is 4.8 s: the first JoinGroup waits 3 s without a sign of life, and may not be too late then
	maxSession   = 30 * time.Minute // it has no bounds; the greatest that scenarios need
)

// newest are the versions up to which the mock reads requests and writes answers as they are. What is above is registered.
var newest = map[int16]int16{
	kmsg.JoinGroup.Int16():  3, // it reads up to 5, but knows no MEMBER_ID_REQUIRED, which comes with 4
	kmsg.SyncGroup.Int16():  3,
	kmsg.LeaveGroup.Int16(): 2,
}

// Open builds the mock if need be, and starts one.
func Open(ctx context.Context, opts Options) (*Target, error) {
	program, err := binary(ctx, opts.Progress)
	if err != nil {
		return nil, err
	}
	t := &Target{program: program, nodes: map[string]*node{}}
	n, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	t.nodes[""] = n
	t.caps = n.wire.Capabilities()
	t.caps.Newest, t.caps.Scale, t.caps.Coarse, t.caps.LeaderLast, t.caps.Fleeting = newest, scale, sessionTick, true, true
	t.caps.Slack = time.Second // so that patience outlasts a rebalance, which takes a session timeout less a second
	t.caps.Features = slices.DeleteFunc(t.caps.Features, func(f target.Feature) bool {
		return f == target.Transactions // a transaction names no group at first, so it could not be at its process
	})
	return t, nil
}

// Name implements target.Target.
func (t *Target) Name() string { return Name }

// Capabilities implements target.Target.
func (t *Target) Capabilities() target.Capabilities { return t.caps }

// Clock implements target.Target.
func (t *Target) Clock() target.Clock { return t.nodes[""].wire.Clock() }

// Dial implements target.Target. To which process the connection goes is known when the first request names a group.
func (t *Target) Dial(_ context.Context, clientID string) (target.Conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, fmt.Errorf("dialling %s: %w", Name, target.ErrClosed)
	}
	t.dialled++
	return &conn{target: t, clientID: clientID, own: fmt.Sprintf("\x00%d", t.dialled)}, nil
}

// Crashes tell how processes ended by themselves, each kind once.
func (t *Target) Crashes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := slices.Clone(t.crashes)
	slices.Sort(out)
	return out
}

// Close ends all processes.
func (t *Target) Close() error {
	t.mu.Lock()
	nodes := t.nodes
	t.nodes, t.closed = map[string]*node{"": nodes[""]}, true
	t.mu.Unlock()
	var all sync.WaitGroup
	for _, n := range nodes { // each may take a while, and there may be dozens
		all.Go(n.stop)
	}
	all.Wait()
	return nil
}
