package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// writeTimeout bounds how long a peer that does not read may hold a request back.
const writeTimeout = 10 * time.Second

// link is one TCP connection to one broker. Requests are written in the order of send, and answered in that order.
type link struct {
	conn   net.Conn
	format *kmsg.RequestFormatter
	done   chan struct{} // closed when the reader has ended
	nulls  bool          // see Options.Nulls

	mu   sync.Mutex
	next int32
	open []pending // in the order sent
	err  error     // why the link is dead
}

// pending is a request without an answer yet. What is needed to read the answer is noted at the sending: the request may be changed
// by its owner afterwards.
type pending struct {
	id       int32
	flexible bool
	call     *target.Call
}

func newLink(conn net.Conn, clientID string, nulls bool) *link {
	l := &link{
		conn:   conn,
		format: kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID)),
		done:   make(chan struct{}),
		nulls:  nulls,
	}
	go l.read()
	return l
}

// send writes the request and returns; the call ends when the answer has come or the link dies.
func (l *link) send(req kmsg.Request, version int16) *target.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	req.SetVersion(version)
	call := target.NewCall(req, version, time.Now())
	if l.err != nil {
		call.Finish(nil, l.err, time.Now())
		return call
	}
	id := l.next
	l.next++
	frame, err := l.encode(req, id)
	if err != nil {
		call.Finish(nil, err, time.Now())
		return call
	}
	// It is pending before it is written: the answer may come at once.
	l.open = append(l.open, pending{id: id, flexible: req.IsFlexible(), call: call})
	if err = l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err == nil {
		_, err = l.conn.Write(frame)
	}
	if err != nil {
		l.failLocked(fmt.Errorf("%w: sending %s failed (%w)", target.ErrClosed, kmsg.NameForKey(req.Key()), err))
	}
	return call
}

// encode turns a panic over a request that cannot be written into an error.
func (l *link) encode(req kmsg.Request, id int32) (frame []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s v%d cannot be written: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), p)
		}
	}()
	return l.format.AppendRequest(nil, req, id), nil
}

func (l *link) read() {
	defer close(l.done)
	r := bufio.NewReader(l.conn)
	for {
		frame, err := readFrame(r)
		if err == nil {
			err = l.take(frame)
		}
		if err != nil {
			l.fail(err)
			return
		}
	}
}

// take hands an answer to the oldest request, which it must belong to.
func (l *link) take(frame []byte) error {
	at := time.Now()
	id := int32(binary.BigEndian.Uint32(frame))
	l.mu.Lock()
	if len(l.open) == 0 {
		l.mu.Unlock()
		return &garbageError{what: "it answers without having been asked", got: frame}
	}
	p := l.open[0]
	if p.id != id {
		l.mu.Unlock()
		return &garbageError{what: fmt.Sprintf("an answer has the correlation id %d where %d is next", id, p.id), got: frame}
	}
	l.open = l.open[1:]
	l.mu.Unlock()
	resp, err := parse(p.call.Request, p.call.Version, p.flexible, frame[4:])
	switch {
	case err != nil && resp != nil && l.nulls:
		err = nil
	case err != nil:
		resp = nil
	}
	p.call.Finish(resp, err, at)
	return err
}

// roundTrip sends and waits for the answer, at most until the context ends. That ends the link.
func (l *link) roundTrip(ctx context.Context, req kmsg.Request, version int16) (kmsg.Response, error) {
	call := l.send(req, version)
	select {
	case <-call.Done():
		return call.Answer()
	case <-ctx.Done():
		err := fmt.Errorf("no answer to %s v%d: %w", kmsg.NameForKey(req.Key()), version, ctx.Err())
		l.fail(err)
		return nil, err
	}
}

func (l *link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failLocked(err)
}

// failLocked ends the link and all open calls; the first reason counts.
func (l *link) failLocked(err error) {
	if l.err == nil {
		l.err = err
	}
	now := time.Now()
	for _, p := range l.open {
		p.call.Finish(nil, l.err, now)
	}
	l.open = nil
	_ = l.conn.Close()
}

// close drops the connection and waits until its reader has ended.
func (l *link) close() error {
	l.fail(target.ErrClosed)
	<-l.done
	return nil
}

func (l *link) dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
}
