package server

import (
	"net"
	"sync"
)

// door is a listener in memory that goes by the address of another.
type door struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newDoor(addr net.Addr) *door {
	return &door{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d *door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

func (d *door) Addr() net.Addr { return d.addr }

func (d *door) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case d.conns <- theirs:
		return ours, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}
