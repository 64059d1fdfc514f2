package doctor

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// TestKafkaDoctorNumbers examines 2,000 groups of 5 members on one broker. Their records are written into __consumer_offsets as a
// coordinator writes them, and the broker loads them when it starts again: that is quicker than 10,000 joins.
func TestKafkaDoctorNumbers(t *testing.T) {
	const groups, members, partitions = 2000, 5, 50
	version := releases()[0]
	b := kafkatest.Start(t, version, map[string]string{"offsets.topic.num.partitions": fmt.Sprint(partitions)})
	c := newCast(t, b)
	c.topic("t", 10, 1, time.Minute)
	// Kafka lets only its own admin client write to its internal topics.
	cl := c.admin(kgo.ClientID("__admin_client"), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(50000))
	for i := range groups {
		r := recordOf(fmt.Sprintf("group-%04d", i), members)
		r.Partition = partitionOf(fmt.Sprintf("group-%04d", i), partitions)
		cl.Produce(c.ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	c.must(cl.Flush(c.ctx))
	c.must(b.Kill())
	c.must(b.Restart(c.ctx))

	c.await("the loading of all groups", func() bool {
		resp, err := kmsg.NewPtrListGroupsRequest().RequestWith(c.ctx, cl)
		return err == nil && len(resp.Groups) == groups
	})

	first := c.raw("", "commits")
	for i := range groups {
		first.group, first.id, first.generation = fmt.Sprintf("group-%04d", i), memberOf(fmt.Sprintf("group-%04d", i), 0), 7
		c.must(first.commit(make([]int64, 10)...))
	}

	var peak atomic.Uint64
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	runtime.GC()
	go func() {
		for ctx.Err() == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.Sys-m.HeapReleased))
			time.Sleep(20 * time.Millisecond)
		}
	}()
	for _, noLog := range []bool{false, true} {
		r := examined(t, Options{Addr: b.Addr, NoLog: noLog})
		t.Logf("Kafka %s, %d groups of %d members, without the log %v: %.1f s, %d looks, %d requests (%.1f/s), %.1f MiB of the log, %d MiB of memory at most",
			version, groups, members, noLog, r.DurationS, r.Looks, r.Requests, float64(r.Requests)/r.DurationS, float64(r.Log.Bytes)/(1<<20), peak.Load()>>20)
		if r.Groups.States["Stable"] != groups || len(r.Findings) > 0 {
			t.Fatalf("%d groups are Stable, %d findings; want %d and none", r.Groups.States["Stable"], len(r.Findings), groups)
		}
		if r.Groups.WithLag != groups {
			t.Errorf("%d groups have lag, want all", r.Groups.WithLag)
		}
		if r.DurationS >= 5 || peak.Load() >= 100<<20 || float64(r.Requests)/r.DurationS > 20 {
			t.Errorf("too slow, too large, or too many requests")
		}
	}
}

// recordOf is the record of a Stable group.
func recordOf(group string, members int) *kgo.Record {
	now := time.Now().UnixMilli()
	key := kmsg.NewGroupMetadataKey()
	key.Version, key.Group = 2, group
	value := kmsg.NewGroupMetadataValue()
	value.Version, value.ProtocolType, value.Generation, value.Protocol, value.CurrentStateTimestamp = 3, "consumer", 7, kmsg.StringPtr("range"), now
	for i := range members {
		id := memberOf(group, i)
		if i == 0 {
			value.Leader = &id
		}
		meta := kmsg.NewConsumerMemberMetadata()
		meta.Topics = []string{"t"}
		given := kmsg.NewConsumerMemberAssignment()
		t := kmsg.NewConsumerMemberAssignmentTopic()
		t.Topic, t.Partitions = "t", []int32{int32(2 * i), int32(2*i + 1)}
		given.Topics = append(given.Topics, t)
		m := kmsg.NewGroupMetadataValueMember()
		m.MemberID, m.ClientID, m.ClientHost = id, fmt.Sprintf("consumer-%s-%d", group, i), "/10.0.0.1"
		m.RebalanceTimeoutMillis, m.SessionTimeoutMillis = 300000, 1800000
		m.Subscription, m.Assignment = meta.AppendTo(nil), given.AppendTo(nil)
		value.Members = append(value.Members, m)
	}
	return &kgo.Record{Topic: offsetsTopic, Key: key.AppendTo(nil), Value: value.AppendTo(nil)}
}

func memberOf(group string, i int) string {
	return fmt.Sprintf("consumer-%s-%d-00000000-0000-0000-0000-%012d", group, i, i)
}
