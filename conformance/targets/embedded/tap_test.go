package embedded_test

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/impl/server"
)

// TestTap records what real consumers of franz-go do with the coordinator, in a group of three that commit and leave, and judges it. A
// commit that is then taken away from the record must be missed.
func TestTap(t *testing.T) {
	s, err := server.Start(server.Options{Topics: map[string]int32{"t": 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tap := history.NewTap("g")
	dial := tap.Dial((&net.Dialer{}).DialContext)
	var work sync.WaitGroup
	for n := range 3 {
		work.Go(func() {
			if err := consume(t.Context(), s.Addr(), dial, int64(n)); err != nil {
				t.Error(err)
			}
		})
	}
	if work.Wait(); t.Failed() {
		return
	}
	h, err := tap.History(history.Header{
		Target: "impl", Profile: embedded.Release, MinSession: 6 * time.Second, MaxSession: 30 * time.Minute, NewMemberTimeout: 5 * time.Minute,
		MaxMetadata: 4096, Tick: 10 * time.Millisecond, Slack: 250 * time.Millisecond, Topics: map[string]int32{"t": 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[int16]int{}
	for i := range h.Calls {
		kinds[h.Calls[i].Key]++
	}
	for _, key := range []int16{8, 9, 11, 12, 13, 14} {
		if kinds[key] == 0 {
			t.Errorf("no call of API %d among %v", key, kinds)
		}
	}
	file := filepath.Join(t.TempDir(), "h.jsonl")
	if err := h.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	v, h, err := linearize.CheckFile(t.Context(), file, linearize.Limits{})
	if err != nil || v.Result != linearize.Legal {
		t.Fatalf("%v %s %v %v", v.Result, v.Reason, v.Problems, err)
	}
	without := h.Keep(func(c *history.Call) bool { return c.Key != 8 })
	if v, err := linearize.Check(t.Context(), without, linearize.Limits{}); err != nil || v.Result != linearize.Illegal {
		t.Errorf("without the commits it is %v %s (%v)", v.Result, v.Reason, err)
	}
}

// consume joins the group, commits an offset that is its own, sees that it is there, and leaves.
func consume(ctx context.Context, addr string, dial func(context.Context, string, string) (net.Conn, error), n int64) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(addr), kgo.Dialer(dial), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t"), kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(50*time.Millisecond), kgo.SessionTimeout(6*time.Second), kgo.RebalanceTimeout(6*time.Second),
		kgo.MaxVersions(kversion.V3_7_0()), // later ones name topics by id
	)
	if err != nil {
		return err
	}
	defer client.Close()
	for ctx.Err() == nil {
		polling, stop := context.WithTimeout(ctx, 100*time.Millisecond)
		client.PollFetches(polling)
		stop()
		if _, generation := client.GroupMetadata(); generation < 0 {
			continue
		}
		done := false
		client.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{"t": {int32(n): {Epoch: -1, Offset: n}}},
			func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
				done = err == nil && resp.Topics[0].Partitions[0].ErrorCode == 0
			})
		if done {
			break
		}
	}
	_, err = kadm.NewClient(client).FetchOffsets(ctx, "g")
	return err
}
