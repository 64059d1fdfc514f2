package server

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

var (
	aJoin = core.Request{Message: &kmsg.JoinGroupRequest{}}
	aBeat = core.Request{Message: &kmsg.HeartbeatRequest{}}
)

// meetings are requests of n connections in a period.
func meetings(g *gate, n int, period int64) {
	for range n {
		g.meet(period-1, period<<periodBits)
	}
}

// Few are let pass; the requests of a crowd wait for each other, but for heartbeats.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.room = make(chan struct{}, 1)
		meetings(g, crowd-1, 7)
		g.meet(7, 7<<periodBits) // one of them once more
		if g.enter(aJoin) {
			t.Errorf("%d connections are held back", crowd-1)
		}
		if meetings(g, 1, 7); !g.enter(aJoin) {
			t.Fatalf("%d connections are no crowd", crowd)
		}
		second := false
		go func() { second = g.enter(aJoin) }()
		synctest.Wait()
		if second {
			t.Error("the second JoinGroup does not wait for the first")
		}
		if g.enter(aBeat) {
			t.Error("a heartbeat is held back")
		}
		g.leave()
		synctest.Wait()
		if !second {
			t.Error("the second JoinGroup waits for nobody")
		}
		g.leave()
		if meetings(g, 1, 8); !g.enter(aJoin) {
			t.Error("the crowd of the period before is forgotten")
		}
		g.leave()
		if meetings(g, 1, 10); g.enter(aJoin) {
			t.Error("a crowd of long ago holds others back")
		}
	})
}

// One that is parked is not inside any more.
func TestGateParked(t *testing.T) {
	c, err := StartCluster(ClusterOptions{Settings: core.Settings{InitialRebalanceDelay: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.gate.room = make(chan struct{}, 1)
	v := &visit{node: c.nodes[0], conn: &conn{}}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = "g", "consumer", 10_000, 10_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	c.gate.busy.Store(crowd)
	c.gate.period.Store(1)
	shard := c.shardOf("g")
	answered := make(chan error)
	go func() {
		_, err := v.ask(shard, core.Request{Message: req, Version: 3})
		answered <- err
	}()
	for parked := 0; parked == 0; runtime.Gosched() {
		shard.do(func() { parked = len(shard.waiting) })
	}
	select {
	case c.gate.room <- struct{}{}:
	case <-time.After(10 * time.Second):
		t.Error("a JoinGroup that is parked keeps others out")
	}
	c.gate.leave()
	shard.do(func() { shard.step(core.Unload{}) })
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if n := len(c.gate.room); n != 0 {
		t.Errorf("%d are inside once all is over", n)
	}
}
