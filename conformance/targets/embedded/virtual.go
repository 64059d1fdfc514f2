package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/sim"
)

// errRejected ends a call where a server would close the connection without an answer.
var errRejected = errors.New("the coordinator closes the connection without an answer")

// openCall is a call that the coordinator has not answered, and its connection.
type openCall struct {
	call *target.Call
	conn *conn
}

// virtual is the coordinator in process. All that happens, happens inside Send and Sleep.
type virtual struct {
	options Options

	mu     sync.Mutex
	sim    *sim.Sim
	front  *server.Front
	txns   *server.Transactions
	open   map[core.Ticket]*openCall
	ticket core.Ticket
	closed bool
	life   int // counts restarts
}

// New returns the reference coordinator in process, on virtual time, as target "impl". It may be used from several goroutines, but
// answers are reproducible only for calls in a fixed order.
func New(o Options) (target.Target, error) {
	front := server.NewFront(o.settings(), topics())
	settings := o.settings()
	settings.TopicExists, settings.TopicName, settings.TopicID = front.Exists, front.TopicName, front.TopicID
	return &virtual{options: o, sim: sim.New(o.Seed, settings), front: front, txns: server.NewTransactions(), open: map[core.Ticket]*openCall{}}, nil
}

func (v *virtual) Name() string { return "impl" }

func (v *virtual) Capabilities() target.Capabilities {
	c := capabilities(v.options)
	c.Virtual, c.Scale, c.Restart = true, 1, v.Restart
	c.Inject, c.Faults = v.Inject, target.Faults()
	return c
}

func (v *virtual) Dial(_ context.Context, clientID string) (target.Conn, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, errors.New("dial impl: the target has been closed; open a new one")
	}
	return &conn{v: v, clientID: clientID, life: v.life}, nil
}

func (v *virtual) Clock() target.Clock { return virtualClock{v} }

// Close ends the target; calls without an answer end with target.ErrClosed.
func (v *virtual) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for ticket, o := range v.open {
		delete(v.open, ticket)
		v.abandon(o)
	}
	return nil
}

// Restart ends the coordinator as a crash would and starts it again on its log: all connections are gone. Its transactions stay: they are
// coordinated elsewhere.
func (v *virtual) Restart(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.life++
	for ticket, o := range v.open {
		delete(v.open, ticket)
		v.abandon(o)
	}
	err := v.sim.Failover()
	v.sim.Drain() // nobody is left to hear of it
	return err
}

// deliver ends the calls that the simulation has answered.
func (v *virtual) deliver() {
	out := v.sim.Drain()
	for _, a := range out.Answers {
		resp, err := readBack(a.Message)
		v.finish(a.Ticket, resp, err)
	}
	for _, r := range out.Rejects {
		v.finish(r.Ticket, nil, fmt.Errorf("%w: %s", errRejected, r.Reason))
	}
}

func (v *virtual) finish(t core.Ticket, resp kmsg.Response, err error) {
	o, ok := v.open[t]
	if !ok {
		return // its connection has been closed
	}
	delete(v.open, t)
	o.call.Finish(resp, err, v.sim.Now())
	o.conn.busy = false
	v.serve(o.conn)
}

// abandon ends the calls of a connection that is closed.
func (v *virtual) abandon(o *openCall) {
	for _, call := range append([]*target.Call{o.call}, o.conn.queue...) {
		call.Finish(nil, target.ErrClosed, v.sim.Now())
	}
	o.conn.queue = nil
}

// conn is a connection. Like a broker, it serves one request at a time: one that comes while another is parked waits its turn.
type conn struct {
	v        *virtual
	clientID string
	busy     bool // its last request is parked
	queue    []*target.Call
	closed   bool
	life     int // of the target that it was opened in
}

// Send implements target.Conn: the call has ended when Send returns, unless it, or one before it, is parked.
func (c *conn) Send(req kmsg.Request, version int16) *target.Call {
	v := c.v
	v.mu.Lock()
	defer v.mu.Unlock()
	call := target.NewCall(req, version, v.sim.Now())
	if c.closed || v.closed || c.life != v.life {
		call.Finish(nil, target.ErrClosed, v.sim.Now())
		return call
	}
	arrived, err := onWire(req, version)
	if err != nil {
		call.Finish(nil, err, v.sim.Now())
		return call
	}
	call.Request = arrived
	c.queue = append(c.queue, call)
	v.serve(c)
	return call
}

// serve takes up the requests of a connection until one is parked.
func (v *virtual) serve(c *conn) {
	for !c.busy && len(c.queue) > 0 {
		call := c.queue[0]
		c.queue = c.queue[1:]
		v.take(c, call)
	}
}

func (v *virtual) take(c *conn, call *target.Call) {
	req, version := call.Request, call.Version
	resp, deleted, ok := v.front.Handle(req, version)
	if len(deleted) > 0 {
		v.sim.Step(core.TopicsDeleted{Topics: deleted})
		v.deliver()
	}
	if ok {
		resp, err := readBack(resp)
		call.Finish(resp, err, v.sim.Now())
		return
	}
	resp, marker, ok := v.txns.Handle(req, version)
	if marker != nil {
		v.sim.Step(*marker)
		v.deliver()
	}
	if ok {
		resp, err := readBack(resp)
		call.Finish(resp, err, v.sim.Now())
		return
	}
	if r, known := server.Versions()[kmsg.Key(req.Key())]; !known || !r.Has(version) {
		call.Finish(nil, fmt.Errorf("%w: %s v%d is not served", errRejected, kmsg.NameForKey(req.Key()), version), v.sim.Now())
		return
	}
	verified := core.None
	if commit, ok := req.(*kmsg.TxnOffsetCommitRequest); ok {
		verified = v.txns.Verify(commit, version)
	}
	v.ticket++
	c.busy = true
	v.open[v.ticket] = &openCall{call, c}
	v.sim.Step(core.Request{Ticket: v.ticket, Message: req, Version: version, ClientID: c.clientID, ClientHost: "/127.0.0.1", Verified: verified})
	v.deliver()
}

// onWire is the request as it would arrive over a socket: fields that its version does not have are gone, and nothing is shared with
// the sender.
func onWire(req kmsg.Request, version int16) (kmsg.Request, error) {
	arrived := kmsg.RequestForKey(req.Key())
	if arrived == nil || version < 0 || version > req.MaxVersion() {
		return req, nil // the coordinator says what it thinks of it
	}
	before := req.GetVersion()
	req.SetVersion(version)
	bytes := req.AppendTo(nil)
	req.SetVersion(before)
	arrived.SetVersion(version)
	if err := arrived.ReadFrom(bytes); err != nil {
		return nil, fmt.Errorf("%w: %s v%d cannot be read: %w", errRejected, kmsg.NameForKey(req.Key()), version, err)
	}
	return arrived, nil
}

// readBack is the answer as it would arrive over a socket.
func readBack(resp kmsg.Response) (kmsg.Response, error) {
	arrived := kmsg.ResponseForKey(resp.Key())
	arrived.SetVersion(resp.GetVersion())
	if err := arrived.ReadFrom(resp.AppendTo(nil)); err != nil {
		return nil, fmt.Errorf("the answer to %s v%d cannot be read: %w", kmsg.NameForKey(resp.Key()), resp.GetVersion(), err)
	}
	return arrived, nil
}

// Close implements target.Conn. The coordinator is not told: a disconnect does not concern it.
func (c *conn) Close() error {
	v := c.v
	v.mu.Lock()
	defer v.mu.Unlock()
	c.closed = true
	for t, o := range v.open {
		if o.conn == c {
			delete(v.open, t)
			v.abandon(o)
		}
	}
	return nil
}

type virtualClock struct{ v *virtual }

func (c virtualClock) Now() time.Time {
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	return c.v.sim.Now()
}

func (c virtualClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	until := c.v.sim.Now().Add(d)
	for { // one timer at a time, so that each call ends at its own time
		next, ok := c.v.sim.NextTimer()
		if !ok || next.Deadline.After(until) {
			break
		}
		c.v.sim.Fire(next.Timer)
		c.v.deliver()
	}
	c.v.sim.Advance(until.Sub(c.v.sim.Now()))
	c.v.deliver()
	return nil
}

func (c virtualClock) Await(_ context.Context, call *target.Call, _ time.Duration) bool {
	return call.Ended()
}
