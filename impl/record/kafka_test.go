package record_test

import (
	"context"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
	"github.com/muster-kafka/muster/internal/kafka"
	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

var update = flag.Bool("update", false, "record what brokers write and answer into testdata (TestKafkaRecord)")

func restart(t *testing.T, b *kafka.Broker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := b.Restart(ctx); err != nil {
		t.Fatal(err)
	}
}

// answers are what a broker says of the groups of a cast.
func answers(t *testing.T, addr string, groups []string) string {
	t.Helper()
	c := newCast(t, addr)
	cl := c.client("asker")
	return tell(groups, func(req kmsg.Request) kmsg.Response { return c.ask(cl, req) })
}

// TestKafkaRecord writes testdata anew: go test ./impl/record -run TestKafkaRecord -update
func TestKafkaRecord(t *testing.T) {
	if !*update {
		t.Skip("only with -update")
	}
	for _, release := range recordedReleases {
		b := kafkatest.Start(t, release, nil)
		c := newCast(t, b.Addr)
		c.play()
		if release >= "4" {
			c.newer()
		}
		raw := c.log()
		restart(t, b)
		for name, text := range map[string][]byte{".bin": raw, ".txt": []byte(answers(t, b.Addr, groupsOfCast))} {
			if err := os.WriteFile(vector(release, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// newer makes a group of another protocol.
func (c *cast) newer() {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.Topics = "consumer", "3f0e9a2c-6c1c-4b8e-8f44-0d6b1d6c2a11", 60_000, []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	c.must(c.ask(c.client("newer"), req).(*kmsg.ConsumerGroupHeartbeatResponse).ErrorCode, "ConsumerGroupHeartbeat")
}

// log is all of __consumer_offsets, as the broker has it.
func (c *cast) log() []byte {
	c.t.Helper()
	var all []byte
	next := int64(0)
	broker := c.client("reader").SeedBrokers()[0]
	for {
		req := kmsg.NewPtrFetchRequest()
		req.ReplicaID, req.MaxBytes, req.SessionEpoch = -1, 1<<20, -1
		req.Topics = []kmsg.FetchRequestTopic{{Topic: "__consumer_offsets", Partitions: []kmsg.FetchRequestTopicPartition{{FetchOffset: next, CurrentLeaderEpoch: -1, PartitionMaxBytes: 1 << 20}}}}
		req.SetVersion(11)
		resp, err := broker.Request(c.ctx, req)
		if err != nil {
			c.t.Fatal(err)
		}
		p := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
		c.must(p.ErrorCode, "Fetch")
		if len(p.RecordBatches) == 0 {
			return all
		}
		all = append(all, p.RecordBatches...)
		if err := record.ReadBatches(p.RecordBatches, func(r record.Raw) error { next = r.Position + 1; return nil }); err != nil {
			c.t.Fatal(err)
		}
	}
}

// notingLog takes note of what is written.
type notingLog struct {
	*store.Memory
	mu  sync.Mutex
	all record.Log
}

func (n *notingLog) Append(p int32, w core.Append, done func(error)) {
	n.mu.Lock()
	n.all.Write(w)
	n.mu.Unlock()
	n.Memory.Append(p, w, done)
}

// A real broker loads what our coordinator has written, and answers the same as ours does that has loaded it.
func TestKafkaLoadsWhatWeWrote(t *testing.T) {
	for _, release := range releases() {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			log := &notingLog{Memory: store.NewMemory()}
			cluster, err := server.StartCluster(server.ClusterOptions{Partitions: 1, Log: log, Settings: core.Settings{MinSessionTimeout: 10 * time.Millisecond, Transactions: true}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := cluster.AwaitLoad(t.Context()); err != nil {
				t.Fatal(err)
			}
			newCast(t, cluster.Addrs()[0]).play()
			var raws []record.Raw
			var records []core.Record
			for _, s := range log.all.Records() {
				if s.Producer != nil {
					continue // open: only its producer could write it
				}
				r := record.Raw{Position: int64(len(raws)), Key: s.Key, Value: s.Value}
				known, _, err := r.Record()
				if err != nil {
					t.Fatal(err)
				}
				raws, records = append(raws, r), append(records, known)
			}
			if err := cluster.Close(); err != nil {
				t.Fatal(err)
			}
			b := kafkatest.Start(t, release, nil)
			newCast(t, b.Addr).produce(raws)
			restart(t, b)
			want := tell(groupsOfCast, ours(t, records))
			if strings.Count(want, "member ") != 3 || strings.Count(want, "t/") < 10 {
				t.Errorf("too little is compared:\n%s", want)
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(answers(t, b.Addr, groupsOfCast), "\n")); diff != "" {
				t.Errorf("beside ours (-ours +broker):\n%s", diff)
			}
		})
	}
}

// produce writes records into __consumer_offsets, as Kafka's own tools may, who are known by their client id.
func (c *cast) produce(raws []record.Raw) {
	c.t.Helper()
	create := kmsg.NewPtrCreateTopicsRequest() // so that offsets can be asked for
	create.TimeoutMillis = 30_000
	create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "t", NumPartitions: 3, ReplicationFactor: 1}}
	cl := c.client("__admin_client")
	c.must(c.ask(cl, create).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode, "CreateTopics")
	find := kmsg.NewPtrFindCoordinatorRequest() // makes the topic
	find.CoordinatorKey, find.CoordinatorKeys = "dynamic", []string{"dynamic"}
	c.ask(cl, find)
	batch, err := record.AppendBatch(nil, raws, time.Now().UnixMilli())
	if err != nil {
		c.t.Fatal(err)
	}
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 30_000
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "__consumer_offsets", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: batch}}}}
	req.SetVersion(7)
	for {
		resp, err := cl.SeedBrokers()[0].Request(c.ctx, req)
		if err != nil {
			c.t.Fatal(err)
		}
		switch code := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code {
		case core.None:
			return
		case core.UnknownTopicOrPartition, core.NotLeaderOrFollower: // it is still being made
			time.Sleep(10 * time.Millisecond)
		default:
			c.must(code, "Produce")
		}
	}
}

// releases are those in MUSTER_KAFKA_RELEASES, or one.
func releases() []string {
	if given := strings.Fields(os.Getenv("MUSTER_KAFKA_RELEASES")); len(given) > 0 {
		return given
	}
	return []string{"4.3.1"}
}
