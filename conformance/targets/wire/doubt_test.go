package wire

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestWrongAnswersDoNotEndTheRun has coordinators that answer what the probe asks wrongly, or not at all. They can be reached, so they are
// to be judged: the target opens, tells of its doubt, and lets members join.
func TestWrongAnswersDoNotEndTheRun(t *testing.T) {
	over := make(chan struct{}) // ends answers that never come
	t.Cleanup(func() { close(over) })
	for name, c := range map[string]struct {
		key    kmsg.Key
		answer func(*kfake.Cluster, kmsg.Request) kmsg.Response // nil: never
		doubt  string
	}{
		"FindCoordinator names a node that is none": {kmsg.FindCoordinator, func(_ *kfake.Cluster, req kmsg.Request) kmsg.Response {
			r := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
			r.NodeID, r.Host, r.Port = 77, "127.0.0.1", 1
			for _, key := range req.(*kmsg.FindCoordinatorRequest).CoordinatorKeys {
				r.Coordinators = append(r.Coordinators, kmsg.FindCoordinatorResponseCoordinator{Key: key, NodeID: 77, Host: "127.0.0.1", Port: 1})
			}
			return r
		}, "names node 77 at 127.0.0.1:1"},
		"FindCoordinator answers nonsense": {kmsg.FindCoordinator, func(_ *kfake.Cluster, req kmsg.Request) kmsg.Response {
			r := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
			r.ErrorCode = kerr.InvalidRecord.Code
			for _, key := range req.(*kmsg.FindCoordinatorRequest).CoordinatorKeys {
				r.Coordinators = append(r.Coordinators, kmsg.FindCoordinatorResponseCoordinator{Key: key, ErrorCode: r.ErrorCode})
			}
			return r
		}, "INVALID_RECORD"},
		"CreateTopics is refused": {kmsg.CreateTopics, func(_ *kfake.Cluster, req kmsg.Request) kmsg.Response {
			r := req.ResponseKind().(*kmsg.CreateTopicsResponse)
			r.Topics = []kmsg.CreateTopicsResponseTopic{{Topic: req.(*kmsg.CreateTopicsRequest).Topics[0].Topic, ErrorCode: kerr.PolicyViolation.Code}}
			return r
		}, "POLICY_VIOLATION"},
		"OffsetCommit leaves a partition out": {kmsg.OffsetCommit, func(_ *kfake.Cluster, req kmsg.Request) kmsg.Response {
			r := req.ResponseKind().(*kmsg.OffsetCommitResponse)
			rt := kmsg.OffsetCommitResponseTopic{Topic: req.(*kmsg.OffsetCommitRequest).Topics[0].Topic}
			rt.Partitions = []kmsg.OffsetCommitResponseTopicPartition{{Partition: 0}}
			r.Topics = append(r.Topics, rt)
			return r
		}, "without the partitions asked for"},
		"OffsetCommit never knows the topic": {kmsg.OffsetCommit, func(_ *kfake.Cluster, req kmsg.Request) kmsg.Response {
			r := req.ResponseKind().(*kmsg.OffsetCommitResponse)
			rt := kmsg.OffsetCommitResponseTopic{Topic: req.(*kmsg.OffsetCommitRequest).Topics[0].Topic}
			for p := range int32(topicPartitions) {
				rt.Partitions = append(rt.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p, ErrorCode: kerr.UnknownTopicOrPartition.Code})
			}
			r.Topics = append(r.Topics, rt)
			return r
		}, "still answers UNKNOWN_TOPIC_OR_PARTITION"},
		"OffsetCommit is never answered": {kmsg.OffsetCommit, nil, "OffsetCommit for the topic of the run is not answered"},
		"DeleteGroups is never answered": {kmsg.DeleteGroups, nil, "deleting groups"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newFake(t)
			cluster.ControlKey(c.key.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				if c.answer == nil {
					cluster.SleepControl(func() { <-over })
					return nil, nil, false
				}
				return c.answer(cluster, req), nil, true
			})
			tg, err := Open(context.Background(), Options{Addr: cluster.ListenAddrs()[0], Rate: 1000, Timeout: 500 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close() // what cannot be removed here is told elsewhere
			if doubts := strings.Join(tg.Doubts(), "\n"); !strings.Contains(doubts, c.doubt) {
				t.Errorf("doubts %q, want %q", doubts, c.doubt)
			}
			if has := tg.Capabilities().Topics[scenarioTopic] != ""; has == (c.key == kmsg.CreateTopics) {
				t.Errorf("scenarios have a topic: %v", has)
			}
			join(t, dial(t, tg, "A"), tg.caps.Prefix+"g")
		})
	}
}
