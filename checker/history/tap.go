package history

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Tap records what passes over connections of other people's clients: give its Dial to a client (kgo.Dialer, or whatever dials), let
// your tests run, and write the history that it has at the end. It reads what is not encrypted, so a dialer that does TLS has to be
// inside. Only requests about groups are recorded. A Tap may be used by several goroutines.
type Tap struct {
	rec *Recorder

	mu    sync.Mutex
	conns int64
	err   error // what could not be read
}

// NewTap returns a tap whose instant 0 is now. The groups are those that the clients will use; none may exist yet.
func NewTap(groups ...string) *Tap {
	return &Tap{rec: &Recorder{Clock: time.Now, Start: time.Now(), Groups: groups}}
}

// Recorder is what the tap records with: for the clock of the history, and for faults.
func (t *Tap) Recorder() *Recorder { return t.rec }

// Dial wraps a function that dials, such as (&net.Dialer{}).DialContext.
func (t *Tap) Dial(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return t.Conn(c), nil
	}
}

// Conn wraps a connection.
func (t *Tap) Conn(c net.Conn) net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns++
	return &tapped{Conn: c, tap: t, id: t.conns, open: map[int32]int64{}}
}

// History is what was recorded until now; calls that have not ended are open. The header says what the target is: see docs/history.md. An
// error says that a connection could not be read, so that calls are missing.
func (t *Tap) History(header Header) (*History, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(header.Groups) == 0 {
		header.Groups = t.rec.Groups
	}
	if header.Ran == 0 {
		header.Ran = time.Duration(t.rec.Now())
	}
	h := t.rec.History(header)
	for i := range h.Calls {
		if h.Calls[i].Outcome == Open {
			h.Calls[i].Return = h.End()
		}
	}
	return h, t.err
}

func (t *Tap) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = errors.Join(t.err, err)
}

// tapped is a connection that is listened to.
type tapped struct {
	net.Conn
	tap *Tap
	id  int64

	mu      sync.Mutex
	out, in []byte          // bytes of a frame that is not whole yet
	open    map[int32]int64 // calls by correlation id
	deaf    bool            // what passes is not understood
	ended   bool
}

// groupKeys are the APIs that are recorded.
var groupKeys = []kmsg.Key{
	kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.LeaveGroup, kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.OffsetDelete, kmsg.DescribeGroups,
	kmsg.ListGroups, kmsg.DeleteGroups, kmsg.TxnOffsetCommit,
}

// Write notes the requests that are whole by now, before their last bytes are sent.
func (c *tapped) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.out = c.frames(c.out, b, c.request)
	c.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = c.frames(c.in, b[:n], c.answer)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		why := err.Error()
		if errors.Is(err, io.EOF) {
			why = "end of stream"
		}
		c.end(Closed, why)
	}
	return n, err
}

// Close gives up what is open: until now the client would have taken an answer.
func (c *tapped) Close() error {
	c.mu.Lock()
	c.end(GivenUp, "")
	c.mu.Unlock()
	return c.Conn.Close()
}

func (c *tapped) end(outcome Outcome, why string) {
	if c.ended {
		return
	}
	c.ended = true
	at := c.tap.rec.Now()
	for _, id := range c.open {
		c.tap.rec.Finish(id, nil, outcome, why, at)
	}
	clear(c.open)
}

// frames hands whole frames over and returns the rest.
func (c *tapped) frames(before, b []byte, take func([]byte) error) []byte {
	if c.deaf {
		return nil
	}
	all := append(before, b...)
	for len(all) >= 4 {
		n := binary.BigEndian.Uint32(all)
		if n > maxLine {
			c.mute(fmt.Errorf("connection %d: a frame of %d bytes", c.id, n))
			return nil
		}
		if uint32(len(all)-4) < n {
			break
		}
		if err := take(all[4 : 4+n]); err != nil {
			c.mute(fmt.Errorf("connection %d: %w", c.id, err))
			return nil
		}
		all = all[4+n:]
	}
	return slices.Clone(all)
}

// mute stops listening.
func (c *tapped) mute(err error) {
	c.deaf = true
	c.tap.failed(err)
}

func (c *tapped) request(frame []byte) error {
	r := kbin.Reader{Src: frame}
	key, version, correlation, client := r.Int16(), r.Int16(), r.Int32(), r.NullableString()
	if err := r.Complete(); err != nil {
		return fmt.Errorf("a request without a header: %w", err)
	}
	if !slices.Contains(groupKeys, kmsg.Key(key)) {
		return nil
	}
	req := kmsg.RequestForKey(key)
	req.SetVersion(version)
	if req.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	if err := req.ReadFrom(r.Src); err != nil {
		return fmt.Errorf("bytes are not a %s version %d: %w", kmsg.NameForKey(key), version, err)
	}
	name := ""
	if client != nil {
		name = *client
	}
	c.open[correlation] = c.tap.rec.Begin(name, c.id, req, version)
	return nil
}

func (c *tapped) answer(frame []byte) error {
	at := c.tap.rec.Now()
	r := kbin.Reader{Src: frame}
	correlation := r.Int32()
	id, ok := c.open[correlation]
	if r.Complete() != nil || !ok {
		return nil
	}
	delete(c.open, correlation)
	resp := c.tap.rec.responseFor(id)
	if resp.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	if err := resp.ReadFrom(r.Src); err != nil {
		return fmt.Errorf("bytes are not an answer to %s version %d: %w", kmsg.NameForKey(resp.Key()), resp.GetVersion(), err)
	}
	c.tap.rec.Finish(id, resp, Answered, "", at)
	return nil
}
