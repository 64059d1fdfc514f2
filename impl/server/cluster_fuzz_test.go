package server

import (
	"encoding/binary"
	"hash/crc32"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// FuzzCluster sends random bytes to a node, after a hello that gives them a sense: whatever they are, it goes on serving others, kfake behind it too.
func FuzzCluster(f *testing.F) {
	for _, key := range Faultable() {
		for v := int16(0); v <= kmsg.RequestForKey(int16(key)).MaxVersion(); v += 3 {
			req := kmsg.RequestForKey(int16(key))
			req.SetVersion(v)
			f.Add(kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, req, 1))
		}
	}
	f.Add(slices.Concat(hostile(2_000_000_000), hostile(-2)))
	for _, records := range [][]byte{nil, {}, {1, 2, 3}, batch(1), batch(-1), batch(2_000_000_000), batch(1)[:40]} {
		f.Add(producing(records))
	}
	c, err := StartCluster(ClusterOptions{
		Nodes: 2, Topics: map[string]int32{"t": 2}, Settings: core.Settings{MinSessionTimeout: time.Millisecond},
		Limits: Limits{Frame: 1 << 20},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = c.Close() })
	witness, err := net.Dial("tcp", c.Addrs()[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = witness.Close() })
	f.Fuzz(func(t *testing.T, data []byte) {
		conn, err := net.Dial("tcp", c.Addrs()[len(data)%2])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(5 * time.Millisecond))
		if _, err := conn.Write(data); err == nil {
			_ = conn.(*net.TCPConn).CloseWrite()
			buffer := make([]byte, 1<<16)
			for {
				if _, err := conn.Read(buffer); err != nil {
					break
				}
			}
		}
		l := &line{conn: witness}
		_ = witness.SetDeadline(time.Now().Add(10 * time.Second))
		for _, req := range []kmsg.Request{kmsg.NewPtrListGroupsRequest(), kmsg.NewPtrDescribeClusterRequest()} {
			if _, err := l.ask(req); err != nil {
				t.Fatalf("after %d bytes: %s: %v", len(data), kmsg.NameForKey(req.Key()), err)
			}
		}
	})
}

// hostile are requests whose numbers are extreme.
func hostile(n int32) (all []byte) {
	topics := kmsg.NewPtrCreateTopicsRequest()
	topics.Version = 5
	topics.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "many", NumPartitions: n, ReplicationFactor: 1}}
	more := kmsg.NewPtrCreatePartitionsRequest()
	more.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "t", Count: n}}
	fetch := kmsg.NewPtrFetchRequest()
	fetch.Version, fetch.MaxBytes, fetch.MinBytes, fetch.MaxWaitMillis = 11, n, n, n
	fetch.Topics = []kmsg.FetchRequestTopic{{Topic: "t", Partitions: []kmsg.FetchRequestTopicPartition{{Partition: n, FetchOffset: int64(n), PartitionMaxBytes: n}}}}
	offsets := kmsg.NewPtrListOffsetsRequest()
	offsets.Version = 1
	offsets.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Partition: 0, Timestamp: int64(n), MaxNumOffsets: n}}}}
	id := kmsg.NewPtrInitProducerIDRequest()
	id.TransactionalID, id.TransactionTimeoutMillis = kmsg.StringPtr("x"), n
	records := kmsg.NewPtrDeleteRecordsRequest()
	records.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "t", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: int64(n)}}}}
	for _, req := range []kmsg.Request{topics, more, offsets, id, records, fetch} {
		all = kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(all, req, 1)
	}
	return all
}

// batch is records as an idempotent producer's Produce carries them, of one that says how many it has.
func batch(n int32) []byte { return batchOf(1, n) }

func batchOf(producer int64, n int32) []byte {
	b := kmsg.NewRecordBatch()
	b.Magic, b.NumRecords, b.LastOffsetDelta, b.ProducerID = 2, n, n-1, producer
	b.Records = []byte{12, 0, 0, 0, 1, 0, 0} // one record without key and value
	return sealed(b)
}

// sealed is a batch as it is sent, with its length and its checksum.
func sealed(b kmsg.RecordBatch) []byte {
	b.Length = int32(len(b.AppendTo(nil)) - 12)
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// producing is what an idempotent producer says, and a reader after it.
func producing(records []byte) (all []byte) {
	id := kmsg.NewPtrInitProducerIDRequest()
	produce := kmsg.NewPtrProduceRequest()
	produce.Version, produce.Acks = 9, 1
	produce.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: 0, Records: records}}}}
	fetch := kmsg.NewPtrFetchRequest()
	fetch.Version, fetch.MaxBytes, fetch.SessionEpoch = 11, 1<<20, -1
	fetch.Topics = []kmsg.FetchRequestTopic{{Topic: "t", Partitions: []kmsg.FetchRequestTopicPartition{{PartitionMaxBytes: 1 << 20}}}}
	for _, req := range []kmsg.Request{id, produce, fetch} {
		all = kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(all, req, 1)
	}
	return all
}
