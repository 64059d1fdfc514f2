package server_test

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// countingListener counts what its connections write.
type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// Answers to requests that came together leave together, and those that are there do not wait for one that is parked.
func TestAnswersTogether(t *testing.T) {
	var writes atomic.Int64
	c, _ := startCluster(t, func(o *server.ClusterOptions) {
		o.Listen = func(network, addr string) (net.Listener, error) {
			l, err := net.Listen(network, addr)
			return countingListener{l, &writes}, err
		}
	})
	conn := dialTo(t, c.Addrs()[0])
	leader := ask(t, conn, joinReq("g", ""), 3).(*kmsg.JoinGroupResponse)
	ask(t, conn, syncReq("g", leader.MemberID, leader.Generation), 5)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", leader.MemberID, leader.Generation
	commit, groups := commitReq("g", 5), list()
	var all []byte
	for i := range int32(20) {
		all = append(all, frame(beat, 4, 2*i)...)
		all = append(all, frame(commit, 8, 2*i+1)...) // refused: it is no member's
	}
	writes.Store(0)
	write(t, conn, all)
	for i := range int32(20) {
		if r := read(t, conn, beat, 2*i).(*kmsg.HeartbeatResponse); r.ErrorCode != core.None {
			t.Errorf("heartbeat %d: %d", i, r.ErrorCode)
		}
		if r := read(t, conn, commit, 2*i+1).(*kmsg.OffsetCommitResponse); r.Topics[0].Partitions[0].ErrorCode != core.UnknownMemberID {
			t.Errorf("commit %d: %d", i, r.Topics[0].Partitions[0].ErrorCode)
		}
	}
	if n := writes.Load(); n > 5 { // the system may split what was sent
		t.Errorf("40 answers in %d writes", n)
	}

	// One more member waits for the leader, on the connection that has asked something before.
	join := joinReq("g", "")
	other := dialTo(t, c.Addrs()[0])
	write(t, other, append(frame(groups, 4, 1), frame(join, 3, 2)...))
	if r := read(t, other, groups, 1).(*kmsg.ListGroupsResponse); len(r.Groups) != 1 {
		t.Errorf("%+v", r)
	}
	waitFor(t, conn, "g", "PreparingRebalance", 2)
	beat.Generation = leader.Generation
	if r := ask(t, conn, beat, 4).(*kmsg.HeartbeatResponse); r.ErrorCode != core.RebalanceInProgress {
		t.Errorf("while the group rebalances: %d", r.ErrorCode)
	}
	ask(t, conn, joinReq("g", leader.MemberID), 9)
	if r := read(t, other, join, 2).(*kmsg.JoinGroupResponse); r.Generation != 2 {
		t.Errorf("who waited: %+v", r)
	}
}
