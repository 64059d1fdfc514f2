package rdkafka

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/wire"
)

// conn is a connection to the process of the group that its first request names. It implements target.Conn.
type conn struct {
	target   *Target
	clientID string
	own      string // stands for the empty group id: scenarios must not meet there

	mu     sync.Mutex
	group  string
	node   *node
	inner  target.Conn
	closed bool
}

// Send implements target.Conn.
func (c *conn) Send(req kmsg.Request, version int16) *target.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	inner, err := c.open(wire.GroupOf(req))
	if err != nil {
		now := time.Now()
		call := target.NewCall(req, version, now)
		call.Finish(nil, err, now)
		return call
	}
	return shifted(inner, req, version)
}

// open opens the connection where the group is.
func (c *conn) open(group string) (target.Conn, error) {
	if c.closed {
		return nil, target.ErrClosed
	}
	switch {
	case c.inner != nil && (group == "" || group == c.group):
		return c.inner, nil
	case group == "":
		group = c.own
	}
	c.drop()
	n, err := c.target.take(group)
	if err != nil {
		return nil, err
	}
	c.group, c.node = group, n
	if n.process.crashed() != nil {
		return nil, target.ErrClosed // nothing is there any more
	}
	inner, err := n.wire.Dial(context.Background(), c.clientID) // bounded by the timeout of wire
	if err != nil {
		return nil, target.ErrClosed
	}
	c.inner = inner
	return inner, nil
}

// drop ends what is open.
func (c *conn) drop() {
	if c.inner != nil {
		_ = c.inner.Close()
		c.inner = nil
	}
	if c.node != nil {
		c.target.give(c.group, c.node)
		c.node = nil
	}
}

// Close implements target.Conn.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.drop()
	return nil
}

// first is the mock's generation that is Kafka's first.
const first = 2

// shifted sends a request with the generations as the mock counts them, and ends the call with the answer as Kafka counts.
func shifted(inner target.Conn, req kmsg.Request, version int16) *target.Call {
	sent := inner.Send(toMock(req), version)
	call := target.NewCall(req, version, sent.Sent)
	go func() {
		<-sent.Done()
		resp, err := sent.Answer()
		if joined, ok := resp.(*kmsg.JoinGroupResponse); ok && joined.Generation >= first {
			joined.Generation -= first - 1
		}
		call.Finish(resp, err, sent.Finished())
	}()
	return call
}

// toMock returns the request with the mock's generation; the one given stays as it is.
func toMock(req kmsg.Request) kmsg.Request {
	up := func(generation int32) int32 {
		if generation < 1 {
			return generation
		}
		return generation + first - 1
	}
	switch r := req.(type) {
	case *kmsg.SyncGroupRequest:
		m := *r
		m.Generation = up(r.Generation)
		return &m
	case *kmsg.HeartbeatRequest:
		m := *r
		m.Generation = up(r.Generation)
		return &m
	case *kmsg.OffsetCommitRequest:
		m := *r
		m.Generation = up(r.Generation)
		return &m
	}
	return req
}
