package server_test

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

func limited(l server.Limits) func(*server.ClusterOptions) {
	return func(o *server.ClusterOptions) { o.Limits = l }
}

// A thousand connections that say nothing, half a head, or half a request do not keep others from being served.
func TestHalfOpenConnections(t *testing.T) {
	c, _ := startCluster(t)
	half := frame(joinReq("g", ""), 9, 1)
	for i := range 1000 {
		write(t, dialTo(t, c.Addrs()[0]), half[:[]int{0, 2, 4, len(half) - 1}[i%4]])
	}
	conn := dialTo(t, c.Addrs()[0])
	if code := commitOffset(t, conn, "g", 1); code != 0 {
		t.Errorf("a commit: %d", code)
	}
	meta := kmsg.NewPtrMetadataRequest()
	if r := ask(t, conn, meta, 12).(*kmsg.MetadataResponse); len(r.Brokers) != 1 {
		t.Errorf("%+v", r)
	}
}

// Where there are as many connections as there may be, one more takes the place of the one that has been idle for longest; not of one that
// waits for its answer.
func TestConnectionsMakeRoom(t *testing.T) {
	c, _ := startCluster(t, limited(server.Limits{Connections: 3}))
	addr := c.Addrs()[0]
	parked, used := dialTo(t, addr), dialTo(t, addr)
	leader := ask(t, used, joinReq("g", ""), 3).(*kmsg.JoinGroupResponse).MemberID
	ask(t, used, syncReq("g", leader, 1), 5)
	join := joinReq("g", "")
	write(t, parked, frame(join, 3, 1))
	waitFor(t, used, "g", "PreparingRebalance", 2)
	idle := dialTo(t, addr)
	waitFor(t, used, "g", "PreparingRebalance", 2) // which is later still
	fourth := dialTo(t, addr)
	if r := ask(t, fourth, list(), 4).(*kmsg.ListGroupsResponse); r.ErrorCode != 0 {
		t.Errorf("the fourth: %+v", r)
	}
	gone(t, idle)
	if r := ask(t, used, list(), 4).(*kmsg.ListGroupsResponse); len(r.Groups) != 1 {
		t.Errorf("the one that was used: %+v", r)
	}
	ask(t, used, joinReq("g", leader), 9)
	if r := read(t, parked, join, 1).(*kmsg.JoinGroupResponse); r.Generation != 2 {
		t.Errorf("who waited: %+v", r)
	}
}

// A connection without requests ends, and one in the middle of a request ends sooner.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	c, reports := startCluster(t, limited(server.Limits{Idle: time.Second, Partial: 30 * time.Millisecond}))
	idle, half := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	write(t, half, []byte{0, 0, 0, 20, 0, 11})
	gone(t, half)
	if err := <-reports; !strings.Contains(err.Error(), "begun and not ended within 30ms") {
		t.Errorf("reported: %v", err)
	}
	if r := ask(t, idle, list(), 4).(*kmsg.ListGroupsResponse); r.ErrorCode != 0 { // it was idle for less
		t.Errorf("%+v", r)
	}
	gone(t, idle)
	select {
	case err := <-reports:
		t.Errorf("reported: %v", err)
	default:
	}
}

// big is a Heartbeat of that many bytes: unknown tagged fields may be anything.
func big(size int) []byte {
	body := frame(kmsg.NewPtrHeartbeatRequest(), 4, 1)[4:]
	body = body[:len(body)-1] // the count of tagged fields
	body = append(body, 1, 99)
	pad := size - len(body) - 5
	body = append(body, byte(pad)|0x80, byte(pad>>7)|0x80, byte(pad>>14)|0x80, byte(pad>>21)|0x80, byte(pad>>28))
	return append(binary.BigEndian.AppendUint32(nil, uint32(size)), append(body, make([]byte, pad)...)...)
}

// What large requests take is bounded for all connections together: one waits until another has been read, and gives up when its time is over.
func TestMemoryOfRequests(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	c, reports := startCluster(t, limited(server.Limits{Frame: mib, Memory: mib, Partial: time.Second}))
	holds, waits := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	write(t, waits, big(mib)) // there is room
	if r := read(t, waits, &kmsg.HeartbeatRequest{Version: 4}, 1).(*kmsg.HeartbeatResponse); r.ErrorCode != core.InvalidGroupID {
		t.Errorf("alone: %+v", r)
	}
	write(t, holds, big(mib)[:mib-10]) // never ends
	go func() { _, _ = waits.Write(big(mib)) }()
	if r := ask(t, dialTo(t, c.Addrs()[0]), list(), 4).(*kmsg.ListGroupsResponse); r.ErrorCode != 0 {
		t.Errorf("a small one: %+v", r)
	}
	gone(t, holds)
	for range 2 { // who held, and who may have waited too long for it
		select {
		case err := <-reports:
			if !strings.Contains(err.Error(), "within 1s") {
				t.Errorf("reported: %v", err)
			}
		case <-time.After(100 * time.Millisecond):
		}
	}
	again := dialTo(t, c.Addrs()[0])
	write(t, again, big(mib))
	if r := read(t, again, &kmsg.HeartbeatRequest{Version: 4}, 1).(*kmsg.HeartbeatResponse); r.ErrorCode != core.InvalidGroupID {
		t.Errorf("afterwards: %+v", r) // nothing of what was taken is lost
	}
	over := dialTo(t, c.Addrs()[0])
	write(t, over, []byte{0, 16, 0, 1})
	gone(t, over)
	if err := <-reports; !strings.Contains(err.Error(), "frame of 1048577 bytes") {
		t.Errorf("reported: %v", err)
	}
}

// A request that is a list takes up many times its bytes once it is read: it may be smaller than one that carries what others have written.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	c, reports := startCluster(t)
	naming := func(topics int) *kmsg.OffsetFetchRequest {
		req := kmsg.NewPtrOffsetFetchRequest()
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = "g"
		for range topics {
			topic := kmsg.NewOffsetFetchRequestGroupTopic()
			topic.Topic = strings.Repeat("t", 249)
			g.Topics = append(g.Topics, topic)
		}
		req.Groups = append(req.Groups, g)
		return req
	}
	conn := dialTo(t, c.Addrs()[0])
	if r := ask(t, conn, naming(10_000), 8).(*kmsg.OffsetFetchResponse); len(r.Groups) != 1 || len(r.Groups[0].Topics) != 10_000 {
		t.Errorf("as many topics as there may be: %d groups", len(r.Groups))
	}
	go func() { _, _ = conn.Write(frame(naming(20_000), 8, 1)) }()
	gone(t, conn)
	select {
	case err := <-reports:
		if !strings.Contains(err.Error(), "OffsetFetch") || !strings.Contains(err.Error(), "4194304") {
			t.Errorf("reported: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("nothing is reported")
	}
	conn = dialTo(t, c.Addrs()[0])
	join := joinReq("g", "")
	join.Protocols[0].Metadata = make([]byte, 5<<20)
	if r := ask(t, conn, join, 3).(*kmsg.JoinGroupResponse); r.ErrorCode != 0 {
		t.Errorf("a large subscription: %d", r.ErrorCode)
	}
}

// Requests that come in one packet are answered in their order, whoever answers them.
func TestPipelining(t *testing.T) {
	c, _ := startCluster(t)
	conn := dialTo(t, c.Addrs()[0])
	commit, meta, versions := commitReq("g", 5), kmsg.NewPtrMetadataRequest(), kmsg.NewPtrApiVersionsRequest()
	silent := kmsg.NewPtrProduceRequest() // acks=0 has no answer
	var all []byte
	for i := range int32(50) {
		for n, req := range []kmsg.Request{commit, meta, silent, versions} {
			all = append(all, frame(req, []int16{8, 9, 9, 2}[n], 4*i+int32(n))...)
		}
	}
	go func() { _, _ = conn.Write(all) }()
	for i := range int32(50) {
		for n, req := range []kmsg.Request{commit, meta, nil, versions} {
			if req != nil {
				read(t, conn, req, 4*i+int32(n))
			}
		}
	}
}

// Closing answers who waits, ends who is idle, and leaves nothing.
func TestClusterCloses(t *testing.T) {
	c, _ := startCluster(t, nodes(2))
	g := groupOn(t, c, 1, 0)
	addr := c.Addrs()[1]
	used, parked, idle := dialTo(t, addr), dialTo(t, addr), dialTo(t, addr)
	leader := ask(t, used, joinReq(g, ""), 3).(*kmsg.JoinGroupResponse).MemberID
	ask(t, used, syncReq(g, leader, 1), 5)
	join := joinReq(g, "")
	write(t, parked, frame(join, 3, 1))
	waitFor(t, used, g, "PreparingRebalance", 2)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if r := read(t, parked, join, 1).(*kmsg.JoinGroupResponse); r.ErrorCode != core.NotCoordinator {
		t.Errorf("who waited: %+v", r)
	}
	gone(t, idle)
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("still listening")
	}
	if err := c.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := server.StartCluster(server.ClusterOptions{Addr: "127.0.0.1:65535", Nodes: 2}); err == nil || !strings.Contains(err.Error(), "at most 65535") {
		t.Errorf("more nodes than ports: %v", err)
	}
}

// Who waits for records when the cluster is closed is cut off, and nobody is told of that as of a fault.
func TestClosingIsNoFault(t *testing.T) {
	c, reports := startCluster(t)
	fetch := kmsg.NewPtrFetchRequest()
	fetch.MaxWaitMillis, fetch.MinBytes, fetch.MaxBytes, fetch.SessionEpoch = 60_000, 1, 1<<20, -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.PartitionMaxBytes = 1 << 20
	fetch.Topics = []kmsg.FetchRequestTopic{{Topic: "t", Partitions: []kmsg.FetchRequestTopicPartition{p}}}
	var waits []net.Conn
	for range 5 {
		conn := dialTo(t, c.Addrs()[0])
		write(t, conn, frame(fetch, 11, 1))
		silent(t, conn)
		waits = append(waits, conn)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, conn := range waits {
		gone(t, conn)
	}
	select {
	case err := <-reports:
		t.Errorf("reported: %v", err)
	default:
	}
}
