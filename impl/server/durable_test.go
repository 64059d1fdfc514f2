package server_test

import (
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
)

func withLog(l store.Log) func(*server.ClusterOptions) {
	return func(o *server.ClusterOptions) { o.Log = l }
}

func openDisk(t *testing.T, fs vfs.FS) *store.Disk {
	t.Helper()
	d, err := store.Open(store.Options{Dir: "kept", FS: fs, Durability: store.Fsync})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// startLoaded starts a cluster and waits until it has loaded what there is.
func startLoaded(t *testing.T, change ...func(*server.ClusterOptions)) (*server.Cluster, store.Loaded) {
	t.Helper()
	c, _ := startCluster(t, change...)
	loaded, err := c.AwaitLoad(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return c, loaded
}

// member joins a group of its own and syncs.
func member(t *testing.T, c net.Conn, group string) (id string, generation int32) {
	t.Helper()
	j := ask(t, c, joinReq(group, ""), 3).(*kmsg.JoinGroupResponse)
	if s := ask(t, c, syncReq(group, j.MemberID, j.Generation), 3).(*kmsg.SyncGroupResponse); j.ErrorCode != 0 || s.ErrorCode != 0 {
		t.Fatalf("join %d, sync %d", j.ErrorCode, s.ErrorCode)
	}
	return j.MemberID, j.Generation
}

func heartbeat(t *testing.T, c net.Conn, group, id string, generation int32) int16 {
	t.Helper()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = group, id, generation
	return ask(t, c, req, 3).(*kmsg.HeartbeatResponse).ErrorCode
}

// The machine ends right after the last answer: members go on where they were, offsets are there, a transaction that was committed is, and one
// that nobody can end any more is aborted.
func TestRestart(t *testing.T) {
	fs := vfs.NewCrashableMem()
	c, _ := startLoaded(t, withLog(openDisk(t, fs)))
	conn := dialTo(t, c.Addrs()[0])
	id, generation := member(t, conn, "members")
	if code := commitOffset(t, conn, "simple", 7); code != 0 {
		t.Fatal(code)
	}
	p := newTxnProducer(t, c, time.Minute)
	for _, g := range []string{"committed", "open"} {
		p.add(g)
		if code := p.commitOffset(conn, g, 8, 3); code != 0 {
			t.Fatal(code)
		}
		if g == "committed" {
			p.end(true, 3)
		}
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})

	c, loaded := startLoaded(t, withLog(openDisk(t, crashed)))
	if loaded.Records < 5 || loaded.Unknown != 0 {
		t.Errorf("loaded %+v", loaded)
	}
	conn = dialTo(t, c.Addrs()[0])
	if code := heartbeat(t, conn, "members", id, generation); code != 0 {
		t.Errorf("heartbeat: %d", code)
	}
	if got := committed(t, conn, true, "committed", "open"); !slices.Equal(got, []int64{8, -1}) {
		t.Errorf("offsets of transactions: %v", got)
	}
	if got := committed(t, conn, true, "simple"); !slices.Equal(got, []int64{7}) {
		t.Errorf("offset: %v", got)
	}
}

// A transaction whose producer is known to the cluster that is started again goes on: it is open until that one ends it.
func TestTransactionOutlivesItsCluster(t *testing.T) {
	for _, commit := range []bool{true, false} {
		fs, records := vfs.NewMem(), t.TempDir()
		kept := func(o *server.ClusterOptions) { o.Records = records }
		disk := openDisk(t, fs)
		c, _ := startLoaded(t, withLog(disk), kept)
		p := newTxnProducer(t, c, time.Minute)
		p.add("g")
		if code := p.commitOffset(dialTo(t, c.Addrs()[0]), "g", 8, 3); code != 0 {
			t.Fatal(code)
		}
		if err := errors.Join(c.Close(), disk.Close()); err != nil {
			t.Fatal(err)
		}
		c, _ = startLoaded(t, withLog(openDisk(t, fs)), kept)
		conn := dialTo(t, c.Addrs()[0])
		if got := committed(t, conn, true, "g"); got[0] != 1000+int64(core.UnstableOffsetCommit) {
			t.Errorf("before its end: %v", got)
		}
		p.conn = conn
		p.end(commit, 3)
		want := int64(-1)
		if commit {
			want = 8
		}
		if got := committed(t, conn, true, "g"); got[0] != want {
			t.Errorf("after its end: %v, want %d", got, want)
		}
	}
}

// slowLog is a log that keeps what it is told to, when it is told to.
type slowLog struct {
	*store.Memory
	asked chan core.Append // what is to be written
	loads chan error       // a load waits for one

	mu   sync.Mutex
	open []func()
}

func newSlowLog() *slowLog {
	return &slowLog{Memory: store.NewMemory(), asked: make(chan core.Append, 100), loads: make(chan error)}
}

func (s *slowLog) Append(p int32, w core.Append, done func(error)) {
	s.mu.Lock()
	s.open = append(s.open, func() { done(nil) })
	s.mu.Unlock()
	s.asked <- w
}

func (s *slowLog) Load(int32, func([]core.Record) error) (store.Loaded, error) {
	s.mu.Lock()
	open := len(s.open)
	s.mu.Unlock()
	if open > 0 {
		return store.Loaded{}, errors.New("read while it is being written")
	}
	return store.Loaded{}, <-s.loads
}

// keep lets all end that has been asked.
func (s *slowLog) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, done := range s.open {
		done()
	}
	s.open = nil
}

func onePartition(o *server.ClusterOptions) { o.Partitions = 1 }

// Nothing that writes is answered before it is written: not a commit, not a leader's assignment, not the end of a transaction, not that of a topic with its offsets, and
// the first generation of a group comes after its record.
func TestNothingIsAnsweredBeforeItIsWritten(t *testing.T) {
	log := newSlowLog()
	c, _ := startCluster(t, withLog(log), onePartition)
	conn, other := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	if got := commitOffset(t, conn, "g", 1); got != core.CoordinatorLoadInProgress {
		t.Errorf("a commit while groups are being loaded: %d", got)
	}
	log.loads <- nil
	if _, err := c.AwaitLoad(deadline(t)); err != nil {
		t.Fatal(err)
	}
	is := int64(-1)
	waits := func(what string, conn net.Conn, req kmsg.Request, version int16) kmsg.Response {
		t.Helper()
		write(t, conn, frame(req, version, 5))
		<-log.asked
		if got := committed(t, other, false, "g"); got[0] != is { // what the coordinator was asked before, it has taken by now
			t.Errorf("%s: seen before it is written: %v", what, got)
		}
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n > 0 || !isTimeout(err) {
			t.Fatalf("%s: answered before it is written (%v)", what, err)
		}
		log.keep()
		return read(t, conn, req, 5)
	}
	j := waits("a JoinGroup that makes a group", conn, joinReq("new", ""), 3).(*kmsg.JoinGroupResponse)
	if s := waits("SyncGroup", conn, syncReq("new", j.MemberID, j.Generation), 3).(*kmsg.SyncGroupResponse); s.ErrorCode != 0 {
		t.Errorf("SyncGroup: %d", s.ErrorCode)
	}
	p := newTxnProducer(t, c, time.Minute)
	p.add("g")
	txn := kmsg.NewPtrTxnOffsetCommitRequest()
	txn.TransactionalID, txn.ProducerID, txn.ProducerEpoch, txn.Group, txn.Generation = "tx", p.id, p.epoch, "g", -1
	txn.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: 1, Offset: 3, LeaderEpoch: -1}}}}
	waits("TxnOffsetCommit", conn, txn, 3)
	end := kmsg.NewPtrEndTxnRequest()
	end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = "tx", p.id, p.epoch, true
	if r := waits("EndTxn", p.conn, end, 3).(*kmsg.EndTxnResponse); r.ErrorCode != 0 {
		t.Errorf("EndTxn: %d", r.ErrorCode)
	}
	if got := committed(t, other, true, "g"); got[0] != 3 {
		t.Errorf("after the transaction: %v", got)
	}
	is = 3
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.TopicNames = []string{"t"}
	if r := waits("DeleteTopics", conn, remove, 5).(*kmsg.DeleteTopicsResponse).Topics[0]; r.ErrorCode != 0 {
		t.Errorf("DeleteTopics: %d", r.ErrorCode)
	}
}

// A coordinator that takes over reads the log once all is there that the one before has written.
func TestLoadsWhatIsOnItsWay(t *testing.T) {
	log := newSlowLog()
	c, _ := startCluster(t, withLog(log), onePartition)
	log.loads <- nil
	if _, err := c.AwaitLoad(deadline(t)); err != nil {
		t.Fatal(err)
	}
	conn, other := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	req := commitReq("g", 1)
	write(t, conn, frame(req, 8, 5))
	<-log.asked
	moved := make(chan error, 1)
	go func() { moved <- c.Move("g", 0, 0) }()
	if r := read(t, conn, req, 5).(*kmsg.OffsetCommitResponse); r.Topics[0].Partitions[0].ErrorCode != core.NotCoordinator {
		t.Errorf("the commit that was on its way: %+v", r)
	}
	if got := committed(t, other, false, "g"); got[0] != 1000+int64(core.CoordinatorLoadInProgress) {
		t.Errorf("while it is on its way: %v", got)
	}
	log.keep()
	log.loads <- nil
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
	if got := committed(t, other, false, "g"); got[0] != -1 {
		t.Errorf("after the load: %v", got)
	}
}

// What cannot be loaded is not served, and who started the cluster is told why.
func TestLoadFails(t *testing.T) {
	log := newSlowLog()
	c, reports := startCluster(t, withLog(log), onePartition)
	damaged := errors.New("damaged")
	log.loads <- damaged
	if _, err := c.AwaitLoad(deadline(t)); !errors.Is(err, damaged) {
		t.Errorf("AwaitLoad: %v", err)
	}
	if err := <-reports; !errors.Is(err, damaged) {
		t.Errorf("reported: %v", err)
	}
	if code := commitOffset(t, dialTo(t, c.Addrs()[0]), "g", 1); code != core.NotCoordinator {
		t.Errorf("a commit: %d", code)
	}
}

// brokenLog refuses all writes.
type brokenLog struct{ *store.Memory }

func (brokenLog) Append(_ int32, _ core.Append, done func(error)) { done(errors.New("full")) }

// Where the log cannot be written any more the groups are given up: memory does not go on without it.
func TestWritesFail(t *testing.T) {
	c, _ := startCluster(t, withLog(brokenLog{store.NewMemory()}), onePartition)
	conn := dialTo(t, c.Addrs()[0])
	if _, err := c.AwaitLoad(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if got := committed(t, conn, false, "g"); got[0] != -1 {
		t.Fatalf("before: %v", got)
	}
	for range 2 {
		if code := commitOffset(t, conn, "g", 1); code != core.NotCoordinator {
			t.Errorf("a commit: %d", code)
		}
	}
	if got := committed(t, conn, false, "g"); got[0] != 1000+int64(core.NotCoordinator) {
		t.Errorf("after: %v", got)
	}
	p := newTxnProducer(t, c, time.Minute)
	p.add("g")
	end := kmsg.NewPtrEndTxnRequest()
	end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = "tx", p.id, p.epoch, true
	write(t, p.conn, frame(end, 3, 5))
	if n, err := p.conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("the end of a transaction that cannot be written is answered")
	}
}
