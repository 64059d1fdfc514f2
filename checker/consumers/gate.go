package consumers

import (
	"context"
	"net"
	"sync"
	"time"
)

// gate stands between one client and its connections. It can be closed for a while, so that the client stands still as far as anybody can
// see, or for good, as if its process were killed.
type gate struct {
	pace   func(context.Context) error
	waited func(time.Duration) // told how long each request waited for its turn
	ctx    context.Context

	mu    sync.Mutex
	open  chan struct{} // closed while the gate is open
	dead  bool
	conns map[net.Conn]struct{}
}

func newGate(ctx context.Context, pace func(context.Context) error, waited func(time.Duration)) *gate {
	g := &gate{ctx: ctx, pace: pace, waited: waited, open: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	close(g.open)
	return g
}

// pass waits until the gate is open; it says no when the client is dead.
func (g *gate) pass() bool {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open: // also when it was killed
	case <-g.ctx.Done():
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.dead
}

// stop makes the client stand still until resume.
func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
		g.open = make(chan struct{})
	default:
	}
}

func (g *gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}

// kill ends all connections, without a word on them, and lets none be made any more.
func (g *gate) kill() {
	g.mu.Lock()
	g.dead = true
	conns := g.conns
	g.conns = nil
	g.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
	g.resume()
}

func (g *gate) dial(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !g.pass() {
			return nil, net.ErrClosed
		}
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.dead {
			_ = c.Close()
			return nil, net.ErrClosed
		}
		g.conns[c] = struct{}{}
		return &gated{c, g}, nil
	}
}

type gated struct {
	net.Conn
	gate *gate
}

// Write sends one request: kgo writes each in one piece.
func (c *gated) Write(b []byte) (int, error) {
	if c.gate.pace != nil {
		began := time.Now()
		if err := c.gate.pace(c.gate.ctx); err != nil {
			return 0, err
		}
		c.gate.waited(time.Since(began))
	}
	if !c.gate.pass() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// Read hands over what has come once the gate is open.
func (c *gated) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.gate.pass() {
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *gated) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.conns, c.Conn)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}
