package server

import (
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

// Crash is what a kill of all nodes does to groups: connections are cut, new ones are refused, and all that is not in a log is forgotten. Topics, records and
// transactions are kfake's and stay. It returns when nobody is served any more.
func (c *Cluster) Crash() {
	for _, n := range c.nodes {
		n.listener.cut()
	}
	for _, l := range c.shards {
		l.do(func() {
			l.loads++ // a load that goes on ends with it
			l.step(core.Unload{})
		})
	}
	deadline := time.Now().Add(grace)
	for _, n := range c.nodes {
		n.listener.await(deadline)
	}
}

// Recover is the start after a Crash: the nodes load their groups from the logs, and serve.
func (c *Cluster) Recover() {
	for _, l := range c.shards {
		l.move(l.leader.Load(), 0)
	}
	for _, n := range c.nodes {
		n.listener.restore()
	}
}
