package embedded_test

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/conformance/target"
)

// forgetful answers one OffsetCommit in ten that all is well, and forgets it.
type forgetful struct {
	target.Target
	mu   sync.Mutex
	rand *rand.Rand
	lost int
}

func (f *forgetful) forgets() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rand.IntN(10) > 0 {
		return false
	}
	f.lost++
	return true
}

func (f *forgetful) Dial(ctx context.Context, client string) (target.Conn, error) {
	conn, err := f.Target.Dial(ctx, client)
	return &forgetfulConn{conn, f}, err
}

type forgetfulConn struct {
	target.Conn
	of *forgetful
}

func (c *forgetfulConn) Send(req kmsg.Request, version int16) *target.Call {
	commit, ok := req.(*kmsg.OffsetCommitRequest)
	if !ok || !c.of.forgets() {
		return c.Conn.Send(req, version)
	}
	resp := kmsg.NewPtrOffsetCommitResponse()
	resp.SetVersion(version)
	for _, topic := range commit.Topics {
		to := kmsg.OffsetCommitResponseTopic{Topic: topic.Topic, TopicID: topic.TopicID}
		for _, p := range topic.Partitions {
			to.Partitions = append(to.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition})
		}
		resp.Topics = append(resp.Topics, to)
	}
	req.SetVersion(version)
	call := target.NewCall(req, version, c.of.Clock().Now())
	call.Finish(resp, nil, c.of.Clock().Now())
	return call
}

// TestLostCommits holds that a campaign as short as the one that ends muster verify finds commits that are lost now and then, without any fault of
// connections.
func TestLostCommits(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes twenty seconds; MUSTER_NIGHTLY=1 runs it")
	}
	inner := overTCP(t)
	defer inner.Close()
	tg := &forgetful{Target: inner, rand: rand.New(rand.NewPCG(1, 2))}
	report, err := campaign.Run(t.Context(), tg, campaign.Options{Seed: 1, Budget: 20 * time.Second, Enough: 1, Steps: 80, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d groups are illegal, %d commits were lost, %d calls made, %v", report.Illegal, report.Groups, tg.lost, report.Made, report.Elapsed.Round(time.Millisecond))
	if report.Illegal == 0 || tg.lost == 0 {
		t.Errorf("%d commits were lost, and no group is illegal; %q", tg.lost, report.Reasons)
	}
}
