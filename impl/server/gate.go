package server

import (
	"runtime"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// gate keeps one processor free while many clients send requests at a time. A request is done by the goroutine that has read it, and Go asks the network for
// others only once nobody has anything to do: with a crowd that is never, and a Heartbeat, which costs next to nothing, waits for all that came before
// it. So those of a crowd wait here for each other, in their order, and do not keep others from being read.
//
// With few clients that would be a change of goroutines for each request, and nobody better off.
type gate struct {
	room chan struct{} // for those that are inside

	period     atomic.Int64 // the current one
	busy       atomic.Int64 // connections that have had a request in it
	busyBefore atomic.Int64 // and in the one before
}

// crowd is how many connections are one.
const crowd = 64

// periodBits say how long a period is: 2^24 ns are 17 ms.
const periodBits = 24

func newGate() *gate {
	return &gate{room: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
}

// meet takes note of a connection that has a request. last is the period in which it had one before; the new one is returned.
func (g *gate) meet(last, nanos int64) int64 {
	now := nanos >> periodBits
	if last == now {
		return now
	}
	if was := g.period.Load(); was < now && g.period.CompareAndSwap(was, now) {
		busy := g.busy.Swap(0)
		if was < now-1 {
			busy = 0 // that was longer ago
		}
		g.busyBefore.Store(busy)
	}
	g.busy.Add(1)
	return now
}

// enter lets a request in, if it has to wait for others at all; then it has to leave.
func (g *gate) enter(r core.Request) bool {
	if max(g.busy.Load(), g.busyBefore.Load()) < crowd {
		return false
	}
	if _, quick := r.Message.(*kmsg.HeartbeatRequest); quick {
		return false
	}
	g.room <- struct{}{}
	return true
}

func (g *gate) leave() { <-g.room }
