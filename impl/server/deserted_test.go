//go:build unix

package server_test

import (
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/server"
)

// Whoever has closed his connection while his request is parked does not keep others out, nor does it cost another his place. His member goes on waiting: that a client has gone is no
// LeaveGroup.
func TestThoseWhoHaveGoneMakeRoom(t *testing.T) {
	c, _ := startCluster(t, limited(server.Limits{Connections: 4}))
	addr := c.Addrs()[0]
	used := dialTo(t, addr)
	leader := ask(t, used, joinReq("g", ""), 3).(*kmsg.JoinGroupResponse).MemberID
	ask(t, used, syncReq("g", leader, 1), 5)
	join := joinReq("g", "")
	var parked []net.Conn
	for range 3 {
		conn := dialTo(t, addr)
		write(t, conn, frame(join, 3, 1))
		parked = append(parked, conn)
	}
	waitFor(t, used, "g", "PreparingRebalance", 4)
	for _, conn := range parked[:2] {
		_ = conn.Close()
	}
	fourth, fifth := dialTo(t, addr), dialTo(t, addr)
	for _, conn := range []net.Conn{used, fourth, fifth} {
		if r := ask(t, conn, list(), 4).(*kmsg.ListGroupsResponse); r.ErrorCode != 0 {
			t.Errorf("%+v", r)
		}
	}
	waitFor(t, used, "g", "PreparingRebalance", 4)
	ask(t, used, joinReq("g", leader), 9)
	if r := read(t, parked[2], join, 1).(*kmsg.JoinGroupResponse); r.Generation != 2 {
		t.Errorf("who waited: %+v", r)
	}
}
