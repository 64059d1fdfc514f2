package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience is how long an answer may take. Nothing that is measured here takes nearly as long.
const patience = 60 * time.Second

var format = kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench"))

// conn is a connection that knows nothing of the protocol but where a frame ends: what a client library does for its users would be
// measured along.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func dial(addr string) (*conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReaderSize(c, 64<<10)}, nil
}

// dialAll opens n connections.
func dialAll(addr string, n int) ([]*conn, error) {
	var all []*conn
	for range n {
		c, err := dial(addr)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func closeAll(all []*conn) {
	for _, c := range all {
		_ = c.Close()
	}
}

// frame is a request as it goes over the wire. All have one correlation id: answers come in order.
func frame(req kmsg.Request) []byte { return format.AppendRequest(nil, req, 1) }

// next is the next answer without its size, still in the connection's buffer if it fits there.
func (c *conn) next() ([]byte, error) {
	head, err := c.in.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	size := int(binary.BigEndian.Uint32(head))
	if size < 4 || size > 16<<20 {
		return nil, fmt.Errorf("an answer of %d bytes", size)
	}
	_, _ = c.in.Discard(4)
	if size > c.in.Size() {
		body := make([]byte, size)
		_, err = io.ReadFull(c.in, body)
		return body, err
	}
	body, err := c.in.Peek(size)
	if err != nil {
		return nil, fmt.Errorf("reading an answer of %d bytes: %w", size, err)
	}
	_, _ = c.in.Discard(size)
	return body, nil
}

// more reports whether another whole answer has been read already.
func (c *conn) more() bool {
	if c.in.Buffered() < 4 {
		return false
	}
	head, _ := c.in.Peek(4)
	return c.in.Buffered() >= 4+int(binary.BigEndian.Uint32(head))
}

// read reads the answer to a request.
func (c *conn) read(req kmsg.Request) (kmsg.Response, error) {
	body, err := c.next()
	if err != nil {
		return nil, err
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	body = bytes.Clone(body[4:])
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) {
		body = body[min(1, len(body)):]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("the answer to %s v%d: %w", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	return resp, nil
}

// ask sends a request and reads its answer.
func (c *conn) ask(req kmsg.Request) (kmsg.Response, error) {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := c.Write(frame(req)); err != nil {
		return nil, err
	}
	return c.read(req)
}

// errWrong is an answer that is not the one that it has to be: then nothing was measured.
var errWrong = errors.New("a wrong answer")

// pump keeps as many requests on their way as depth says, all of them the same, until stop, and counts the answers. Each has to be the same bytes as the
// first, which good looks at.
func (c *conn) pump(req kmsg.Request, depth int, stop <-chan struct{}, good func(kmsg.Response) error) (answers int, err error) {
	one := frame(req)
	resp, err := c.ask(req)
	if err == nil {
		err = good(resp)
	}
	if err != nil {
		return 0, err
	}
	if _, err := c.Write(one); err != nil {
		return 0, err
	}
	body, err := c.next()
	if err != nil {
		return 0, err
	}
	want := bytes.Clone(body)
	all := bytes.Repeat(one, depth)
	if _, err := c.Write(all); err != nil {
		return 0, err
	}
	for open, stopped := depth, false; open > 0; {
		came := 0
		for came == 0 || c.more() {
			body, err := c.next()
			if err != nil {
				return answers, err
			}
			if !bytes.Equal(body, want) {
				return answers, fmt.Errorf("%w to %s: %x after %x", errWrong, kmsg.NameForKey(req.Key()), body, want)
			}
			came++
		}
		answers += came
		open -= came
		select {
		case <-stop:
			stopped = true
		default:
		}
		if !stopped {
			if _, err := c.Write(all[:came*len(one)]); err != nil {
				return answers, err
			}
			open += came
		}
	}
	return answers, nil
}
