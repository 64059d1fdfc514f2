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
// than it is answered is held back by TCP. Answers to requests that have come together leave together, once nothing more can be done without waiting.
type conn struct {
	net.Conn
	limits Limits
	memory *semaphore.Weighted
	reader *bufio.Reader
	out    []byte // answers that have not been written yet

	busy   atomic.Bool  // with a request
	ended  atomic.Bool  // nothing more is to be read
	active atomic.Int64 // when it last began or ended one, in nanoseconds

	readBy, writeBy time.Time // deadlines that have been set
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

// end lets it end before its next request.
func (c *conn) end() {
	c.ended.Store(true)
	_ = c.SetReadDeadline(time.Now())
}

// ready is the size of the next request, if that is here as a whole.
func (c *conn) ready() (size int, ok bool) {
	if c.reader.Buffered() < 4 {
		return 0, false
	}
	head, _ := c.reader.Peek(4)
	size = int(int32(binary.BigEndian.Uint32(head)))
	return size, size >= 0 && c.reader.Buffered() >= 4+size
}

// read reads a request; it has to be given back with release. It is good until the next one is read.
func (c *conn) read() (frame []byte, err error) {
	if frame, ok, err := c.whole(); ok {
		return frame, err
	}
	if err := c.begun(); err != nil {
		return nil, err
	}
	if frame, ok, err := c.whole(); ok { // it has come in one piece, as nearly all do: then nobody has to be hurried
		return frame, err
	}
	begun := time.Now()
	if err := c.SetReadDeadline(begun.Add(c.limits.Partial)); err != nil {
		return nil, errGone
	}
	c.readBy = time.Time{}
	head, err := c.reader.Peek(4)
	if err != nil {
		return nil, c.halfway(err)
	}
	size := int32(binary.BigEndian.Uint32(head))
	if _, err := c.reader.Discard(4); err != nil {
		return nil, errGone
	}
	if size < 0 || int64(size) > int64(c.limits.Frame) {
		return nil, c.tooLarge(int(size))
	}
	return c.body(int(size), begun.Add(c.limits.Partial))
}

// whole reads a request that is here as a whole, in the memory that it has come to; false where it is not.
func (c *conn) whole() (frame []byte, ok bool, err error) {
	size, ok := c.ready()
	if !ok {
		return nil, false, nil
	}
	if size > c.limits.Frame {
		return nil, true, c.tooLarge(size)
	}
	frame, err = c.reader.Peek(4 + size)
	_, _ = c.reader.Discard(4 + size)
	return frame[4:], true, err
}

// begun waits for the first byte of a request. A deadline that has been set for an earlier one is good enough, and looked at when it comes.
func (c *conn) begun() error {
	for c.reader.Buffered() == 0 {
		idle := time.Unix(0, c.active.Load()).Add(c.limits.Idle)
		now := time.Now()
		if !idle.After(now) {
			return errGone
		}
		if !c.readBy.After(now) {
			c.readBy = idle
			if err := c.SetReadDeadline(idle); err != nil {
				return errGone
			}
		}
		if c.ended.Load() {
			return errGone
		}
		if _, err := c.reader.Peek(1); err != nil && !late(err) {
			return errGone
		}
	}
	return nil
}

func (c *conn) tooLarge(size int) error {
	return fmt.Errorf("frame of %d bytes; 0 to %d are read here", size, c.limits.Frame)
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
	if err := c.limits.fits(size, frame); err != nil {
		return nil, err
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
	if late(err) {
		return fmt.Errorf("a request was begun and not ended within %s", c.limits.Partial)
	}
	return errGone
}

func late(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// maxTogether is how many bytes of answers are kept to be written together.
const maxTogether = 64 << 10

// flush writes the answers that there are. Who does not read them in half the time of an idle connection, or a little later, is closed.
func (c *conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	if now := time.Now(); c.writeBy.Before(now.Add(c.limits.Idle / 2)) {
		c.writeBy = now.Add(c.limits.Idle)
		if err := c.SetWriteDeadline(c.writeBy); err != nil {
			return err
		}
	}
	_, err := c.Write(c.out)
	if c.out = c.out[:0]; cap(c.out) > maxTogether {
		c.out = nil
	}
	return err
}

// first writes the answers that there are before something is waited for. Whoever cannot be written to is found out by his next answer.
func (c *conn) first() { _ = c.flush() }

// host is the address of a client without its port.
func host(c net.Conn) string {
	h, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return h
}
