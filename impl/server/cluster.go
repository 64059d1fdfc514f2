package server

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/faults"
	"github.com/muster-kafka/muster/impl/groupstats"
	"github.com/muster-kafka/muster/impl/store"
)

// ClusterOptions are a cluster's settings. The zero value is one node on a free port of the loopback.
type ClusterOptions struct {
	Addr       string           // HOST:PORT of the first node, those of the others follow port by port; default "127.0.0.1:0", with port 0 for all
	Nodes      int              // default 1; their ids count from 0
	Partitions int              // of the groups, as __consumer_offsets has them; default 50
	Settings   core.Settings    // as in Options
	Topics     map[string]int32 // topics to begin with: name to number of partitions
	Limits     Limits
	Log        store.Log   // where groups and offsets are kept, and loaded from; it is the caller's to close. In memory by default
	Records    string      // the folder that kfake keeps topics, records and producers in. In memory by default
	Sync       bool        // kfake syncs what it keeps before it answers
	Faults     *faults.Set // what is to happen to which request; may be nil

	Admin string             // HOST:PORT to serve GET /metrics, /groups and /faults on; default: nowhere
	Stats groupstats.Options // as in Options

	// Report is told of inconsistencies, failed writes, faults that happen and connections that are closed for what they sent. It is called
	// from several goroutines.
	Report func(error)

	// Listen opens the ports; default net.Listen. With that of a kfake.VirtualNetwork a cluster runs in memory, on the virtual time of testing/synctest.
	Listen func(network, addr string) (net.Listener, error)
}

// Cluster is nodes that coordinate groups, each those that Kafka would let it coordinate, and that leave topics, records and transactions to kfake.
type Cluster struct {
	options ClusterOptions
	offered map[kmsg.Key]core.VersionRange
	nodes   []*node
	shards  []*loop      // one for each partition of the groups
	loads   chan loadEnd // of the shards, if there is a log
	backing *backing
	topics  *topicTable
	ledger  *ledger

	producers map[int64]transactionalID // that kfake knew when it began
	ended     ends                      // how transactions had ended then, as far as that had to be found out

	gate    *gate
	stats   *groupstats.Stats
	admin   *admin // may be nil
	quit    chan struct{}
	work    sync.WaitGroup
	closing sync.Once
}

// node is one address of a cluster.
type node struct {
	core.Node
	cluster  *Cluster
	listener *listener
}

// StartCluster listens and serves until Close.
func StartCluster(o ClusterOptions) (*Cluster, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Nodes <= 0 {
		o.Nodes = 1
	}
	if o.Partitions <= 0 {
		o.Partitions = 50
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	if err := o.Faults.Fit(o.Nodes); err != nil {
		return nil, err
	}
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	o.Limits = o.Limits.withDefaults()
	c := &Cluster{options: o, ledger: newLedger(), gate: newGate(), quit: make(chan struct{})}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start() error {
	if err := c.listen(); err != nil {
		return err
	}
	o := c.options
	o.Stats.Now = time.Now
	c.stats = groupstats.New(o.Stats)
	settings := running(o.Settings, c.stats, o.Report)
	addrs := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addrs[i] = net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port)))
	}
	var err error
	if c.backing, err = startBacking(addrs, settings, o); err != nil {
		return err
	}
	if c.producers, c.ended, err = c.backing.begin(); err != nil {
		return err
	}
	c.offered = core.Versions()
	for key, r := range c.backing.offered {
		c.offered[key] = r
	}
	c.offered[kmsg.ApiVersions] = frontVersions[kmsg.ApiVersions]
	c.topics = newTopicTable(c.backing)
	if _, err := c.topics.refresh(); err != nil {
		return err
	}
	c.startShards(settings)
	if o.Admin != "" {
		if c.admin, err = startAdmin(o.Admin, c.stats, c.pages(), o.Report); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		n.listener.start(n.session)
	}
	return nil
}

func (c *Cluster) listen() error {
	host, port, err := net.SplitHostPort(c.options.Addr)
	if err != nil {
		return fmt.Errorf("address %s: %w; want HOST:PORT", c.options.Addr, err)
	}
	first, err := strconv.ParseUint(port, 10, 16)
	if err != nil || first > 0 && int(first)+c.options.Nodes-1 > 65535 {
		return fmt.Errorf("address %s: want a port such that those of %d nodes are at most 65535, or 0 for free ones", c.options.Addr, c.options.Nodes)
	}
	memory := newMemory(c.options.Limits)
	for i := range c.options.Nodes {
		at := first
		if first > 0 {
			at += uint64(i)
		}
		l, err := listen(c.options.Listen, net.JoinHostPort(host, strconv.FormatUint(at, 10)), c.options.Limits, memory, c.options.Report)
		if err != nil {
			return err
		}
		n := &node{cluster: c, listener: l}
		c.nodes = append(c.nodes, n)
		n.ID = int32(i)
		if n.Host, n.Port, err = hostPort(l.Addr()); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startShards(settings core.Settings) {
	settings.TopicExists, settings.TopicName, settings.TopicID = c.topics.exists, c.topics.name, c.topics.id
	c.loads = make(chan loadEnd, c.options.Partitions)
	for p := range c.options.Partitions {
		l := bareLoop(settings)
		l.leader.Store(int32(p % len(c.nodes)))
		l.stranger = stranger(settings)
		l.report = c.options.Report
		if c.options.Faults != nil {
			l.fails = c.failing
		}
		c.shards = append(c.shards, l)
		if c.options.Log != nil {
			l.fate = c.fate
			l.begin(c.options.Log, int32(p), func(n store.Loaded, err error) { c.loads <- loadEnd{n, err} })
		}
		c.work.Go(l.run)
	}
}

// Addrs are where the nodes listen, HOST:PORT, by id.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addrs[i] = n.listener.Addr().String()
	}
	return addrs
}

// AdminAddr is where /metrics and /groups are served, HOST:PORT; empty where they are not.
func (c *Cluster) AdminAddr() string {
	if c.admin == nil {
		return ""
	}
	return c.admin.listener.Addr().String()
}

// Coordinator is the node that coordinates a group, and the partition of the groups that it is in.
func (c *Cluster) Coordinator(group string) (node, partition int32) {
	partition = partitionOf(group, len(c.shards))
	return c.shards[partition].leader.Load(), partition
}

// Move makes another node the coordinator of a group, and of all groups in the same partition of __consumer_offsets. Those who wait are told
// NOT_COORDINATOR, and the new one is loading for as long.
func (c *Cluster) Move(group string, to int32, loading time.Duration) error {
	if to < 0 || int(to) >= len(c.nodes) {
		return fmt.Errorf("there is no node %d; there are 0 to %d", to, len(c.nodes)-1)
	}
	c.shards[partitionOf(group, len(c.shards))].move(to, loading)
	return nil
}

// grace is how long those who are being answered when the cluster is closed have for that.
const grace = 300 * time.Millisecond

// Close stops listening and returns when nothing of the cluster runs any more. Requests that are parked are answered NOT_COORDINATOR, as by a
// broker that is shut down in order.
func (c *Cluster) Close() (err error) {
	c.closing.Do(func() {
		close(c.quit)
		for _, n := range c.nodes {
			err = errors.Join(err, n.listener.drain())
		}
		for _, l := range c.shards {
			l.do(func() { l.step(core.Unload{}) })
		}
		deadline := time.Now().Add(grace)
		for _, n := range c.nodes {
			n.listener.await(deadline)
		}
		if c.admin != nil {
			err = errors.Join(err, c.admin.close())
		}
		c.ledger.close()
		if c.backing != nil {
			c.backing.close()
		}
		for _, l := range c.shards {
			l.stop()
		}
		for _, n := range c.nodes {
			err = errors.Join(err, n.listener.Close())
			n.listener.wait()
		}
		c.work.Wait()
	})
	return err
}
