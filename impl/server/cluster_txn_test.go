package server_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// txnProducer speaks for a transactional producer, to the coordinator of its transactions.
type txnProducer struct {
	t     *testing.T
	conn  net.Conn // to the coordinator of transactions
	id    int64
	epoch int16

	sequence int32 // of its next record
}

func newTxnProducer(t *testing.T, c *server.Cluster, timeout time.Duration) *txnProducer {
	t.Helper()
	find := findReq("tx")
	find.CoordinatorType = 1
	at := ask(t, dialTo(t, c.Addrs()[0]), find, 4).(*kmsg.FindCoordinatorResponse).Coordinators[0]
	p := &txnProducer{t: t, conn: dialTo(t, c.Addrs()[at.NodeID])}
	p.init(timeout)
	return p
}

func (p *txnProducer) init(timeout time.Duration) {
	p.t.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = kmsg.StringPtr("tx"), int32(timeout.Milliseconds())
	req.ProducerID, req.ProducerEpoch = -1, -1
	r := ask(p.t, p.conn, req, 4).(*kmsg.InitProducerIDResponse)
	if r.ErrorCode != 0 {
		p.t.Fatalf("InitProducerId: %d", r.ErrorCode)
	}
	p.id, p.epoch = r.ProducerID, r.ProducerEpoch
}

func (p *txnProducer) add(group string) {
	p.t.Helper()
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = "tx", p.id, p.epoch, group
	if r := ask(p.t, p.conn, req, 3).(*kmsg.AddOffsetsToTxnResponse); r.ErrorCode != 0 {
		p.t.Fatalf("AddOffsetsToTxn: %d", r.ErrorCode)
	}
}

func (p *txnProducer) commitOffset(group net.Conn, name string, offset int64, version int16) int16 {
	p.t.Helper()
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = "tx", p.id, p.epoch, name, -1
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: 1, Offset: offset, LeaderEpoch: -1}}}}
	return ask(p.t, group, req, version).(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
}

func (p *txnProducer) end(commit bool, version int16) {
	p.t.Helper()
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = "tx", p.id, p.epoch, commit
	r := ask(p.t, p.conn, req, version).(*kmsg.EndTxnResponse)
	if r.ErrorCode != 0 {
		p.t.Fatalf("EndTxn: %d", r.ErrorCode)
	}
	if version >= 5 {
		p.id, p.epoch = r.ProducerID, r.ProducerEpoch
	}
}

// Offsets of a transaction count once kfake has committed it, on whichever node their group is; until then they are unstable.
func TestTransactionsReachGroups(t *testing.T) {
	c, _ := startCluster(t, nodes(3))
	conns := everyNode(t, c)
	p := newTxnProducer(t, c, time.Minute)
	for node, conn := range conns {
		g := groupOn(t, c, int32(node), 0)
		unstable := []int64{1000 + int64(core.UnstableOffsetCommit)}
		expect := func(when string, stable bool, want ...int64) {
			t.Helper()
			if got := committed(t, conn, stable, g); !slices.Equal(got, want) {
				t.Errorf("node %d, %s: %v, want %v", node, when, got, want)
			}
		}
		if code := p.commitOffset(conn, g, 1, 3); code != 48 {
			t.Errorf("a commit without transaction: %d, want INVALID_TXN_STATE", code)
		}
		if code := p.commitOffset(conns[(node+1)%3], g, 1, 3); code != core.NotCoordinator {
			t.Errorf("a commit on another node: %d", code)
		}
		p.add(g)
		if code := p.commitOffset(conn, g, 10, 3); code != 0 {
			t.Fatal(code)
		}
		expect("pending", true, unstable...)
		expect("pending", false, -1)
		p.end(true, 3)
		expect("committed", true, 10)
		p.add(g)
		p.commitOffset(conn, g, 20, 4)
		p.end(false, 4)
		expect("aborted", true, 10)
		// The second protocol of transactions: the commit makes its group part of it, the end gives a new epoch.
		if code := p.commitOffset(conn, g, 30, 5); code != 0 {
			t.Fatal(code)
		}
		expect("pending by itself", true, unstable...)
		old := *p
		p.end(true, 5)
		expect("committed by the second protocol", true, 30)
		if code := old.commitOffset(conn, g, 1, 5); code != 47 {
			t.Errorf("an epoch of old: %d, want INVALID_PRODUCER_EPOCH", code)
		}
		// Whoever comes next under that name aborts what was left open.
		p.add(g)
		p.commitOffset(conn, g, 40, 3)
		p.init(time.Minute)
		expect("fenced", true, 30)
	}
}

// A transaction that nobody ends is aborted when its timeout is over, in its groups too.
func TestTransactionTimesOut(t *testing.T) {
	t.Parallel()
	c, _ := startCluster(t)
	conn := dialTo(t, c.Addrs()[0])
	p := newTxnProducer(t, c, time.Second)
	p.add("g")
	if code := p.commitOffset(conn, "g", 10, 3); code != 0 {
		t.Fatal(code)
	}
	for deadline := time.Now().Add(patience); committed(t, conn, true, "g")[0] != -1; time.Sleep(time.Millisecond) { // wall time
		if time.Now().After(deadline) {
			t.Fatal("the offset is still pending")
		}
	}
}

// A transaction that ends while its group is being loaded ends there as soon as that is over.
func TestTransactionEndsWhileLoading(t *testing.T) {
	t.Parallel()
	c, _ := startCluster(t)
	conn := dialTo(t, c.Addrs()[0])
	p := newTxnProducer(t, c, time.Minute)
	p.add("g")
	p.commitOffset(conn, "g", 10, 3)
	if err := c.Move("g", 0, time.Hour); err != nil {
		t.Fatal(err)
	}
	p.end(true, 3)
	if got := committed(t, conn, true, "g"); got[0] != 1000+int64(core.CoordinatorLoadInProgress) {
		t.Errorf("while loading: %v", got)
	}
	if err := c.Move("g", 0, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); committed(t, conn, true, "g")[0] != 10; time.Sleep(time.Millisecond) { // wall time
		if time.Now().After(deadline) {
			t.Fatalf("offset %v, want 10", committed(t, conn, true, "g"))
		}
	}
}

// franz-go's transact session moves records from a topic to another exactly once.
func TestFranzGoTransacts(t *testing.T) {
	c, _ := startCluster(t, nodes(3))
	produce(t, client(t, c), "t", 40)
	s, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(c.Addrs()...), kgo.TransactionalID("mover"), kgo.ConsumerGroup("movers"), kgo.ConsumeTopics("t"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond), kgo.AllowAutoTopicCreation(),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for moved := 0; moved < 40; {
		fetches := s.PollFetches(deadline(t))
		if err := s.Begin(); err != nil {
			t.Fatal(err)
		}
		n := 0
		fetches.EachRecord(func(r *kgo.Record) {
			n++
			s.Produce(t.Context(), &kgo.Record{Topic: "moved", Value: r.Value}, nil)
		})
		committed, err := s.End(deadline(t), kgo.TryCommit)
		if err != nil {
			t.Fatal(err)
		}
		if committed {
			moved += n
		}
	}
	adm := kadm.NewClient(client(t, c))
	if lag, err := adm.Lag(deadline(t), "movers"); err != nil || lag["movers"].Lag.Total() != 0 {
		t.Errorf("lag %v, %v", lag["movers"].Lag, err)
	}
	consume(t, 40, client(t, c, kgo.ConsumeTopics("moved"), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())))
}
