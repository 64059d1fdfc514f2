package kafka

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestSubscriptionUnreadable lets a static member come back with metadata that are no subscription, and kills the broker: who loads the group's record then loads no group of its partition
// (Java coordinator before 4.4), or not what comes after it (Scala coordinator).
func TestSubscriptionUnreadable(t *testing.T) {
	for _, version := range []string{"4.4.0", "4.3.1", "4.0.2", "3.9.2"} {
		t.Run(version, func(t *testing.T) {
			tg := found(t, version)
			group, other, instance := tg.Capabilities().Prefix+"unreadable", tg.Capabilities().Prefix+"other", "i"
			subscription := kmsg.NewConsumerMemberMetadata()
			subscription.Topics = []string{tg.Capabilities().Topics["t"]}
			static := func(metadata []byte) *kmsg.JoinGroupResponse {
				req := joining(group, "", time.Minute, "range")
				req.InstanceID, req.Protocols[0].Metadata = &instance, metadata
				resp, ok := asks(t, tg, req, 5, 20*time.Second).(*kmsg.JoinGroupResponse)
				if !ok || resp.ErrorCode != 0 {
					t.Fatalf("JoinGroup: %+v", resp)
				}
				return resp
			}
			first := static(subscription.AppendTo(nil))
			sync := kmsg.NewPtrSyncGroupRequest()
			sync.Group, sync.MemberID, sync.InstanceID, sync.Generation = group, first.MemberID, &instance, first.Generation
			sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: first.MemberID, MemberAssignment: []byte("x")}}
			if resp, ok := asks(t, tg, sync, 3, 20*time.Second).(*kmsg.SyncGroupResponse); !ok || resp.ErrorCode != 0 {
				t.Fatalf("SyncGroup: %+v", resp)
			}
			static([]byte("nosubscription"))
			commitsTo(t, tg, other, 5)

			err := tg.Crash()
			if err == nil {
				ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
				defer cancel()
				err = tg.Recover(ctx)
			}
			log, failed := os.ReadFile(tg.Broker().LogFile())
			if failed != nil {
				t.Fatal(failed)
			}
			t.Logf("the broker starts again: %v", err)
			if !strings.Contains(string(log), "Tried to allocate a collection of size 1937072755") {
				t.Error("the broker's log tells nothing of a subscription that it cannot read")
			}
			var offset int64
			served := err == nil
			if served {
				offset, served = fetches(t, tg, other)
			}
			switch {
			case version == "4.4.0" && (!served || offset != 5): // says so in its log, and goes on
				t.Errorf("the other group's offset is %d (%v), want 5", offset, served)
			case strings.HasPrefix(version, "4.") && version != "4.4.0" && served:
				t.Errorf("the groups of the partition are served (offset %d): Kafka has been mended", offset)
			case version == "3.9.2" && (!served || offset != -1):
				t.Errorf("the other group's offset is %d (%v): Kafka has been mended", offset, served)
			}
		})
	}
}

// commitsTo commits an offset of a group without members.
func commitsTo(t *testing.T, tg *Target, group string, offset int64) {
	t.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Offset, rp.LeaderEpoch = offset, -1
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: tg.Capabilities().Topics["t"], Partitions: []kmsg.OffsetCommitRequestTopicPartition{rp}}}
	resp, ok := asks(t, tg, req, 7, 20*time.Second).(*kmsg.OffsetCommitResponse)
	if !ok || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("OffsetCommit: %+v", resp)
	}
}

// fetches is the offset of a group, -1 where there is none, once its coordinator serves; it does not where that takes long.
func fetches(t *testing.T, tg *Target, group string) (offset int64, served bool) {
	t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: tg.Capabilities().Topics["t"], Partitions: []int32{0}}}
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		resp, ok := asks(t, tg, req, 5, 10*time.Second).(*kmsg.OffsetFetchResponse)
		if ok && resp.ErrorCode == 0 {
			return resp.Topics[0].Partitions[0].Offset, true
		}
		if err := tg.Clock().Sleep(t.Context(), 200*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	return 0, false
}
