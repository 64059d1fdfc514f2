package kafka

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// TestMarkerEpochs writes markers as a transaction coordinator does, of another epoch than that of the offsets which are pending. A later one ends
// the transaction, however much later; an earlier one is refused by the log, before a group coordinator hears of it. Plays hold the reference to
// the first (embedded.Plays); nobody sends it the other.
func TestMarkerEpochs(t *testing.T) {
	versions := []string{"4.3.1"}
	if given := strings.Fields(os.Getenv("MUSTER_KAFKA_RELEASES")); len(given) > 0 {
		versions = given
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			kafkatest.Need(t, version)
			tg, err := Open(t.Context(), version, "", Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			if !tg.Capabilities().Versions[int16(kmsg.OffsetFetch)].Has(7) {
				t.Skip("stable offsets cannot be fetched from this release")
			}
			for _, c := range []struct {
				commit bool
				fenced int   // so many times before: the epoch of the offsets
				epoch  int16 // of the marker
				code   int16
				after  string // what a stable fetch shows
			}{
				{commit: true, epoch: 1, after: "5"},
				{commit: false, epoch: 1, after: "-1"},
				{commit: true, epoch: 3, after: "5"},
				{commit: true, fenced: 1, epoch: 0, code: kerr.InvalidProducerEpoch.Code, after: "unstable"},
				{commit: false, fenced: 1, epoch: 0, code: kerr.InvalidProducerEpoch.Code, after: "unstable"},
				{commit: true, fenced: 1, epoch: 1, after: "5"},
			} {
				name := fmt.Sprintf("a marker of epoch %d, offsets of epoch %d, commit %v", c.epoch, c.fenced, c.commit)
				m := marked{t: t, tg: tg, group: tg.Capabilities().Prefix + name, txn: name}
				for range c.fenced + 1 {
					m.init()
				}
				m.begin()
				m.commits(5)
				if got := m.fetch(); got != "unstable" {
					t.Errorf("%s: before the marker: %s", name, got)
				}
				if code, got := m.mark(c.epoch, c.commit), m.fetch(); code != c.code || got != c.after {
					t.Errorf("%s: answered %d, the offset is %s after it; want %d and %s", name, code, got, c.code, c.after)
				}
			}
		})
	}
}

// marked is a producer, and a group that it commits for.
type marked struct {
	t          *testing.T
	tg         *Target
	group, txn string
	id         int64
	epoch      int16
}

// until asks again while transactions or their topic are not ready.
func (m *marked) until(req kmsg.Request, version int16, code func(kmsg.Response) int16) kmsg.Response {
	m.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		resp := asks(m.t, m.tg, req, version, 30*time.Second)
		if resp == nil {
			m.t.Fatalf("%T is not answered", req)
		}
		c := code(resp)
		if c == 0 {
			return resp
		}
		if time.Now().After(deadline) || !kerr.IsRetriable(kerr.ErrorForCode(c)) {
			m.t.Fatalf("%T: %v", req, kerr.ErrorForCode(c))
		}
	}
}

func (m *marked) init() {
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey, find.CoordinatorType = m.txn, 1
	m.until(find, 2, func(r kmsg.Response) int16 { return r.(*kmsg.FindCoordinatorResponse).ErrorCode })
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &m.txn, 60_000
	resp := m.until(req, 1, func(r kmsg.Response) int16 { return r.(*kmsg.InitProducerIDResponse).ErrorCode }).(*kmsg.InitProducerIDResponse)
	m.id, m.epoch = resp.ProducerID, resp.ProducerEpoch
}

func (m *marked) begin() {
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = m.txn, m.id, m.epoch, m.group
	m.until(req, 1, func(r kmsg.Response) int16 { return r.(*kmsg.AddOffsetsToTxnResponse).ErrorCode })
}

func (m *marked) commits(at int64) {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = m.txn, m.id, m.epoch, m.group, -1
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Offset = at
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: m.tg.Capabilities().Topics["t"], Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{p}}}
	m.until(req, 2, func(r kmsg.Response) int16 {
		return r.(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
	})
}

// mark writes a marker to every partition that the group may be in.
func (m *marked) mark(epoch int16, commit bool) int16 {
	meta := kmsg.NewPtrMetadataRequest()
	topic := "__consumer_offsets"
	meta.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	found := m.until(meta, 7, func(r kmsg.Response) int16 { return r.(*kmsg.MetadataResponse).Topics[0].ErrorCode }).(*kmsg.MetadataResponse)
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	mk := kmsg.NewWriteTxnMarkersRequestMarker()
	mk.ProducerID, mk.ProducerEpoch, mk.Committed, mk.CoordinatorEpoch = m.id, epoch, commit, 0
	mk.Topics = []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: topic}}
	for _, p := range found.Topics[0].Partitions {
		mk.Topics[0].Partitions = append(mk.Topics[0].Partitions, p.Partition)
	}
	req.Markers = []kmsg.WriteTxnMarkersRequestMarker{mk}
	resp := asks(m.t, m.tg, req, m.tg.Capabilities().Versions[int16(kmsg.WriteTxnMarkers)].Max, 30*time.Second).(*kmsg.WriteTxnMarkersResponse)
	return resp.Markers[0].Topics[0].Partitions[0].ErrorCode
}

// fetch is the group's offset, or that it is not stable.
func (m *marked) fetch() string {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = m.group, true
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: m.tg.Capabilities().Topics["t"], Partitions: []int32{0}}}
	resp := asks(m.t, m.tg, req, 7, 30*time.Second).(*kmsg.OffsetFetchResponse)
	if resp.ErrorCode != 0 {
		return kerr.ErrorForCode(resp.ErrorCode).Error()
	}
	p := resp.Topics[0].Partitions[0]
	if p.ErrorCode == kerr.UnstableOffsetCommit.Code {
		return "unstable"
	}
	return fmt.Sprint(p.Offset)
}
