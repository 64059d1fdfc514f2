package server_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// silent checks that nothing comes on a connection for a while.
func silent(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); !isTimeout(err) {
		t.Errorf("%d bytes came, %v; want silence", n, err)
	}
}

// gone checks that the server has closed a connection.
func gone(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || isTimeout(err) {
		t.Errorf("%d bytes came, %v; want the connection closed", n, err)
	}
}

func list() *kmsg.ListGroupsRequest { return kmsg.NewPtrListGroupsRequest() }

// A reply that is dropped was given all the same, and nothing that comes after it on that connection arrives.
func TestFaultDropsReply(t *testing.T) {
	c, _ := startCluster(t, withFaults(t, "drop the reply of the 2nd OffsetCommit of group g"))
	conn, other := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	commitOffset(t, conn, "h", 1)
	commitOffset(t, conn, "g", 1)
	write(t, conn, frame(commitReq("g", 2), 8, 9))
	silent(t, conn)
	if got := committed(t, other, true, "g"); got[0] != 2 {
		t.Errorf("the commit whose reply was dropped: %v", got)
	}
	write(t, conn, frame(commitReq("g", 3), 8, 10))
	silent(t, conn)
	if got := committed(t, other, true, "g"); got[0] != 3 {
		t.Errorf("the commit after it: %v", got)
	}
}

// A request that is dropped is not seen by the coordinator; nor is anything after it, as where a network has lost it.
func TestFaultDropsRequest(t *testing.T) {
	c, _ := startCluster(t, withFaults(t, "drop the request of the 1st OffsetCommit"))
	conn, other := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	write(t, conn, append(frame(commitReq("g", 2), 8, 9), frame(commitReq("g", 3), 8, 10)...))
	silent(t, conn)
	if got := committed(t, other, true, "g"); got[0] != -1 {
		t.Errorf("a commit was done: %v", got)
	}
}

func TestFaultCloses(t *testing.T) {
	c, _ := startCluster(t, withFaults(t, "close the connection before the 1st OffsetCommit\nclose the connection after the 2nd OffsetCommit"))
	first, second, other := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	write(t, first, frame(commitReq("g", 2), 8, 9))
	gone(t, first)
	if got := committed(t, other, true, "g"); got[0] != -1 {
		t.Errorf("closed before: %v", got)
	}
	write(t, second, frame(commitReq("g", 3), 8, 9))
	gone(t, second)
	if got := committed(t, other, true, "g"); got[0] != 3 {
		t.Errorf("closed after: %v", got)
	}
}

func TestFaultDelaysAndAnswers(t *testing.T) {
	c, reports := startCluster(t, withFaults(t, `
# the first is late, the second is refused
delay the request of the 1st OffsetCommit by 40ms
delay the reply of the 1st OffsetCommit by 40ms
answer the 2nd OffsetCommit of group "g" of client client on node 0 with COORDINATOR_NOT_AVAILABLE
answer every ListGroups with UNKNOWN_SERVER_ERROR
`))
	conn, begun := dialTo(t, c.Addrs()[0]), time.Now()
	if code := commitOffset(t, conn, "g", 1); code != 0 || time.Since(begun) < 80*time.Millisecond {
		t.Errorf("the first: %d after %v, want it 80ms late", code, time.Since(begun))
	}
	for i, want := range []int16{core.CoordinatorNotAvailable, 0} {
		if code := commitOffset(t, conn, "g", int64(2+i)); code != want {
			t.Errorf("%d: %d, want %d", i+2, code, want)
		}
	}
	for range 2 {
		if r := ask(t, conn, list(), 4).(*kmsg.ListGroupsResponse); r.ErrorCode != core.UnknownServerError {
			t.Errorf("%+v", r)
		}
	}
	if err := <-reports; !strings.Contains(err.Error(), "fault of faults:3: delay the request") || !strings.HasSuffix(err.Error(), `, which hit OffsetCommit of client "client", group "g"`) {
		t.Errorf("reported: %v", err)
	}
}

// A write that fails is answered so, and has no effect; one that times out has one, later.
func TestFaultFailsAppends(t *testing.T) {
	t.Parallel()
	c, reports := startCluster(t, withFaults(t, "fail the 2nd append of group g with NOT_LEADER_FOR_PARTITION\nfail the 3rd append of group g with REQUEST_TIMED_OUT"))
	conn := dialTo(t, c.Addrs()[0])
	for offset, want := range []int16{0, core.NotCoordinator, core.CoordinatorNotAvailable} {
		if code := commitOffset(t, conn, "g", int64(offset)); code != want {
			t.Errorf("commit %d: %d, want %d", offset, code, want)
		}
	}
	if err := <-reports; !strings.HasSuffix(err.Error(), `, which hit a write of group "g"`) {
		t.Errorf("reported: %v", err)
	}
	if got := committed(t, conn, false, "g"); got[0] != 0 {
		t.Errorf("while the last one is late: %v", got)
	}
	for deadline := time.Now().Add(patience); committed(t, conn, false, "g")[0] != 2; time.Sleep(time.Millisecond) { // wall time
		if time.Now().After(deadline) {
			t.Fatal("the write that had timed out never had its effect")
		}
	}
}

// A real client gets over a coordinator that moves in the middle of a rebalance, a lost reply and a heartbeat that is refused.
func TestFranzGoGetsOverFaults(t *testing.T) {
	c, _ := startCluster(t, nodes(3), withFaults(t, `
move the coordinator at the 2nd JoinGroup of group g loading for 50ms
close the connection after the 1st SyncGroup of group g
answer the 3rd Heartbeat of group g with NOT_COORDINATOR
move the coordinator at every 10th Heartbeat of group g
`))
	cl := client(t, c)
	adm := kadm.NewClient(cl)
	var members []*kgo.Client
	for range 2 {
		members = append(members, client(t, c, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t"), kgo.DisableAutoCommit(), kgo.HeartbeatInterval(10*time.Millisecond), kgo.FetchMaxWait(50*time.Millisecond)))
	}
	waitGroup(t, adm, "g", 2)
	produce(t, cl, "t", 50)
	consume(t, 50, members...)
	if err := members[0].CommitUncommittedOffsets(deadline(t)); err != nil {
		t.Errorf("commit: %v", err)
	}
}

// The end of a transaction that cannot be written is written again, as Kafka does with markers: whoever ends it is answered, and its offsets count.
func TestFaultFailsMarkers(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"NOT_ENOUGH_REPLICAS", "NOT_LEADER_OR_FOLLOWER", "KAFKA_STORAGE_ERROR", "REQUEST_TIMED_OUT"} {
		for _, commit := range []bool{true, false} {
			for where, change := range map[string]func(*server.ClusterOptions){
				"in memory": func(*server.ClusterOptions) {}, "on disk": withLog(openDisk(t, vfs.NewMem())),
			} {
				c, _ := startLoaded(t, change, withFaults(t, "fail the 2nd append with "+code+"\nfail the 3rd append with "+code))
				conn := dialTo(t, c.Addrs()[0])
				p := newTxnProducer(t, c, time.Minute)
				p.add("g")
				if code := p.commitOffset(conn, "g", 10, 3); code != 0 {
					t.Fatal(code)
				}
				p.end(commit, 3)
				want := int64(-1)
				if commit {
					want = 10
				}
				if got := committed(t, conn, true, "g"); got[0] != want {
					t.Errorf("%s %s, commit %v: %v, want %d", code, where, commit, got, want)
				}
			}
		}
	}
}
