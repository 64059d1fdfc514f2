package server

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"
)

// session answers the requests of a connection, one at a time: it appends the answer, if there is one, to what is to be written. Before it
// has to wait it lets that be written. An error ends the connection.
type session interface {
	handle(frame []byte) error
	close()
}

// listener accepts connections and keeps them within limits.
type listener struct {
	net.Listener
	limits Limits
	memory *semaphore.Weighted
	report func(error)
	open   func(*conn) (session, error)
	work   sync.WaitGroup

	draining atomic.Bool

	mu     sync.Mutex
	conns  map[*conn]struct{}
	down   bool // refuses connections
	closed bool
}

// listen opens the port; nobody is served before start.
func listen(open func(network, addr string) (net.Listener, error), addr string, l Limits, memory *semaphore.Weighted, report func(error)) (*listener, error) {
	port, err := open("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another address, or port 0 for a free one", addr, err)
	}
	return &listener{Listener: port, limits: l, memory: memory, report: report, conns: map[*conn]struct{}{}}, nil
}

func (l *listener) start(open func(*conn) (session, error)) {
	l.open = open
	l.work.Go(l.accept)
}

// Close stops listening and drops all connections; wait waits for what they were doing.
func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	for c := range l.conns {
		_ = c.Close() // its goroutine notices
	}
	if l.draining.Load() {
		return nil
	}
	return l.Listener.Close()
}

// cut drops all connections and refuses new ones, until restore.
func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for c := range l.conns {
		_ = c.Close()
	}
}

func (l *listener) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

// drain stops listening and drops connections without a request; those with one have until it is answered.
func (l *listener) drain() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.draining.Store(true)
	for c := range l.conns {
		if !c.busy.Load() {
			c.end()
		}
	}
	return l.Listener.Close()
}

// await waits until no connection is left, or until the deadline.
func (l *listener) await(deadline time.Time) {
	left := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.conns)
	}
	for left() > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
}

func (l *listener) wait() { l.work.Wait() }

// retryAccept is how long to wait where there is no file descriptor for a connection.
const retryAccept = 50 * time.Millisecond

func (l *listener) accept() {
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			l.take(newConn(c, l.limits, l.memory))
		case errors.Is(err, net.ErrClosed):
			return
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			l.report(fmt.Errorf("accept on %s: %w; trying again", l.Addr(), err))
			l.evict()
			time.Sleep(retryAccept)
		default:
			l.report(fmt.Errorf("accept on %s: %w; no new connections from here on", l.Addr(), err))
			return
		}
	}
}

// take serves a connection, if there is room for it or room can be made.
func (l *listener) take(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.down || l.draining.Load() || len(l.conns) >= l.limits.Connections && !l.evictLocked() {
		_ = c.Close()
		return
	}
	l.conns[c] = struct{}{}
	l.work.Go(func() { l.serve(c) })
}

func (l *listener) evict() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.evictLocked()
}

// evictLocked ends the connections whose clients have gone while they were being answered, which nobody notices who does not read from them; what they have asked for goes on, since a
// member that waits is no less one for it. Where there are none it ends the connection that has been without a request for longest, as Kafka does where max.connections is reached; one that
// is being answered is left alone.
func (l *listener) evictLocked() bool {
	room := false
	var oldest *conn
	for c := range l.conns {
		switch {
		case c.busy.Load():
			if deserted(c.Conn) {
				l.endLocked(c)
				room = true
			}
		case oldest == nil || c.active.Load() < oldest.active.Load():
			oldest = c
		}
	}
	if room || oldest == nil {
		return room
	}
	l.endLocked(oldest)
	return true
}

func (l *listener) endLocked(c *conn) {
	delete(l.conns, c)
	_ = c.Close()
}

func (l *listener) serve(c *conn) {
	defer func() {
		l.mu.Lock()
		delete(l.conns, c)
		l.mu.Unlock()
		_ = c.Close()
	}()
	if err := l.converse(c); err != nil && !errors.Is(err, errGone) && !errors.Is(err, errStopped) && !errors.Is(err, net.ErrClosed) {
		l.report(fmt.Errorf("connection from %s closed: %w", c.RemoteAddr(), err))
	}
}

func (l *listener) converse(c *conn) error {
	s, err := l.open(c)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		frame, err := c.read()
		if err != nil {
			return err
		}
		c.mark(true)
		for {
			err = s.handle(frame)
			c.release(frame)
			if _, more := c.ready(); err != nil || l.draining.Load() || len(c.out) >= maxTogether || !more {
				break
			}
			if frame, err = c.read(); err != nil {
				break
			}
		}
		if flushed := c.flush(); err == nil && flushed != nil {
			err = errGone
		}
		if err != nil {
			return err
		}
		c.mark(false)
		if l.draining.Load() {
			return nil
		}
	}
}
