package server_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// A whole cluster runs on virtual time, over a network in memory: the timeouts of its groups, transactions and connections take no time.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network kfake.VirtualNetwork
		c, err := server.StartCluster(server.ClusterOptions{Addr: "localhost:9092", Nodes: 2, Listen: network.Listen, Topics: map[string]int32{"t": 4}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		dial := func(node int32) net.Conn {
			conn, err := network.DialContext(t.Context(), "tcp", c.Addrs()[node])
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			return conn
		}
		g := groupOn(t, c, 1, 0)
		conn, begun := dial(1), time.Now()
		join := joinReq(g, "")
		join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 1_800_000, 1_800_000
		leader := ask(t, conn, join, 3).(*kmsg.JoinGroupResponse).MemberID
		ask(t, conn, syncReq(g, leader, 1), 5)

		idle := dial(0)
		time.Sleep(29 * time.Minute)
		gone(t, idle)
		conn = dial(1) // the first is gone too
		waitFor(t, conn, g, "Stable", 1)

		// Its coordinator moves, which takes a while.
		if err := c.Move(g, 0, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		if r := ask(t, dial(0), joinReq(g, leader), 9).(*kmsg.JoinGroupResponse); r.ErrorCode != core.CoordinatorLoadInProgress {
			t.Errorf("while loading: %d", r.ErrorCode)
		}
		// Its session begins anew when the groups have been loaded.
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		time.Sleep(30*time.Minute - time.Second)
		waitFor(t, dial(0), g, "Stable", 1)
		time.Sleep(2 * time.Second)
		waitFor(t, dial(0), g, "Empty", 0)
		if passed := time.Since(begun); passed < 69*time.Minute {
			t.Errorf("only %v have passed", passed)
		}
	})
}
