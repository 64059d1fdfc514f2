// Package proxy stands between clients and a target on the loopback interface, passes on what they say, and now and then does something to
// it. It reads Kafka's frames, so that it knows a request from its answer: it can take an answer away after the request has had its effect.
package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Kind is what is done to an exchange of a request and its answer.
type Kind string

const (
	Pass      Kind = ""           // nothing
	Cut       Kind = "cut"        // the connection ends before the request is passed on, or right after
	ReplyLost Kind = "reply-lost" // the answer is thrown away when it comes, and the connection ends
	HalfOpen  Kind = "half-open"  // the answer is thrown away, and so is all that follows, but the connection stays
	Delay     Kind = "delay"      // the request is held back
)

// Kinds are all that there are.
var Kinds = []Kind{Cut, ReplyLost, HalfOpen, Delay}

// Request is what is known of a request that passes.
type Request struct {
	Client       string // the client id
	Key, Version int16
}

// Action says what to do.
type Action struct {
	Kind  Kind
	After bool          // Cut: pass the request on first
	Hold  time.Duration // Delay
}

// Options say where to pass things on to, and what to do to them.
type Options struct {
	Upstream string // HOST:PORT

	// Decide is asked about each request, Did is told what has been done, when it is done. They are called from several goroutines.
	Decide func(Request) Action
	Did    func(Request, Action)
}

// Proxy listens until Close.
type Proxy struct {
	opts     Options
	listener net.Listener
	work     sync.WaitGroup
	stop     context.CancelFunc
	ctx      context.Context

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// maxFrame bounds what is held of a connection: no request or answer of a group is near it.
const maxFrame = 16 << 20

// dialTimeout bounds how long the target may take to accept.
const dialTimeout = 5 * time.Second

// Start listens on a free port of the loopback interface.
func Start(o Options) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a proxy for %s: %w", o.Upstream, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Proxy{opts: o, listener: listener, conns: map[net.Conn]struct{}{}, stop: stop, ctx: ctx}
	p.work.Go(p.accept)
	return p, nil
}

// Addr is where it listens, HOST:PORT.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends all connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	err := p.listener.Close()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
	return err
}

// keep notes a connection, so that Close ends it; not after Close.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files: the client waits, and others end meanwhile
			if !p.wait(10 * time.Millisecond) {
				return
			}
			continue
		}
		if p.keep(c) {
			p.work.Go(func() { p.serve(c) })
		}
	}
}

// wait lets time pass, and says no where the proxy is closed meanwhile.
func (p *Proxy) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer p.drop(client)
	upstream, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(p.ctx, "tcp", p.opts.Upstream)
	if err != nil || !p.keep(upstream) {
		return
	}
	defer p.drop(upstream)
	e := &exchange{proxy: p, client: client, upstream: upstream, open: make(chan pending, 64)}
	var both sync.WaitGroup
	end := func(pump func() error) {
		_ = pump()
		_ = client.Close()
		_ = upstream.Close()
	}
	both.Go(func() { end(e.requests) })
	both.Go(func() { end(e.answers) })
	both.Wait()
}

// exchange is a connection of a client, with the one to the target that serves it.
type exchange struct {
	proxy            *Proxy
	client, upstream net.Conn
	open             chan pending // requests that were passed on and wait for their answers, in order
}

type pending struct {
	request Request
	action  Action
}

var errDone = errors.New("the connection was ended on purpose")

// requests passes on what the client sends.
func (e *exchange) requests() error {
	defer close(e.open)
	for {
		frame, err := readFrame(e.client)
		if err != nil {
			return err
		}
		r := parse(frame)
		a := e.proxy.opts.Decide(r)
		switch a.Kind {
		case Cut:
			e.proxy.opts.Did(r, a)
			if a.After {
				_, _ = e.upstream.Write(frame)
			}
			return errDone
		case Delay:
			if !e.proxy.wait(a.Hold) {
				return errDone
			}
			e.proxy.opts.Did(r, a)
		}
		select {
		case e.open <- pending{r, a}: // before the answer can come
		default:
			return errors.New("too many requests without an answer")
		}
		if _, err := e.upstream.Write(frame); err != nil {
			return err
		}
	}
}

// answers passes on what the target sends.
func (e *exchange) answers() error {
	silent := false
	for {
		frame, err := readFrame(e.upstream)
		if err != nil {
			return err
		}
		p, ok := <-e.open
		if !ok {
			return errors.New("an answer without a request")
		}
		switch p.action.Kind {
		case ReplyLost:
			e.proxy.opts.Did(p.request, p.action)
			return errDone
		case HalfOpen:
			e.proxy.opts.Did(p.request, p.action)
			silent = true
		}
		if silent {
			continue
		}
		if _, err := e.client.Write(frame); err != nil {
			return err
		}
	}
}

// readFrame reads a length and as many bytes, and returns both.
func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes is too large", n)
	}
	frame := make([]byte, 4+n)
	copy(frame, size[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// parse reads the header of a request: key, version, correlation id, client id.
func parse(frame []byte) (r Request) {
	body := frame[4:]
	if len(body) < 10 {
		return r
	}
	r.Key, r.Version = int16(binary.BigEndian.Uint16(body)), int16(binary.BigEndian.Uint16(body[2:]))
	if n := int(int16(binary.BigEndian.Uint16(body[8:]))); n > 0 && len(body) >= 10+n {
		r.Client = string(body[10 : 10+n])
	}
	return r
}
