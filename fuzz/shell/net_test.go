package shell

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// listener is the port of one life of the server. Connections are put into it; a server takes them.
type listener struct {
	addr  address
	ready chan net.Conn
	over  chan struct{}
	once  sync.Once
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

func newListener(addr string) *listener {
	return &listener{addr: address(addr), ready: make(chan net.Conn, 16), over: make(chan struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.over) })
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

// pipe is a connection as the server has it. Bytes to it are delivered, bytes from it are collected, both by the one who runs the simulation, who is told where
// there is something to collect.
type pipe struct {
	from, to address
	wake     func()

	mu     sync.Mutex
	moved  sync.Cond
	in     []byte // delivered and not read
	ended  bool   // nothing more will be
	cut    bool
	closed bool // by the server
	out    []byte
	readBy time.Time
	alarm  *time.Timer
}

func newPipe(from, to address, wake func()) *pipe {
	p := &pipe{from: from, to: to, wake: wake}
	p.moved.L = &p.mu
	return p
}

// deliver hands bytes to the server.
func (p *pipe) deliver(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.in = append(p.in, b...)
	p.moved.Broadcast()
}

// end tells the server that the client sends no more; with cut, that the connection is broken.
func (p *pipe) end(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.cut = true, p.cut || cut
	p.moved.Broadcast()
}

// collect takes what the server has written, and says whether it has closed the connection after that.
func (p *pipe) collect() (out []byte, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, p.out = p.out, nil
	return out, p.closed
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.closed:
			return 0, net.ErrClosed
		case p.cut:
			return 0, io.ErrUnexpectedEOF
		case len(p.in) > 0:
			n := copy(b, p.in)
			p.in = p.in[n:]
			return n, nil
		case p.ended:
			return 0, io.EOF
		case !p.readBy.IsZero() && !time.Now().Before(p.readBy):
			return 0, os.ErrDeadlineExceeded
		}
		p.moved.Wait()
	}
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return 0, net.ErrClosed
	case p.cut:
		return 0, io.ErrClosedPipe
	}
	p.out = append(p.out, b...)
	p.wake()
	return len(b), nil
}

func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.alarm != nil {
		p.alarm.Stop()
	}
	p.moved.Broadcast()
	p.wake()
	return nil
}

func (p *pipe) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alarm != nil {
		p.alarm.Stop()
	}
	p.readBy = t
	if !t.IsZero() && !p.closed {
		p.alarm = time.AfterFunc(time.Until(t), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.moved.Broadcast()
		})
	}
	return nil
}

// SetWriteDeadline does nothing: what is written is taken at once.
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }
func (p *pipe) SetDeadline(t time.Time) error    { return p.SetReadDeadline(t) }
func (p *pipe) LocalAddr() net.Addr              { return p.to }
func (p *pipe) RemoteAddr() net.Addr             { return p.from }
