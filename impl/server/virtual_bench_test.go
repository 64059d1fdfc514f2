package server_test

import (
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/internal/cputime"
)

// TestVirtualLifetimes makes groups over a network in memory and lets each of them die of its session timeout, on virtual time, here and on kfake, and
// tells how many lifetimes that are in a second of the clock on the wall and of the processor. It measures, so it runs where it is asked to, and holds nobody to a number.
func TestVirtualLifetimes(t *testing.T) {
	if os.Getenv("MUSTER_BENCH") == "" {
		t.Skip("a benchmark, which synctest does not allow to be one: MUSTER_BENCH=1 makes it run")
	}
	const lifetimes = 3000
	for range 3 {
		for _, side := range []struct {
			name  string
			start func(*testing.T, *kfake.VirtualNetwork) (addr string, stop func())
		}{{"muster", virtualServer}, {"kfake", virtualFake}} {
			var took time.Duration
			begun, spent := time.Now(), cputime.Used()
			synctest.Test(t, func(t *testing.T) {
				var network kfake.VirtualNetwork
				addr, stop := side.start(t, &network)
				defer stop()
				conn, err := network.DialContext(t.Context(), "tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				from := time.Now()
				for range lifetimes {
					lifetime(t, conn)
				}
				took = time.Since(from)
			})
			if took < lifetimes*11*time.Second {
				t.Fatalf("only %v have passed", took)
			}
			t.Logf("%-6s %6.0f lifetimes/s, %6.0f in a second of the processor; %v passed",
				side.name, lifetimes/time.Since(begun).Seconds(), lifetimes/(cputime.Used()-spent).Seconds(), took.Round(time.Minute))
		}
	}
}

func virtualServer(t *testing.T, network *kfake.VirtualNetwork) (string, func()) {
	c, err := server.StartCluster(server.ClusterOptions{Addr: "localhost:9092", Listen: network.Listen, Settings: core.Settings{MinSessionTimeout: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Addrs()[0], func() { _ = c.Close() }
}

func virtualFake(t *testing.T, network *kfake.VirtualNetwork) (string, func()) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ListenFn(func(string, string) (net.Listener, error) { return network.Listen("tcp", "localhost:9092") }),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	if err != nil {
		t.Fatal(err)
	}
	return c.ListenAddrs()[0], c.Close
}

// lifetime is a group from its first member until that has been silent for too long, 11 s later.
func lifetime(t *testing.T, conn net.Conn) {
	join := joinReq("g", "")
	j := ask(t, conn, join, 3).(*kmsg.JoinGroupResponse)
	if j.ErrorCode != core.None {
		t.Fatalf("JoinGroup: %d", j.ErrorCode)
	}
	ask(t, conn, syncReq("g", j.MemberID, j.Generation), 3)
	time.Sleep(11 * time.Second)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", j.MemberID, j.Generation
	if r := ask(t, conn, beat, 3).(*kmsg.HeartbeatResponse); r.ErrorCode != core.UnknownMemberID && r.ErrorCode != core.GroupIDNotFound {
		t.Fatalf("after its session: %d", r.ErrorCode) // kfake has forgotten the group, too
	}
}
