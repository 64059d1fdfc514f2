package main

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// strange starts a coordinator whose answers of one kind are changed.
func strange(t *testing.T, key kmsg.Key, answer func(kmsg.Request) kmsg.Response) string {
	t.Helper()
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(10*time.Millisecond), kfake.BrokerConfigs(map[string]string{"group.min.session.timeout.ms": "10"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	cluster.ControlKey(key.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return answer(req), nil, true
	})
	return cluster.ListenAddrs()[0]
}

// A coordinator that can be reached is judged, however wrong what the probe gets from it.
func TestWrongAnswersToTheProbeAreJudged(t *testing.T) {
	t.Parallel()
	leavesOut := strange(t, kmsg.OffsetCommit, func(req kmsg.Request) kmsg.Response {
		r := req.ResponseKind().(*kmsg.OffsetCommitResponse)
		r.Topics = []kmsg.OffsetCommitResponseTopic{{
			Topic: req.(*kmsg.OffsetCommitRequest).Topics[0].Topic, Partitions: []kmsg.OffsetCommitResponseTopicPartition{{Partition: 0}},
		}}
		return r
	})
	muster(t, time.Minute, "run", "commit-fetch", "--target", leavesOut).expect(t, 1, "FAILURE 1", "warnings:", "without the partitions asked for")

	noTopic := strange(t, kmsg.CreateTopics, func(req kmsg.Request) kmsg.Response {
		r := req.ResponseKind().(*kmsg.CreateTopicsResponse)
		r.Topics = []kmsg.CreateTopicsResponseTopic{{Topic: req.(*kmsg.CreateTopicsRequest).Topics[0].Topic, ErrorCode: kerr.PolicyViolation.Code}}
		return r
	})
	muster(t, time.Minute, "run", "commit-fetch", "join-new-member-id", "--target", noTopic).
		expect(t, 2, "1 run, 1 skipped", "skipped, needs a topic", "POLICY_VIOLATION", "--topic")
}
