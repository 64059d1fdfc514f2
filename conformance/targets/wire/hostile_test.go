package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/muster-kafka/muster/conformance/target"
)

// listen serves each connection with the function, and ends with the test.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// request reads one request and returns its frame.
func request(conn net.Conn) []byte {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil
	}
	return body
}

// frame makes an answer: its length, the correlation id of the request, and a body.
func frame(req []byte, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	out = append(out, req[4:8]...)
	return append(out, body...)
}

func versions(keys ...int16) []byte {
	r := kmsg.NewPtrApiVersionsResponse()
	for _, k := range keys {
		item := kmsg.NewApiVersionsResponseApiKey()
		item.ApiKey, item.MaxVersion = k, 3
		r.ApiKeys = append(r.ApiKeys, item)
	}
	return r.AppendTo(nil)
}

// TestOpenOnWhatIsNotKafka wants an error of the right kind, in time, that says what was met.
func TestOpenOnWhatIsNotKafka(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	wait := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	say := func(answer string) func(net.Conn) {
		return func(conn net.Conn) {
			request(conn)
			_, _ = io.WriteString(conn, answer)
			wait(conn)
		}
	}
	for name, c := range map[string]struct {
		serve func(net.Conn)
		kind  error
		says  string
	}{
		"closes at once":        {func(net.Conn) {}, ErrNotKafka, "closed the connection"},
		"closes after request":  {func(c net.Conn) { request(c) }, ErrNotKafka, "TLS or SASL"},
		"never answers":         {wait, ErrUnreachable, "has not answered ApiVersions"},
		"web server":            {say("HTTP/1.1 400 Bad Request\r\n\r\n"), ErrNotKafka, `a web server answers; received "HTTP/1.1 400`},
		"SSH":                   {say("SSH-2.0-OpenSSH_9.2\r\n"), ErrNotKafka, `"SSH-2.0`},
		"TLS alert":             {say("\x15\x03\x01\x00\x02\x02\x0a"), ErrNotKafka, "security.protocol=SSL"},
		"negative length":       {say("\xff\xff\xff\xffxxxx"), ErrNotKafka, "-1 bytes long"},
		"tiny length":           {say("\x00\x00\x00\x02xx"), ErrNotKafka, "2 bytes long"},
		"huge length":           {say("\x7f\xff\xff\xffxxxx"), ErrNotKafka, "2147483647 bytes long"},
		"large length, no more": {func(c net.Conn) { request(c); _, _ = io.WriteString(c, "\x00\x3f\xff\xffxxxx") }, ErrNotKafka, "in the middle of an answer (4 of 4194303 bytes)"},
		"large length":          {say("\x00\x40\x00\x01xxxx"), ErrNotKafka, "4194305 bytes long (4 to 4194304 are sensible)"},
		"half a length":         {func(c net.Conn) { request(c); _, _ = io.WriteString(c, "\x00\x00") }, ErrNotKafka, "after 2 bytes"},
		"other correlation id":  {say("\x00\x00\x00\x06\x00\x00\x00\x63ab"), ErrNotKafka, "correlation id 99 where 0 is next"},
		"garbage": {func(c net.Conn) {
			_, _ = c.Write(frame(request(c), append([]byte{0, 0, 0x7f}, bytes.Repeat([]byte{0xfe}, 40)...)))
			wait(c)
		}, ErrNotKafka, "cannot be read"},
		"no group APIs": {func(c net.Conn) { _, _ = c.Write(frame(request(c), versions(0, 1, 3, 10, 12))); wait(c) }, ErrNoGroupAPIs, "does not list JoinGroup, SyncGroup, LeaveGroup"},
		"closes on Metadata": {func(c net.Conn) {
			_, _ = c.Write(frame(request(c), versions(3, 10, 11, 12, 13, 14)))
			request(c)
		}, ErrAuth, "closed the connection on Metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			addr := listen(t, c.serve)
			start := time.Now()
			tg, err := Open(context.Background(), Options{Addr: addr, Timeout: 300 * time.Millisecond})
			if err == nil {
				_ = tg.Close()
				t.Fatal("opened")
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %q\nwant kind %q and the words %q", err, c.kind, c.says)
			}
		})
	}
}

func TestOpenUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	for _, a := range []string{addr, "127.0.0.1", ""} {
		if _, err := Open(context.Background(), Options{Addr: a, AllowWrites: true, Timeout: time.Second}); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%q: error %v, want %v", a, err, ErrUnreachable)
		}
	}
}

// TestWritesNeedLeave asks for addresses that are not on this machine: nothing may be sent there, so none need to exist.
func TestWritesNeedLeave(t *testing.T) {
	for _, addr := range []string{"192.0.2.1:9092", "[2001:db8::1]:9092"} {
		if _, err := Open(context.Background(), Options{Addr: addr}); !errors.Is(err, ErrWritesNotAllowed) {
			t.Errorf("%s: error %v, want %v", addr, err, ErrWritesNotAllowed)
		}
	}
}

// TestLinkFailures has a peer that goes wrong while several calls are open: each must end, with the reason.
func TestLinkFailures(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for name, c := range map[string]struct {
		serve func(net.Conn)
		kind  error
	}{
		"closes": {func(c net.Conn) { request(c) }, target.ErrClosed},
		"closes mid-answer": {func(c net.Conn) {
			r := request(c)
			_, _ = c.Write(frame(r, make([]byte, 100))[:20])
		}, target.ErrClosed},
		"answers garbage": {func(c net.Conn) { _, _ = c.Write(frame(request(c), []byte{1})); _, _ = io.Copy(io.Discard, c) }, ErrNotKafka},
		"answers the second first": {func(c net.Conn) {
			request(c)
			_, _ = c.Write(frame(request(c), make([]byte, 6)))
			_, _ = io.Copy(io.Discard, c)
		}, ErrNotKafka},
	} {
		t.Run(name, func(t *testing.T) {
			addr := listen(t, c.serve)
			d := dialer{addr: addr, host: "127.0.0.1", timeout: time.Second}
			l, err := d.dial(context.Background(), "", "A")
			if err != nil {
				t.Fatal(err)
			}
			defer l.close()
			var calls []*target.Call
			for range 3 {
				calls = append(calls, l.send(kmsg.NewPtrHeartbeatRequest(), 3))
			}
			for i, call := range calls {
				if !(target.WallClock{}).Await(context.Background(), call, 5*time.Second) {
					t.Fatalf("call %d does not end", i)
				}
				if _, err := call.Answer(); !errors.Is(err, c.kind) {
					t.Errorf("call %d ends with %v, want %v", i, err, c.kind)
				}
			}
			if _, err := l.send(kmsg.NewPtrHeartbeatRequest(), 3).Answer(); err == nil {
				t.Error("a dead link takes requests")
			}
		})
	}
}

// TestBulkyGarbage holds that answers which claim to be long lists are read one at a time, so that together they take no more memory than one.
func TestBulkyGarbage(t *testing.T) {
	claims := binary.BigEndian.AppendUint32(make([]byte, 4), bulky)
	garbage := append(claims, make([]byte, bulky)...)
	read := func(body []byte) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := parse(kmsg.NewPtrDescribeGroupsRequest(), 1, false, body)
			done <- err
		}()
		return done
	}
	oneBulky <- struct{}{}
	large := read(garbage)
	if err := <-read(garbage[:100]); !errors.Is(err, ErrNotKafka) {
		t.Errorf("a short one: %v, want %v", err, ErrNotKafka)
	}
	select {
	case <-large:
		t.Error("a second long one is read meanwhile")
	case <-time.After(50 * time.Millisecond):
	}
	<-oneBulky
	<-large
}

// TestUnasked sends an answer that nobody waits for.
func TestUnasked(t *testing.T) {
	addr := listen(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "\x00\x00\x00\x04\x00\x00\x00\x00")
		_, _ = io.Copy(io.Discard, c)
	})
	d := dialer{addr: addr, host: "127.0.0.1", timeout: time.Second}
	l, err := d.dial(context.Background(), "", "A")
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	select {
	case <-l.done:
	case <-time.After(5 * time.Second):
		t.Fatal("the link lives on")
	}
	if !errors.Is(l.err, ErrNotKafka) {
		t.Errorf("error %v", l.err)
	}
}

// TestSilentPeer never gets an answer: closing the link ends the call.
func TestSilentPeer(t *testing.T) {
	addr := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	d := dialer{addr: addr, host: "127.0.0.1", timeout: time.Second}
	l, err := d.dial(context.Background(), "", "A")
	if err != nil {
		t.Fatal(err)
	}
	call := l.send(kmsg.NewPtrHeartbeatRequest(), 3)
	if (target.WallClock{}).Await(context.Background(), call, 20*time.Millisecond) {
		t.Fatal("answered by nobody")
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := call.Answer(); !errors.Is(err, target.ErrClosed) {
		t.Errorf("the open call ends with %v, want %v", err, target.ErrClosed)
	}
}

func TestSkipTags(t *testing.T) {
	for in, want := range map[string]string{
		"\x00rest":                    "rest",
		"\x01\x05\x02abrest":          "rest",
		"\x02\x00\x00\x80\x01\x01xre": "re",
	} {
		if got, err := skipTags([]byte(in)); err != nil || string(got) != want {
			t.Errorf("% x: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "\x01", "\x01\x05", "\x01\x05\x09ab", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\x7f"} {
		if got, err := skipTags([]byte(in)); err == nil {
			t.Errorf("% x was taken: %q", in, got)
		}
	}
}
