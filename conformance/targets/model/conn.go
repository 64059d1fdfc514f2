package model

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance/target"
)

// conn serves one request at a time: what is sent while one is parked waits behind it.
type conn struct {
	target *Target
	client string
	closed bool
	busy   *target.Call
	queue  []waiting
}

// waiting is a call that has not been taken up, with its request as the coordinator reads it.
type waiting struct {
	call *target.Call
	read kmsg.Request
}

// Dial opens a connection.
func (t *Target) Dial(_ context.Context, clientID string) (target.Conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, fmt.Errorf("dial %s: the target is closed", t.name)
	}
	c := &conn{target: t, client: clientID}
	t.conns[c] = true
	return c, nil
}

// Send takes up the request at once, or queues it behind a parked one.
func (c *conn) Send(req kmsg.Request, version int16) *target.Call {
	t := c.target
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.machine.Now()
	call := target.NewCall(req, version, now)
	read, err := t.reread(req, version)
	if err != nil {
		call.Finish(nil, err, now)
		return call
	}
	if c.closed {
		call.Finish(nil, target.ErrClosed, now)
		return call
	}
	c.queue = append(c.queue, waiting{call, read})
	c.next()
	t.settle()
	return call
}

// next takes up the oldest request that waits, if none is being served.
func (c *conn) next() {
	for len(c.queue) > 0 && (c.busy == nil || c.busy.Ended()) {
		t := c.target
		first := c.queue[0]
		c.busy, c.queue = first.call, c.queue[1:]
		if resp, ok := t.txns.handle(first.read, c.busy.Version); ok {
			resp, err := reread(resp)
			c.busy.Finish(resp, err, t.machine.Now())
			continue
		}
		verified := int16(0)
		if commit, ok := first.read.(*kmsg.TxnOffsetCommitRequest); ok {
			verified = t.txns.verify(commit, c.busy.Version)
		}
		t.tickets++
		t.open[t.tickets] = &sent{c, c.busy}
		t.machine.FailWrites(t.failing)
		err := t.machine.Do(checker.Request{
			Ticket: t.tickets, Message: first.read, Version: c.busy.Version, ClientID: c.client, Verified: verified,
		})
		if err != nil {
			delete(t.open, t.tickets)
			c.busy.Finish(nil, fmt.Errorf("the model cannot answer: %w", err), t.machine.Now())
		}
	}
}

// Close ends the calls of the connection. The coordinator does not notice.
func (c *conn) Close() error {
	t := c.target
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
	c.close()
	return nil
}

func (c *conn) close() {
	t := c.target
	c.closed = true
	for ticket, s := range t.open {
		if s.conn == c {
			delete(t.open, ticket)
			s.call.Finish(nil, target.ErrClosed, t.machine.Now())
		}
	}
	for _, w := range c.queue {
		w.call.Finish(nil, target.ErrClosed, t.machine.Now())
	}
	c.queue = nil
}

// reread passes a request through its encoding, so that it has the fields of its version and no others.
func (t *Target) reread(req kmsg.Request, version int16) (kmsg.Request, error) {
	name := kmsg.NameForKey(req.Key())
	offered, ok := t.version[req.Key()]
	if !ok {
		return nil, fmt.Errorf("the model does not offer %s", name)
	}
	if !offered.Has(version) {
		return nil, fmt.Errorf("the model offers %s %d to %d, not %d", name, offered.Min, offered.Max, version)
	}
	req.SetVersion(version)
	fresh := kmsg.RequestForKey(req.Key())
	fresh.SetVersion(version)
	if err := fresh.ReadFrom(req.AppendTo(nil)); err != nil {
		return nil, fmt.Errorf("%s version %d does not encode: %w", name, version, err)
	}
	return fresh, nil
}
