package server_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/server"
)

// folder is what a cluster keeps, both halves of it.
type folder struct {
	groups  *vfs.MemFS
	records string
}

func (f folder) start(t *testing.T) *server.Cluster {
	t.Helper()
	c, _ := startLoaded(t, withLog(openDisk(t, f.groups)), func(o *server.ClusterOptions) { o.Records = f.records })
	return c
}

// groupsAsKilled and recordsAsKilled are what a process leaves that is killed now.
func (f folder) groupsAsKilled() *vfs.MemFS { return f.groups.CrashClone(vfs.CrashCloneCfg{}) }

func (f folder) recordsAsKilled(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kfake")
	if err := os.CopyFS(dir, os.DirFS(f.records)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (f folder) killed(t *testing.T) folder { return folder{f.groupsAsKilled(), f.recordsAsKilled(t)} }

// produce sends a record in the open transaction, which becomes part of it by that from version 12 on.
func (p *txnProducer) produce(conn net.Conn, value string, version int16) {
	p.t.Helper()
	if version < 12 {
		add := kmsg.NewPtrAddPartitionsToTxnRequest()
		add.TransactionalID, add.ProducerID, add.ProducerEpoch = "tx", p.id, p.epoch
		add.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "t", Partitions: []int32{0}}}
		if code := ask(p.t, p.conn, add, 3).(*kmsg.AddPartitionsToTxnResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
			p.t.Fatalf("AddPartitionsToTxn: %d", code)
		}
	}
	r, b := kmsg.NewRecord(), kmsg.NewRecordBatch()
	r.Value = []byte(value)
	r.Length = int32(len(r.AppendTo(nil)) - 1)
	b.Magic, b.Attributes, b.NumRecords, b.ProducerID, b.ProducerEpoch, b.FirstSequence = 2, 0x10, 1, p.id, p.epoch, p.sequence
	b.FirstTimestamp, b.MaxTimestamp = time.Now().UnixMilli(), time.Now().UnixMilli()
	b.Records = r.AppendTo(nil)
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TransactionID = -1, kmsg.StringPtr("tx")
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: server.Sealed(b)}}}}
	if code := ask(p.t, conn, req, version).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
		p.t.Fatalf("Produce: %d", code)
	}
	p.sequence++
}

// readCommitted are the values of t's first partition that a consumer of committed records sees.
func readCommitted(t *testing.T, c *server.Cluster) (values []string) {
	t.Helper()
	end := kmsg.NewPtrListOffsetsRequest()
	end.ReplicaID, end.IsolationLevel = -1, 1
	end.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{CurrentLeaderEpoch: -1, Timestamp: -1}}}}
	stable := ask(t, dialTo(t, c.Addrs()[0]), end, 4).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0].Offset
	cl := client(t, c, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"t": {0: kgo.NewOffset().At(0)}}), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxWait(10*time.Millisecond))
	for at := int64(0); at < stable; {
		fetches := cl.PollFetches(deadline(t))
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if at = r.Offset + 1; !r.Attrs.IsControl() {
				values = append(values, string(r.Value))
			}
		})
	}
	return values
}

// A transaction that is open when the process is killed is aborted, its records and its offsets alike: nobody is told that it has been committed, whatever its producer has committed
// before, and its records are not seen later either, when that producer commits others.
func TestKilledInATransaction(t *testing.T) {
	for _, second := range []bool{false, true} { // the protocol of transactions
		for _, restarted := range []bool{false, true} { // before it, in good order
			name := fmt.Sprintf("second protocol %v, restarted %v", second, restarted)
			ends, produces, commits := int16(4), int16(11), int16(3)
			if second {
				ends, produces, commits = 5, 12, 5
			}
			at := folder{vfs.NewCrashableMem(), filepath.Join(t.TempDir(), "kfake")}
			c := at.start(t)
			conn := dialTo(t, c.Addrs()[0])
			p := newTxnProducer(t, c, time.Minute)
			work := func(value string, offset int64) {
				t.Helper()
				p.produce(conn, value, produces)
				if !second {
					p.add("g")
				}
				if code := p.commitOffset(conn, "g", offset, commits); code != 0 {
					t.Fatal(code)
				}
			}
			work("first", 1)
			p.end(true, ends)
			if second {
				p.sequence = 0
			}
			again := func(next folder) {
				t.Helper()
				at = next
				c = at.start(t)
				conn = dialTo(t, c.Addrs()[0])
				p.conn = dialTo(t, c.Addrs()[0])
			}
			if restarted {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				again(folder{at.groupsAsKilled(), at.records})
			}
			work("second", 2)

			again(at.killed(t))
			req := kmsg.NewPtrEndTxnRequest()
			req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = "tx", p.id, p.epoch, true
			if code := ask(t, p.conn, req, ends).(*kmsg.EndTxnResponse).ErrorCode; code != 90 {
				t.Errorf("%s: the commit is answered %d, want PRODUCER_FENCED", name, code)
			}
			if got := committed(t, conn, true, "g"); !slices.Equal(got, []int64{1}) {
				t.Errorf("%s: offset %v, want 1", name, got)
			}
			if got := readCommitted(t, c); !slices.Equal(got, []string{"first"}) {
				t.Errorf("%s: records %q", name, got)
			}

			p.init(time.Minute)
			p.sequence = 0
			work("third", 3)
			p.end(true, ends)
			again(at.killed(t))
			if got := committed(t, conn, true, "g"); !slices.Equal(got, []int64{3}) {
				t.Errorf("%s: offset %v after the next one, want 3", name, got)
			}
			if got := readCommitted(t, c); !slices.Equal(got, []string{"first", "third"}) {
				t.Errorf("%s: records %q after the next one", name, got)
			}
		}
	}
}

// A transaction that had offsets alone goes on: its producer commits it after the process was killed.
func TestKilledInATransactionOfOffsets(t *testing.T) {
	for commits, ends := range map[int16]int16{3: 4, 5: 5} {
		at := folder{vfs.NewCrashableMem(), filepath.Join(t.TempDir(), "kfake")}
		c := at.start(t)
		conn := dialTo(t, c.Addrs()[0])
		p := newTxnProducer(t, c, time.Minute)
		for offset := range int64(2) {
			if commits < 5 {
				p.add("g")
			}
			if code := p.commitOffset(conn, "g", offset, commits); code != 0 {
				t.Fatal(code)
			}
			if offset == 1 {
				c = at.killed(t).start(t)
				conn = dialTo(t, c.Addrs()[0])
				p.conn = dialTo(t, c.Addrs()[0])
			}
			p.end(true, ends)
			if got := committed(t, conn, true, "g"); got[0] != offset {
				t.Errorf("EndTxn %d: offset %v, want %d", ends, got, offset)
			}
		}
	}
}

// A transaction that has ended for its records when the process is killed ends so for its offsets.
func TestKilledWhileATransactionEnds(t *testing.T) {
	for _, commit := range []bool{true, false} {
		at := folder{vfs.NewCrashableMem(), filepath.Join(t.TempDir(), "kfake")}
		c := at.start(t)
		conn := dialTo(t, c.Addrs()[0])
		p := newTxnProducer(t, c, time.Minute)
		p.produce(conn, "first", 12)
		p.commitOffset(conn, "g", 1, 5)
		p.end(true, 5)
		p.sequence = 0
		p.produce(conn, "second", 12)
		p.commitOffset(conn, "g", 2, 5)
		groups := at.groupsAsKilled()
		p.end(commit, 5)
		c = folder{groups, at.recordsAsKilled(t)}.start(t)
		records, offset := []string{"first"}, int64(1)
		if commit {
			records, offset = []string{"first", "second"}, 2
		}
		if got := readCommitted(t, c); !slices.Equal(got, records) {
			t.Errorf("commit %v: records %q", commit, got)
		}
		if got := committed(t, dialTo(t, c.Addrs()[0]), true, "g"); got[0] != offset {
			t.Errorf("commit %v: offset %v, want %d", commit, got, offset)
		}
	}
}

// A topic that is deleted while groups are being loaded has no offsets any more once that is answered, whatever becomes of the process then: a topic that is made anew does not
// find them.
func TestKilledAfterDeletingWhileLoading(t *testing.T) {
	at := folder{vfs.NewCrashableMem(), filepath.Join(t.TempDir(), "kfake")}
	c := at.start(t)
	conn := dialTo(t, c.Addrs()[0])
	if code := commitOffset(t, conn, "g", 7); code != 0 {
		t.Fatal(code)
	}
	if err := c.Move("g", 0, time.Hour); err != nil {
		t.Fatal(err)
	}
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.TopicNames, remove.TimeoutMillis = []string{"t"}, 60_000
	write(t, conn, frame(remove, 5, 9))
	silent(t, conn)
	for _, loading := range []time.Duration{time.Hour, 0} { // it moves on before it is loaded
		if err := c.Move("g", 0, loading); err != nil {
			t.Fatal(err)
		}
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if r := read(t, conn, remove, 9).(*kmsg.DeleteTopicsResponse).Topics[0]; r.ErrorCode != 0 {
		t.Errorf("%+v", r)
	}
	c = at.killed(t).start(t)
	conn = dialTo(t, c.Addrs()[0])
	if got := committed(t, conn, true, "g"); got[0] != -1 {
		t.Errorf("offset %v of a topic that has been deleted", got)
	}
}
