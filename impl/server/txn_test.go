package server_test

import (
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// producer is a transactional producer with a connection of its own.
type producer struct {
	*testing.T
	conn  net.Conn
	id    int64
	epoch int16
}

func newProducer(t *testing.T, s *server.Server, version int16) *producer {
	t.Helper()
	p := &producer{T: t, conn: dial(t, s)}
	p.init(version)
	return p
}

func (p *producer) init(version int16) {
	p.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = kmsg.StringPtr("tx"), 60_000
	resp := ask(p.T, p.conn, req, version).(*kmsg.InitProducerIDResponse)
	if resp.ErrorCode != 0 {
		p.Fatalf("InitProducerId: %+v", resp)
	}
	p.id, p.epoch = resp.ProducerID, resp.ProducerEpoch
}

func (p *producer) add(group string, version int16) int16 {
	p.Helper()
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = "tx", p.id, p.epoch, group
	return ask(p.T, p.conn, req, version).(*kmsg.AddOffsetsToTxnResponse).ErrorCode
}

func (p *producer) commit(group string, offset int64, version int16) int16 {
	p.Helper()
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = "tx", p.id, p.epoch, group, -1
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: offset}}}}
	return ask(p.T, p.conn, req, version).(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
}

func (p *producer) end(commit bool, version int16) int16 {
	p.Helper()
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = "tx", p.id, p.epoch, commit
	return ask(p.T, p.conn, req, version).(*kmsg.EndTxnResponse).ErrorCode
}

// fetch returns the offset of t/0, or minus the error code.
func (p *producer) fetch(group string, stable bool) int64 {
	p.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = stable
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}}}
	part := ask(p.T, p.conn, req, 9).(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions[0]
	if part.ErrorCode != 0 {
		return -int64(part.ErrorCode)
	}
	return part.Offset
}

// A producer's offsets are seen when it has committed, in every version.
func TestTransaction(t *testing.T) {
	for version := int16(0); version <= 4; version++ {
		s, _ := start(t)
		p := newProducer(t, s, version)
		if code := p.commit("g", 5, 3); code != 48 {
			t.Errorf("before the group was added: %d", code)
		}
		if code := p.commit("g", 5, 4); code != 120 {
			t.Errorf("before the group was added, v4: %d", code)
		}
		if a, b := p.add("g", min(version, 4)), p.commit("g", 5, version); a != 0 || b != 0 {
			t.Fatalf("v%d: AddOffsetsToTxn %d, TxnOffsetCommit %d", version, a, b)
		}
		if plain, stable := p.fetch("g", false), p.fetch("g", true); plain != -1 || stable != -88 {
			t.Errorf("before the end: %d, %d", plain, stable)
		}
		if code := p.end(true, version); code != 0 || p.fetch("g", true) != 5 {
			t.Errorf("EndTxn: %d, offset %d", code, p.fetch("g", true))
		}
		if again, other := p.end(true, version), p.end(false, version); again != 0 || other != 48 {
			t.Errorf("EndTxn again: %d, the other way %d", again, other)
		}
		if code := p.commit("g", 6, 5); code != 0 || p.end(false, version) != 0 || p.fetch("g", true) != 5 {
			t.Errorf("v5 adds the group itself, and an abort drops it: %d, %d", code, p.fetch("g", true))
		}
	}
}

// A producer that starts again aborts what its predecessor left, and fences it (2.9.1-fence, 2.9.1-ep).
func TestFencedProducer(t *testing.T) {
	s, _ := start(t)
	p := newProducer(t, s, 4)
	p.add("g", 4)
	p.commit("g", 5, 3)
	old := *p
	p.init(4)
	if p.id != old.id || p.epoch != old.epoch+1 || p.fetch("g", true) != -1 {
		t.Errorf("id %d epoch %d after id %d epoch %d; offset %d", p.id, p.epoch, old.id, old.epoch, p.fetch("g", true))
	}
	if a, b, c, d := old.commit("g", 5, 3), old.add("g", 1), old.add("g", 2), old.end(true, 4); a != 47 || b != 47 || c != 90 || d != 90 {
		t.Errorf("the fenced one: %d %d %d %d", a, b, c, d)
	}
	stranger := *p
	stranger.id = 99
	if a, b, c := stranger.commit("g", 5, 5), stranger.add("g", 4), stranger.end(true, 1); a != 49 || b != 49 || c != 49 {
		t.Errorf("an unknown id: %d %d %d", a, b, c)
	}
	if code := p.end(true, 4); code != 48 {
		t.Errorf("nothing to end: %d", code)
	}
}

func TestInitProducerID(t *testing.T) {
	s, _ := start(t)
	c := dial(t, s)
	for _, test := range []struct {
		name    string
		id      *string
		timeout int32
		old     int64
		version int16
		want    int16
	}{
		{"idempotent", nil, 0, -1, 4, 0},
		{"new", kmsg.StringPtr("a"), 1, -1, 4, 0},
		{"empty", kmsg.StringPtr(""), 1, -1, 4, core.InvalidRequest},
		{"no timeout", kmsg.StringPtr("b"), 0, -1, 4, 50},
		{"too long a timeout", kmsg.StringPtr("b"), 900_001, -1, 4, 50},
		{"another's id", kmsg.StringPtr("a"), 1, 77, 4, 90},
		{"another's id, v3", kmsg.StringPtr("a"), 1, 77, 3, 47},
		{"another's id, v2 has none", kmsg.StringPtr("a"), 1, 77, 2, 0},
	} {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionalID, req.TransactionTimeoutMillis, req.ProducerID = test.id, test.timeout, test.old
		if got := ask(t, c, req, test.version).(*kmsg.InitProducerIDResponse); got.ErrorCode != test.want || (got.ProducerID >= 0) != (test.want == 0) {
			t.Errorf("%s: %+v, want error %d", test.name, got, test.want)
		}
	}
}

// A producer id serves for 32767 epochs.
func TestEpochsRunOut(t *testing.T) {
	x := server.NewTransactions()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = kmsg.StringPtr("a"), 1
	seen := map[core.Producer]bool{}
	for range 40_000 {
		resp, _, _ := x.Handle(req, 4)
		p := resp.(*kmsg.InitProducerIDResponse)
		who := core.Producer{ID: p.ProducerID, Epoch: p.ProducerEpoch}
		if p.ErrorCode != 0 || p.ProducerEpoch < 0 || seen[who] {
			t.Fatalf("%+v", p)
		}
		seen[who] = true
	}
}

// FindCoordinator names this node for transactions too.
func TestFindTransactionCoordinator(t *testing.T) {
	s, _ := start(t)
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorType, req.CoordinatorKeys, req.CoordinatorKey = 1, []string{"tx"}, "tx"
	c := dial(t, s)
	if got := ask(t, c, req, 4).(*kmsg.FindCoordinatorResponse).Coordinators[0]; got.ErrorCode != 0 || got.NodeID != 3 {
		t.Errorf("%+v", got)
	}
	req.CoordinatorType = 2
	if got := ask(t, c, req, 6).(*kmsg.FindCoordinatorResponse).Coordinators[0]; got.ErrorCode != core.InvalidRequest {
		t.Errorf("share groups: %+v", got)
	}
}

// DeleteTopics reaches the coordinator, and topic ids go all the way.
func TestTopicIDsOfOffsets(t *testing.T) {
	s, _ := start(t)
	c := dial(t, s)
	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("t")}}
	id := ask(t, c, meta, 12).(*kmsg.MetadataResponse).Topics[0].TopicID
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.Generation = "g", -1
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{TopicID: id, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 5}}}}
	if got := ask(t, c, commit, 10).(*kmsg.OffsetCommitResponse).Topics[0]; got.Partitions[0].ErrorCode != 0 || got.TopicID != id {
		t.Errorf("%+v", got)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
	if got := ask(t, c, fetch, 10).(*kmsg.OffsetFetchResponse).Groups[0].Topics; len(got) != 1 || got[0].TopicID != id || got[0].Partitions[0].Offset != 5 {
		t.Errorf("%+v", got)
	}
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: id}}
	ask(t, c, remove, 6)
	if got := ask(t, c, fetch, 9).(*kmsg.OffsetFetchResponse).Groups[0].Topics; len(got) > 0 {
		t.Errorf("after the deletion: %+v", got)
	}
}

// The cleanup runs by the clock.
func TestCleanupRuns(t *testing.T) {
	s, _ := start(t, func(o *server.Options) { o.Settings.CleanupInterval = 5 * time.Millisecond })
	c := dial(t, s)
	ask(t, c, joinReq("g", ""), 9)
	list := kmsg.NewPtrListGroupsRequest()
	for end := time.Now().Add(10 * time.Second); len(ask(t, c, list, 5).(*kmsg.ListGroupsResponse).Groups) > 0; {
		if time.Now().After(end) {
			t.Fatal("the group is still there")
		}
	}
}
