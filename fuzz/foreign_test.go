package fuzz_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// writer writes records into a broker's __consumer_offsets, as Kafka's own tools may, who are known by their client id.
type writer struct {
	*testing.T
	conn      target.Conn
	producers map[int64]*transactional // of one log
	log       int
}

// transactional is a producer's session.
type transactional struct {
	name  string
	id    int64
	epoch int16
	next  int32 // sequence
	open  bool
}

func (w *writer) ask(req kmsg.Request, version int16) kmsg.Response {
	w.Helper()
	call := w.conn.Send(req, version)
	select {
	case <-call.Done():
	case <-time.After(time.Minute):
		w.Fatalf("%T is not answered", req)
	}
	resp, err := call.Answer()
	if err != nil {
		w.Fatalf("%T: %v", req, err)
	}
	return resp
}

// until asks again while the broker is not ready.
func (w *writer) until(what string, do func() int16) {
	w.Helper()
	for range 1500 {
		switch code := do(); code {
		case core.None:
			return
		case core.UnknownTopicOrPartition, core.NotLeaderOrFollower, core.CoordinatorLoadInProgress, core.CoordinatorNotAvailable, core.NotCoordinator, core.NotEnoughReplicas, 51: // CONCURRENT_TRANSACTIONS
			time.Sleep(10 * time.Millisecond)
		default:
			w.Fatalf("%s: error %d", what, code)
		}
	}
	w.Fatalf("%s: the broker does not get ready", what)
}

// begun is a producer of the log that is in a transaction.
func (w *writer) begun(id int64, group string) *transactional {
	p := w.producers[id]
	if p == nil {
		p = &transactional{name: fmt.Sprintf("foreign-%d-%d", w.log, id)}
		w.producers[id] = p
		w.until("InitProducerID", func() int16 {
			r := kmsg.NewPtrInitProducerIDRequest()
			r.TransactionalID, r.TransactionTimeoutMillis = &p.name, 600_000
			m := w.ask(r, 1).(*kmsg.InitProducerIDResponse)
			p.id, p.epoch = m.ProducerID, m.ProducerEpoch
			return m.ErrorCode
		})
	}
	if !p.open {
		p.open = true
		w.until("AddOffsetsToTxn", func() int16 { // which makes __consumer_offsets a part of the transaction
			r := kmsg.NewPtrAddOffsetsToTxnRequest()
			r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group = p.name, p.id, p.epoch, group
			return w.ask(r, 1).(*kmsg.AddOffsetsToTxnResponse).ErrorCode
		})
	}
	return p
}

// ends ends a producer's transaction, and returns when its markers are written; false where it is in none.
func (w *writer) ends(id int64, commit bool) bool {
	p := w.producers[id]
	if p == nil || !p.open {
		return false
	}
	p.open = false
	w.until("EndTxn", func() int16 {
		r := kmsg.NewPtrEndTxnRequest()
		r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = p.name, p.id, p.epoch, commit
		return w.ask(r, 1).(*kmsg.EndTxnResponse).ErrorCode
	})
	w.until("DescribeTransactions", func() int16 {
		r := kmsg.NewPtrDescribeTransactionsRequest()
		r.TransactionalIDs = []string{p.name}
		s := w.ask(r, 0).(*kmsg.DescribeTransactionsResponse).TransactionStates[0]
		if s.ErrorCode == core.None && !strings.HasPrefix(s.State, "Complete") {
			return core.NotCoordinator // not yet
		}
		return s.ErrorCode
	})
	return true
}

// writes writes one record.
func (w *writer) writes(r gen.Logged, group string) {
	raw := record.Raw{Key: r.Key, Value: r.Value}
	sequence := int32(0)
	if r.Producer != gen.NoProducer {
		p := w.begun(r.Producer, group)
		raw.Producer, sequence = &core.Producer{ID: p.id, Epoch: p.epoch}, p.next
		p.next++
	}
	batch, err := record.AppendBatch(nil, []record.Raw{raw}, time.Now().UnixMilli())
	if err != nil {
		w.Fatal(err)
	}
	const checksum, counted, sequenced = 17, 21, 53 // where in a batch the checksum is, what it is of, and the producer's sequence
	binary.BigEndian.PutUint32(batch[sequenced:], uint32(sequence))
	binary.BigEndian.PutUint32(batch[checksum:], crc32.Checksum(batch[counted:], crc32.MakeTable(crc32.Castagnoli)))
	w.until("Produce", func() int16 {
		req := kmsg.NewPtrProduceRequest()
		req.Acks, req.TimeoutMillis = -1, 30_000
		if p := w.producers[r.Producer]; p != nil {
			req.TransactionID = &p.name
		}
		req.Topics = []kmsg.ProduceRequestTopic{{Topic: "__consumer_offsets", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: batch}}}}
		return w.ask(req, 7).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode
	})
}

// renamed is a record of a group of which only this log speaks, and that group.
func renamed(r gen.Logged, suffix string) (gen.Logged, string) {
	var offset kmsg.OffsetCommitKey
	var group kmsg.GroupMetadataKey
	switch {
	case r.Key == nil || r.Key[1] > 2:
	case r.Key[1] < 2 && offset.ReadFrom(r.Key) == nil:
		offset.Group += suffix
		r.Key = offset.AppendTo(nil)
		return r, offset.Group
	case group.ReadFrom(r.Key) == nil:
		group.Group += suffix
		r.Key = group.AppendTo(nil)
		return r, group.Group
	}
	return r, ""
}

// looked is what a coordinator tells of groups. Of one of which nothing is left it says no more: Kafka 4 knows it until the next cleanup.
func looked(groups []string, ask func(kmsg.Request, int16) kmsg.Response) (all []string) {
	for _, g := range groups {
		describe := kmsg.NewPtrDescribeGroupsRequest()
		describe.Groups = []string{g}
		d := ask(describe, 5).(*kmsg.DescribeGroupsResponse).Groups[0]
		slices.SortFunc(d.Members, func(a, b kmsg.DescribeGroupsResponseGroupMember) int { return strings.Compare(a.MemberID, b.MemberID) })
		told := fmt.Sprintf("%s: error %d, %s %q %q", g, d.ErrorCode, d.State, d.ProtocolType, d.Protocol)
		for _, m := range d.Members {
			instance := "none"
			if m.InstanceID != nil {
				instance = *m.InstanceID
			}
			told += fmt.Sprintf("\n  %s, instance %s, client %s %s, %x, %q", m.MemberID, instance, m.ClientID, m.ClientHost, m.ProtocolMetadata, m.MemberAssignment)
		}
		offsets := ""
		for _, stable := range []bool{false, true} {
			fetch := kmsg.NewPtrOffsetFetchRequest()
			fetch.Group, fetch.RequireStable = g, stable
			for _, topic := range []string{"t", "u", "gone"} {
				fetch.Topics = append(fetch.Topics, kmsg.OffsetFetchRequestTopic{Topic: topic, Partitions: []int32{0, 1}})
			}
			var of []string
			for _, t := range ask(fetch, 7).(*kmsg.OffsetFetchResponse).Topics {
				for _, p := range t.Partitions {
					if p.Offset >= 0 || p.ErrorCode != core.None {
						of = append(of, fmt.Sprintf("\n  stable %v: %s/%d: %d, epoch %d, %q, error %d", stable, t.Topic, p.Partition, p.Offset, p.LeaderEpoch, *p.Metadata, p.ErrorCode))
					}
				}
			}
			slices.Sort(of) // Kafka 3.9.2 has an order of its own
			offsets += strings.Join(of, "")
		}
		if d.ErrorCode == core.None && len(d.Members) == 0 && d.ProtocolType == "" && offsets == "" {
			told = g + ": nothing"
		}
		all = append(all, told+offsets)
	}
	return all
}

// serving asks a broker again while it does not serve the group: where it is starved, its groups may be taken from it for a while.
func (w *writer) serving(req kmsg.Request, version int16) (resp kmsg.Response) {
	w.until("serving", func() int16 {
		resp = w.ask(req, version)
		switch m := resp.(type) {
		case *kmsg.DescribeGroupsResponse:
			return m.Groups[0].ErrorCode
		case *kmsg.OffsetFetchResponse:
			return m.ErrorCode
		}
		return core.None
	})
	return resp
}

// A real broker reads logs that others have written as the coordinator does, and so as the specification does, with which it is walked from such logs. It is one with the Java
// coordinator: the Scala one keeps what is pending for a partition whose offset has a tombstone (offset-delete.pending).
func TestKafkaReadsForeignLogs(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("starts brokers; set MUSTER_NIGHTLY=1")
	}
	const release, logs = "4.3.1", 25
	tg, err := kafka.Open(t.Context(), release, "", kafka.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	dial := func() *writer {
		conn, err := tg.Dial(t.Context(), "__admin_client")
		if err != nil {
			t.Fatal(err)
		}
		return &writer{T: t, conn: conn}
	}
	w := dial()
	for kind := range int8(2) {
		w.until("FindCoordinator", func() int16 { // makes the topics
			r := kmsg.NewPtrFindCoordinatorRequest()
			r.CoordinatorKey, r.CoordinatorType = "foreign", kind
			return w.ask(r, 2).(*kmsg.FindCoordinatorResponse).ErrorCode
		})
	}
	var groups []string
	var want []string
	records := 0
	for seed := range logs {
		g := gen.New(gen.Setup{
			Groups: 2, Clients: 3, Static: true, OffsetDelete: true, Transactions: true, Other: "u", Sessions: []time.Duration{5 * time.Minute, 10 * time.Minute},
		}, gen.Seeded(uint64(seed)))
		w.producers, w.log = map[int64]*transactional{}, seed
		var log []gen.Logged
		for _, r := range g.Foreign(time.Now()) {
			r, group := renamed(r, fmt.Sprintf("-%d", seed))
			switch {
			case r.Marker && !w.ends(r.Producer, r.Commit): // of a transaction that there is not: no broker writes that
				continue
			case !r.Marker && group == "" && r.Key[1] <= 2, r.Value != nil && len(r.Value) < 4 && r.Key[1] == 2:
				continue // damaged, after which a broker serves nobody
			case !r.Marker:
				w.writes(r, group)
			}
			log = append(log, r)
			if records++; group != "" && !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
		}
		of := slices.DeleteFunc(slices.Clone(groups), func(name string) bool { return !strings.HasSuffix(name, fmt.Sprintf("-%d", seed)) })
		want = append(want, looked(of, loadedBy(log))...)
	}
	if err := tg.Capabilities().Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !tg.Sound(t.Context()) {
		t.Skip("the broker serves while it still loads (conformance/targets/kafka, Sound)")
	}
	w = dial()
	if diff := cmp.Diff(want, looked(groups, w.serving)); diff != "" {
		t.Errorf("of %d groups in %d records (-ours +broker):\n%s", len(groups), records, diff)
	}
	t.Logf("%d groups, %d records", len(groups), records)
}

// loadedBy is the coordinator with a log.
func loadedBy(log []gen.Logged) func(kmsg.Request, int16) kmsg.Response {
	m := embedded.NewMachine(1)
	m.Inherit(log)
	m.Load(1)
	m.Loaded()
	m.Drain()
	ticket := checker.Ticket(0)
	return func(req kmsg.Request, version int16) kmsg.Response {
		ticket++
		m.Request(checker.Request{Ticket: ticket, Message: req, Version: version, ClientID: "c"})
		return m.Drain().Answers[0].Message
	}
}
