package server_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/faults"
	"github.com/muster-kafka/muster/impl/server"
)

// startCluster runs a cluster for the test; what it reports can be read from the channel.
func startCluster(t *testing.T, change ...func(*server.ClusterOptions)) (*server.Cluster, <-chan error) {
	t.Helper()
	reports := make(chan error, 10_000)
	o := server.ClusterOptions{
		Topics:   map[string]int32{"t": 4},
		Settings: core.Settings{MinSessionTimeout: 10 * time.Millisecond},
		Report:   func(err error) { reports <- err },
	}
	for _, c := range change {
		c(&o)
	}
	c, err := server.StartCluster(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, reports
}

func nodes(n int) func(*server.ClusterOptions) {
	return func(o *server.ClusterOptions) { o.Nodes = n }
}

func withFaults(t *testing.T, text string) func(*server.ClusterOptions) {
	t.Helper()
	set, err := faults.Parse("faults", text, server.Faultable(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *server.ClusterOptions) { o.Faults = set }
}

func client(t *testing.T, c *server.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Addrs()...)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func produce(t *testing.T, cl *kgo.Client, topic string, n int) {
	t.Helper()
	for i := range n {
		cl.Produce(deadline(t), &kgo.Record{Topic: topic, Key: fmt.Append(nil, i), Value: fmt.Append(nil, "v", i)}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Errorf("produce: %v", err)
			}
		})
	}
	if err := cl.Flush(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

// consume polls until n records have come, and returns how many came of each partition. One that comes twice, as records may where a partition
// changes hands, counts once.
func consume(t *testing.T, n int, members ...*kgo.Client) map[int32]int {
	t.Helper()
	ctx, got, seen := deadline(t), map[int32]int{}, map[string]bool{}
	for len(seen) < n {
		for _, m := range members {
			poll, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			fetches := m.PollFetches(poll)
			cancel()
			for _, e := range fetches.Errors() {
				if !errors.Is(e.Err, context.DeadlineExceeded) {
					t.Fatalf("fetch: %v", e.Err)
				}
			}
			fetches.EachRecord(func(r *kgo.Record) {
				if at := fmt.Sprint(r.Partition, "/", r.Offset); !seen[at] {
					seen[at] = true
					got[r.Partition]++
				}
			})
			m.AllowRebalance()
		}
		if ctx.Err() != nil {
			t.Fatalf("%d records of %d came: %v", len(seen), n, got)
		}
	}
	return got
}

// A real client makes a topic, produces, consumes in a group of two through a rebalance, commits, and finds its offsets again.
func TestClusterServesFranzGo(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c, _ := startCluster(t, nodes(n))
			cl := client(t, c)
			adm := kadm.NewClient(cl)
			if _, err := adm.CreateTopic(deadline(t), 6, 1, nil, "new"); err != nil {
				t.Fatal(err)
			}
			produce(t, cl, "new", 100)
			// Cooperative balancing needs a second generation, and nobody outside sees that it is still to come.
			group := []kgo.Opt{kgo.Balancers(kgo.RangeBalancer()), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("new"), kgo.DisableAutoCommit(), kgo.HeartbeatInterval(20 * time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50 * time.Millisecond)}
			one := client(t, c, group...)
			if got := consume(t, 100, one); len(got) != 6 {
				t.Errorf("records came of %d partitions: %v", len(got), got)
			}
			if err := one.CommitUncommittedOffsets(deadline(t)); err != nil {
				t.Errorf("commit: %v", err)
			}
			two := client(t, c, group...)
			waitGroup(t, adm, "g", 2)
			produce(t, cl, "new", 60)
			consume(t, 60, one, two)
			for _, m := range []*kgo.Client{one, two} {
				if err := m.CommitUncommittedOffsets(deadline(t)); err != nil {
					t.Errorf("commit: %v", err)
				}
			}
			one.Close()
			two.Close()
			waitGroup(t, adm, "g", 0)
			if lag, err := adm.Lag(deadline(t), "g"); err != nil || lag["g"].Lag.Total() != 0 || len(lag["g"].Lag["new"]) != 6 {
				t.Errorf("lag: %v, %v", lag["g"].Lag, err)
			}
			produce(t, cl, "new", 10)
			consume(t, 10, client(t, c, group...))
		})
	}
}

// waitGroup waits until a group is Stable, or Empty, with so many members.
func waitGroup(t *testing.T, adm *kadm.Client, group string, members int) {
	t.Helper()
	ctx := deadline(t)
	want := "Stable"
	if members == 0 {
		want = "Empty"
	}
	for {
		d, err := adm.DescribeGroups(ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		if g := d[group]; g.State == want && len(g.Members) == members {
			return
		}
		time.Sleep(time.Millisecond) // between two looks at a server that runs on wall time
	}
}
