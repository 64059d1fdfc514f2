package server

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// errGone is the client's end of a connection, between two requests or within one.
var errGone = errors.New("the client has gone")

// conn is a connection of a client. Its requests are read and answered one at a time, in order, as Kafka does: a client that sends faster
// than it is answered is held back by TCP.
type conn struct {
	net.Conn
	limits Limits
	memory *semaphore.Weighted
	reader *bufio.Reader

	busy   atomic.Bool  // with a request
	active atomic.Int64 // when it last began or ended one, in nanoseconds
}

func newConn(c net.Conn, l Limits, memory *semaphore.Weighted) *conn {
	n := &conn{Conn: c, limits: l, memory: memory, reader: bufio.NewReaderSize(c, 4096)}
	n.active.Store(time.Now().UnixNano())
	return n
}

// mark says that a request has been read, or answered.
func (c *conn) mark(busy bool) {
	c.active.Store(time.Now().UnixNano())
	c.busy.Store(busy)
}

// read reads a request; it has to be given back with release.
func (c *conn) read() (frame []byte, err error) {
	if c.reader.Buffered() == 0 {
		if err := c.SetReadDeadline(time.Now().Add(c.limits.Idle)); err != nil {
			return nil, errGone
		}
		if _, err := c.reader.Peek(1); err != nil {
			return nil, errGone
		}
	}
	begun := time.Now()
	if err := c.SetReadDeadline(begun.Add(c.limits.Partial)); err != nil {
		return nil, errGone
	}
	head, err := c.reader.Peek(4)
	if err != nil {
		return nil, c.halfway(err)
	}
	size := int32(binary.BigEndian.Uint32(head))
	if _, err := c.reader.Discard(4); err != nil {
		return nil, errGone
	}
	if size < 0 || int64(size) > int64(c.limits.Frame) {
		return nil, fmt.Errorf("frame of %d bytes; 0 to %d are read here", size, c.limits.Frame)
	}
	return c.body(int(size), begun.Add(c.limits.Partial))
}

// body reads a request of that size. What it takes grows with what arrives, not with what is announced, and waits for its share.
func (c *conn) body(size int, deadline time.Time) ([]byte, error) {
	frame := make([]byte, min(size, smallFrame))
	if _, err := io.ReadFull(c.reader, frame); err != nil {
		return nil, c.halfway(err)
	}
	if size <= smallFrame {
		return frame, nil
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	for len(frame) < size {
		room := min(size, 2*len(frame)) - len(frame)
		if err := c.memory.Acquire(ctx, int64(room)); err != nil {
			c.release(frame)
			return nil, fmt.Errorf("request of %d bytes: no memory for it within %s, %d bytes are for all; send less at a time", size, c.limits.Partial, c.limits.Memory)
		}
		frame = append(make([]byte, 0, len(frame)+room), frame...)[:len(frame)+room]
		if _, err := io.ReadFull(c.reader, frame[len(frame)-room:]); err != nil {
			c.release(frame)
			return nil, c.halfway(err)
		}
	}
	return frame, nil
}

// release gives back what reading the request has taken.
func (c *conn) release(frame []byte) {
	if over := len(frame) - smallFrame; over > 0 {
		c.memory.Release(int64(over))
	}
}

// halfway is what a connection ends with in the middle of a request. A client that goes is no error.
func (c *conn) halfway(err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return fmt.Errorf("a request was begun and not ended within %s", c.limits.Partial)
	}
	return errGone
}

// answer writes an answer. Who does not read it in the time of an idle connection is closed.
func (c *conn) answer(b []byte) error {
	if err := c.SetWriteDeadline(time.Now().Add(c.limits.Idle)); err != nil {
		return err
	}
	_, err := c.Write(b)
	return err
}

// host is the address of a client without its port.
func host(c net.Conn) string {
	h, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return h
}
