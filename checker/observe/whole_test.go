package observe

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

func at(n int64) []offset { return []offset{{topic: "t", at: n, epoch: -1}} }

// Of a plain commit and a transactional one the later in the log counts, whatever the order of the marker (txn.newer-wins).
func TestNewerOffsetWins(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(l ledger) ledger
		want int64
	}{
		{"plain after pending", func(l ledger) ledger { return l.pend(1, at(5)).store(at(6)).end(1, true) }, 6},
		{"pending after plain", func(l ledger) ledger { return l.store(at(6)).pend(1, at(5)).end(1, true) }, 5},
		{"aborted", func(l ledger) ledger { return l.store(at(6)).pend(1, at(5)).end(1, false) }, 6},
		{"two producers, the later marker first", func(l ledger) ledger { return l.pend(1, at(5)).pend(2, at(7)).end(2, true).end(1, true) }, 7},
		{"two producers, in order", func(l ledger) ledger { return l.pend(1, at(5)).pend(2, at(7)).end(1, true).end(2, true) }, 7},
		{"pending again", func(l ledger) ledger { return l.pend(1, at(5)).store(at(6)).pend(1, at(8)).end(1, true) }, 8},
		{"deleted in between", func(l ledger) ledger {
			return l.pend(1, at(5)).store(at(6)).without(func(partition) bool { return true }, false).end(1, true)
		}, 5},
	} {
		got, ok := c.does(ledger{}).offset("t", 0)
		if !ok || got.at != c.want {
			t.Errorf("%s: %d, %v; want %d", c.name, got.at, ok, c.want)
		}
	}
}

// The initial delay is the larger of delay and first rebalance timeout in all, and is extended at its ends (§1.5).
func TestInitialDelayAddsUp(t *testing.T) {
	var d delay
	all := []time.Duration{d.begin(3*time.Second, 10*time.Second)}
	for d.rest > 0 {
		all = append(all, d.extend(3*time.Second))
	}
	sum := time.Duration(0)
	for _, one := range all {
		sum += one
	}
	if sum != 10*time.Second || len(all) != 4 {
		t.Errorf("%v: %v in all", all, sum)
	}
	if d.begin(3*time.Second, time.Second) != 3*time.Second || d.rest != 0 {
		t.Errorf("a short rebalance timeout: %+v", d)
	}
}

func TestReadSubscription(t *testing.T) {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = []string{"t", "u"}
	whole := m.AppendTo(nil)
	if topics, ok := readSubscription(whole); !ok || len(topics) != 2 || topics[1] != "u" {
		t.Errorf("%v, %v", topics, ok)
	}
	for n := range len(whole) {
		if topics, ok := readSubscription(whole[:n]); ok {
			t.Errorf("the first %d bytes are read as %v", n, topics)
		}
	}
}

// Versions that name topics by id are answered by id, and an id that nobody has is UNKNOWN_TOPIC_ID (commit.topic-id).
func TestTopicIDs(t *testing.T) {
	known, unknown := [16]byte{1}, [16]byte{2}
	b := newBench(t, Config{
		Profile:   classic.Java,
		TopicName: func(id [16]byte) (string, bool) { return "t", id == known },
		TopicID:   func(string) ([16]byte, bool) { return known, true },
	})
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.Generation = "g", -1
	for _, id := range [][16]byte{known, unknown} {
		topic := kmsg.NewOffsetCommitRequestTopic()
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset, p.LeaderEpoch = 7, 3
		topic.TopicID, topic.Partitions = id, append(topic.Partitions, p)
		commit.Topics = append(commit.Topics, topic)
	}
	resp := answer[*kmsg.OffsetCommitResponse](b, b.send("A", commit, 10))
	if resp.Topics[0].TopicID != known || resp.Topics[0].Partitions[0].ErrorCode != 0 || resp.Topics[1].Partitions[0].ErrorCode != errUnknownTopicID {
		t.Errorf("%+v", resp)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
	all := answer[*kmsg.OffsetFetchResponse](b, b.send("A", fetch, 10)).Groups[0].Topics
	if len(all) != 1 || all[0].TopicID != known || all[0].Partitions[0].Offset != 7 || all[0].Partitions[0].LeaderEpoch != 3 {
		t.Errorf("%+v", all)
	}
}

// What a crash leaves of a group is what its log says: the Stable generation before an open rebalance, its offsets, and the pending ones.
func TestRestart(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java, KeepLog: true})
	one, two := b.stable()
	b.send("A", commit(one, b.m.groups[group].Generation(), "t", 0, 5, ""), 9)
	txn := kmsg.NewPtrTxnOffsetCommitRequest()
	txn.Group, txn.ProducerID, txn.Generation = group, 7, -1
	txn.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: 6, Metadata: kmsg.StringPtr("")}}}}
	b.send("P", txn, 3)
	waits := b.send("A", join(one, "range", "other"), 9) // a rebalance that the log knows nothing of

	b.m.Load(1)
	b.drain()
	if resp := answer[*kmsg.JoinGroupResponse](b, waits); resp.ErrorCode != classic.CodeNotCoordinator || resp.MemberID != one {
		t.Errorf("unloaded: %+v", resp)
	}
	if resp := answer[*kmsg.HeartbeatResponse](b, b.send("A", heartbeat("whoever", 9), 4)); resp.ErrorCode != 0 {
		t.Errorf("heartbeat while loading: %d", resp.ErrorCode)
	}
	b.m.Loaded()
	b.m.Unload(0) // a late order
	for _, id := range []string{one, two} {
		gen := b.m.groups[group].Generation()
		if resp := answer[*kmsg.HeartbeatResponse](b, b.send("A", heartbeat(id, gen), 4)); resp.ErrorCode != 0 {
			t.Errorf("%s in generation %d: %d", id, gen, resp.ErrorCode)
		}
	}
	if g := describe(b); g.State != "Stable" || len(g.Members) != 2 {
		t.Errorf("%+v", g)
	}
	fetch := func() kmsg.OffsetFetchResponseGroupTopicPartition {
		r := kmsg.NewPtrOffsetFetchRequest()
		r.RequireStable = true
		r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}}}
		return answer[*kmsg.OffsetFetchResponse](b, b.send("A", r, 9)).Groups[0].Topics[0].Partitions[0]
	}
	if p := fetch(); p.ErrorCode != classic.CodeUnstableOffsetCommit || p.Offset != -1 {
		t.Errorf("pending: %+v", p)
	}
	b.m.EndTxn(7, 0, true)
	if p := fetch(); p.ErrorCode != 0 || p.Offset != 6 {
		t.Errorf("committed: %+v", p)
	}
}
