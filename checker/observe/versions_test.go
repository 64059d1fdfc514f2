package observe

import (
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// show prints a nullable string.
func show(s *string) string {
	if s == nil {
		return "null"
	}
	return fmt.Sprintf("%q", *s)
}

func TestJoinAnswersOfEveryVersion(t *testing.T) {
	for v := int16(0); v <= 9; v++ {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			b := newBench(t, Config{Profile: classic.Java})
			refused := answer[*kmsg.JoinGroupResponse](b, b.send("a", join("nobody", "range"), v))
			wantName := `""`
			if v >= 7 {
				wantName = "null"
			}
			if refused.ErrorCode != 25 || refused.Generation != -1 || show(refused.Protocol) != wantName || refused.MemberID != "nobody" || refused.ProtocolType != nil {
				t.Fatalf("unknown id: %+v, protocol %s", refused, show(refused.Protocol))
			}
			req := join("", "range")
			req.RebalanceTimeoutMillis = 1
			got := answer[*kmsg.JoinGroupResponse](b, b.send("a", req, v))
			id := got.MemberID
			if id != "a-1" {
				t.Fatalf("minted %q", id)
			}
			if (got.ErrorCode == 79) != (v >= 4) {
				t.Fatalf("empty id: %+v", got)
			}
			if v >= 4 {
				req.MemberID = id
				got = answer[*kmsg.JoinGroupResponse](b, b.send("a", req, v))
			}
			if got.ErrorCode != 0 || got.Generation != 1 || got.LeaderID != id || len(got.Members) != 1 || show(got.Protocol) != `"range"` {
				t.Fatalf("joined: %+v", got)
			}
			if wantType := map[bool]string{true: `"consumer"`, false: "null"}[v >= 7]; show(got.ProtocolType) != wantType {
				t.Fatalf("protocol type %s, want %s", show(got.ProtocolType), wantType)
			}
			// The sync timer runs for the largest rebalance timeout, which version 0 does not have.
			want := int64(1_000_000)
			if v == 0 {
				want = 10_000_000_000
			}
			for _, timer := range b.m.Timers() {
				if timer.Kind == classic.GroupSyncTimer && timer.Deadline.UnixNano() != want {
					t.Fatalf("sync timer at %d, want %d", timer.Deadline.UnixNano(), want)
				}
			}
		})
	}
}

func TestSyncOfEveryVersion(t *testing.T) {
	for v := int16(0); v <= 5; v++ {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			b := newBench(t, Config{Profile: classic.Java})
			id, _ := b.enter("a", "range")
			for _, bad := range []*kmsg.SyncGroupRequest{sync5(id, 1, "sticky"), sync5(id, 1, "")} {
				got := answer[*kmsg.SyncGroupResponse](b, b.send("a", bad, v))
				if (got.ErrorCode == 23) != (v >= 5) {
					t.Fatalf("another protocol: %+v", got)
				}
				if v < 5 {
					return // an older SyncGroup has no protocol and has just succeeded
				}
			}
			none := sync5(id, 1, "range")
			none.ProtocolType = nil
			if got := answer[*kmsg.SyncGroupResponse](b, b.send("a", none, v)); got.ErrorCode != 23 {
				t.Fatalf("no protocol type: %+v", got)
			}
			none.ProtocolType = kmsg.StringPtr("")
			if got := answer[*kmsg.SyncGroupResponse](b, b.send("a", none, v)); got.ErrorCode != 23 {
				t.Fatalf("empty protocol type: %+v", got)
			}
			got := answer[*kmsg.SyncGroupResponse](b, b.send("a", sync5(id, 1, "range", id, "x"), v))
			if got.ErrorCode != 0 || string(got.MemberAssignment) != "x" || show(got.ProtocolType) != `"consumer"` || show(got.Protocol) != `"range"` {
				t.Fatalf("synced: %+v", got)
			}
		})
	}
}

func TestLeaveOfEveryVersion(t *testing.T) {
	for v := int16(0); v <= 5; v++ {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			b := newBench(t, Config{Profile: classic.Java})
			id, _ := b.enter("a", "range")
			leave := func(id string) *kmsg.LeaveGroupResponse {
				req := kmsg.NewPtrLeaveGroupRequest()
				req.Group = group
				if v < 3 {
					req.MemberID = id
				} else {
					req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: id}}
				}
				return answer[*kmsg.LeaveGroupResponse](b, b.send("a", req, v))
			}
			for _, step := range []struct {
				id   string
				code int16
			}{{"nobody", 25}, {id, 0}, {id, 25}} {
				got := leave(step.id)
				if v < 3 {
					if got.ErrorCode != step.code || len(got.Members) != 0 {
						t.Fatalf("leave %s: %+v", step.id, got)
					}
				} else if got.ErrorCode != 0 || len(got.Members) != 1 || got.Members[0].ErrorCode != step.code || got.Members[0].MemberID != step.id {
					t.Fatalf("leave %s: %+v", step.id, got)
				}
			}
		})
	}
}

func TestOffsetsOfEveryVersion(t *testing.T) {
	c := Config{Profile: classic.Java, MaxMetadata: 4, Topics: func(topic string, p int32) bool { return topic == "t" && p < 3 }}
	for v := int16(1); v <= 9; v++ {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			b := newBench(t, c)
			req := commit("", -1, "t", 0, 5, "four")
			add := func(topic string, p int32, metadata string) {
				one := kmsg.NewOffsetCommitRequestTopicPartition()
				one.Partition, one.Offset, one.Metadata, one.LeaderEpoch = p, 6, &metadata, 3
				req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{one}})
			}
			add("u", 0, "")
			add("v", 1, "")
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, req.Topics[0].Partitions[0], req.Topics[0].Partitions[0])
			long, astral := "fives", "\U0001F600\U0001F600" // four code units
			req.Topics[0].Partitions[1].Partition, req.Topics[0].Partitions[1].Metadata = 1, &long
			req.Topics[0].Partitions[2].Partition, req.Topics[0].Partitions[2].Metadata = 2, &astral
			got := answer[*kmsg.OffsetCommitResponse](b, b.send("x", req, v))
			codes := ""
			for _, topic := range got.Topics {
				for _, p := range topic.Partitions {
					codes += fmt.Sprintf("%s/%d=%d ", topic.Topic, p.Partition, p.ErrorCode)
				}
			}
			if codes != "t/0=0 t/1=12 t/2=0 u/0=3 v/1=3 " {
				t.Fatalf("commit: %s", codes)
			}

			fetched := ""
			fetch := kmsg.NewPtrOffsetFetchRequest()
			ps := []int32{0, 1}
			if v < 8 {
				fetch.Group = group
				fetch.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: ps}}
				for _, topic := range answer[*kmsg.OffsetFetchResponse](b, b.send("x", fetch, v)).Topics {
					for _, p := range topic.Partitions {
						fetched += fmt.Sprintf("%s/%d=%d %s ", topic.Topic, p.Partition, p.Offset, *p.Metadata)
					}
				}
			} else {
				fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: ps}}}, {Group: "h"}}
				got := answer[*kmsg.OffsetFetchResponse](b, b.send("x", fetch, v))
				if len(got.Groups) != 2 || len(got.Groups[1].Topics) != 0 {
					t.Fatalf("fetch of two groups: %+v", got)
				}
				for _, topic := range got.Groups[0].Topics {
					for _, p := range topic.Partitions {
						fetched += fmt.Sprintf("%s/%d=%d %s ", topic.Topic, p.Partition, p.Offset, *p.Metadata)
					}
				}
			}
			if fetched != "t/0=5 four t/1=-1  " {
				t.Fatalf("fetch: %q", fetched)
			}
		})
	}
}

func TestCommitOfUnknownGroupByRelease(t *testing.T) {
	for _, c := range []struct {
		profile classic.Profile
		version int16
		code    int16
	}{{classic.Java, 8, 22}, {classic.Java, 9, 69}, {classic.Scala, 9, 22}} {
		b := newBench(t, Config{Profile: c.profile})
		got := answer[*kmsg.OffsetCommitResponse](b, b.send("x", commit("m", 3, "t", 0, 1, ""), c.version))
		if code := got.Topics[0].Partitions[0].ErrorCode; code != c.code {
			t.Errorf("%s, version %d: %d, want %d", c.profile.Name, c.version, code, c.code)
		}
	}
}

func TestDescribeOfEveryVersion(t *testing.T) {
	for v := int16(0); v <= 6; v++ {
		b := newBench(t, Config{Profile: classic.Java})
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{group}
		got := answer[*kmsg.DescribeGroupsResponse](b, b.send("x", req, v)).Groups[0]
		want := int16(0)
		if v >= 6 {
			want = classic.CodeGroupIDNotFound
		}
		if got.State != "Dead" || got.ErrorCode != want {
			t.Errorf("version %d: %+v", v, got)
		}
		leader, _ := b.stable()
		got = answer[*kmsg.DescribeGroupsResponse](b, b.send("x", req, v)).Groups[0]
		if got.State != "Stable" || got.Protocol != "range" || len(got.Members) != 2 {
			t.Errorf("version %d: %+v", v, got)
		}
		for _, m := range got.Members {
			client, assigned := "f", "p1"
			if m.MemberID == leader {
				client, assigned = "a", "p0"
			}
			if m.ClientID != client || string(m.MemberAssignment) != assigned || string(m.ProtocolMetadata) != "of range" {
				t.Errorf("version %d: %+v", v, m)
			}
		}
	}
}

func TestWhatIsNotModelledSaysSo(t *testing.T) {
	w := NewWorld(Config{})
	twice := join("", "range", "range")
	txn := kmsg.NewPtrTxnOffsetCommitRequest()
	txn.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{}, {}}}}
	for name, r := range map[string]Request{
		"name twice": {Message: twice, Version: 9}, "partition twice": {Message: txn, Version: 3},
		"topic ids": {Message: commit("", -1, "t", 0, 1, ""), Version: 10}, "zookeeper": {Message: commit("", -1, "t", 0, 1, ""), Version: 0},
		"another API": {Message: kmsg.NewPtrMetadataRequest(), Version: 9},
	} {
		err := w.Apply(w.NewBranch(group), r, Window{}, func(Outcome) bool {
			t.Errorf("%s: an outcome", name)
			return true
		})
		if !errors.Is(err, ErrNotModelled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
