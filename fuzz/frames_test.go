package fuzz_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// wires are the connections that frames may be sent on, and mostFrames of one input are sent.
const (
	wires      = 4
	mostFrames = 40
)

// frame is what is sent at a time: a size as it is announced, and bytes, which may be fewer.
type frame struct {
	wire int
	sent []byte
}

// framesOf reads an input: for each frame a byte for the connection, then the frame.
func framesOf(input []byte) (all []frame) {
	for len(input) >= 5 && len(all) < mostFrames {
		end := 5 + int(min(binary.BigEndian.Uint32(input[1:]), uint32(len(input)-5)))
		all = append(all, frame{int(input[0]) % wires, input[1:end]})
		input = input[end:]
	}
	return all
}

// FuzzFrames sends frames to a server over some connections. Whatever they are, each answer must be one to its request, in order and readable, and
// the server must serve whoever comes next.
func FuzzFrames(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		defer hangs(t)()
		ids := 0
		s, err := server.Start(server.Options{
			MaxFrame: 1 << 16, Topics: map[string]int32{"t": 3, "u": 3},
			Settings: core.Settings{MinSessionTimeout: 10 * time.Millisecond, MaxSessionTimeout: 30 * time.Minute, Node: core.Node{ID: 1}, NewMemberID: func(string) string { ids++; return fmt.Sprint("m", ids) }},
			Report: func(err error) {
				if _, bad := err.(*core.InconsistencyError); bad { //nolint:errorlint // never wrapped
					t.Error(err)
				}
			},
		})
		if err != nil {
			t.Skip(err) // no port, no socket: nothing that an input could do
		}
		var conns [wires]*net.TCPConn
		var sent, got [wires]bytes.Buffer
		var reading sync.WaitGroup
		for _, fr := range framesOf(input) {
			if conns[fr.wire] == nil {
				c, err := net.Dial("tcp", s.Addr())
				if err != nil {
					t.Fatalf("it does not take connections any more: %v", err)
				}
				conns[fr.wire] = c.(*net.TCPConn)
				reading.Go(func() { _, _ = io.Copy(&got[fr.wire], c) }) // the end may be a reset
			}
			sent[fr.wire].Write(fr.sent)
			_, _ = conns[fr.wire].Write(fr.sent) // it may have been closed, for what came before
		}
		for _, c := range conns {
			if c != nil {
				_ = c.CloseWrite()
			}
		}
		serves(t, s.Addr())
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		reading.Wait()
		for n, c := range conns {
			if c != nil {
				_ = c.Close()
				compare(t, &sent[n], &got[n])
			}
		}
	})
}

// compare holds what came on a connection against what was sent.
func compare(t *testing.T, sent, got *bytes.Buffer) {
	for got.Len() > 0 {
		answer := next(got)
		if answer == nil {
			return // the server was closed while it wrote
		}
		request := next(sent)
		if len(request) < 8 || len(answer) < 4 {
			t.Errorf("an answer of %d bytes to a request of %d", len(answer), len(request))
			return
		}
		key, version := int16(binary.BigEndian.Uint16(request)), int16(binary.BigEndian.Uint16(request[2:]))
		if asked, told := binary.BigEndian.Uint32(request[4:]), binary.BigEndian.Uint32(answer); asked != told {
			t.Errorf("%s v%d: correlation id %d is answered %d", kmsg.NameForKey(key), version, asked, told)
			return
		}
		resp := kmsg.ResponseForKey(key)
		if key == int16(kmsg.ApiVersions) && version > server.Versions()[kmsg.ApiVersions].Max {
			version = 0 // that is how a version which is too new is answered
		}
		resp.SetVersion(version)
		body := answer[4:]
		if resp.IsFlexible() && key != int16(kmsg.ApiVersions) {
			body = body[1:]
		}
		if err := resp.ReadFrom(body); err != nil {
			t.Errorf("%s v%d: the answer cannot be read: %v", kmsg.NameForKey(key), version, err)
		} else if again := resp.AppendTo(nil); len(again) != len(body) {
			t.Errorf("%s v%d: the answer has %d bytes, and what is read of it takes %d", kmsg.NameForKey(key), version, len(body), len(again))
		}
	}
}

// next is the next frame without its size, or nil.
func next(r io.Reader) []byte {
	var size uint32
	if binary.Read(r, binary.BigEndian, &size) != nil || size > 1<<24 {
		return nil
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil
	}
	return body
}

// serves holds that the server answers somebody new: by what says what it serves, and by the coordinator behind it.
func serves(t *testing.T, addr string) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("it does not take connections any more: %v", err)
	}
	defer c.Close()
	list := kmsg.NewPtrListGroupsRequest()
	for n, req := range []kmsg.Request{kmsg.NewPtrApiVersionsRequest(), list} {
		if _, err := c.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, int32(n))); err != nil {
			t.Fatalf("%s: %v", kmsg.NameForKey(req.Key()), err)
		}
		if next(c) == nil {
			t.Fatalf("%s of somebody new is not answered", kmsg.NameForKey(req.Key()))
		}
	}
}

// patience is how long an input may take. The fuzzer itself would wait for ever.
const patience = 60 * time.Second

// hangs ends the process where an input takes for ever, so that it is kept; what it returns says that the input is done.
func hangs(t *testing.T) func() {
	late := time.AfterFunc(patience, func() { panic(t.Name() + ": no end within " + patience.String()) })
	return func() { late.Stop() }
}
