package proxy

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a target that answers each frame with the same frame, and counts them.
type echo struct {
	net.Listener
	mu  sync.Mutex
	got int
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{Listener: l}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer c.Close()
				for {
					frame, err := readFrame(c)
					if err != nil {
						return
					}
					e.mu.Lock()
					e.got++
					e.mu.Unlock()
					if _, err := c.Write(frame); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); work.Wait() })
	return e
}

func (e *echo) taken() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.got
}

// frame is a request of the client with nothing but a header.
func frame(key int16, client string) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(key))
	body = binary.BigEndian.AppendUint16(body, 3)
	body = binary.BigEndian.AppendUint32(body, 7)
	body = binary.BigEndian.AppendUint16(body, uint16(len(client)))
	body = append(body, client...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func pass(Request) Action { return Action{} }

// through is a connection through a proxy of its own.
func through(t *testing.T, o Options) net.Conn {
	t.Helper()
	p, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); p.Close() })
	return c
}

// TestActions does each thing once to a client's second request, and sees what the client and the target notice.
func TestActions(t *testing.T) {
	for _, test := range []struct {
		name   string
		action Action
		taken  int   // requests that the target gets
		ends   error // how the client's waiting for the second answer ends; nil: with the answer
	}{
		{"pass", Action{}, 2, nil},
		{"delay", Action{Kind: Delay, Hold: time.Millisecond}, 2, nil},
		{"cut before", Action{Kind: Cut}, 1, io.EOF},
		{"cut after", Action{Kind: Cut, After: true}, 2, io.EOF},
		{"reply lost", Action{Kind: ReplyLost}, 2, io.EOF},
		{"half-open", Action{Kind: HalfOpen}, 2, errTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			target := newEcho(t)
			did := make(chan Request, 8)
			c := through(t, Options{
				Upstream: target.Addr().String(),
				Decide: func(r Request) Action {
					if r.Key == 2 {
						return test.action
					}
					return Action{}
				},
				Did: func(r Request, _ Action) { did <- r },
			})
			if err := ask(c, frame(1, "a"), time.Minute); err != nil {
				t.Fatalf("the first request: %v", err)
			}
			patience := time.Minute
			if test.ends == errTimeout {
				patience = 50 * time.Millisecond
			}
			if err := ask(c, frame(2, "a"), patience); !errors.Is(err, test.ends) {
				t.Errorf("the second request ends with %v, want %v", err, test.ends)
			}
			if test.action.Kind != Pass {
				select { // it is told of before the client can notice
				case r := <-did:
					if r != (Request{Client: "a", Key: 2, Version: 3}) {
						t.Errorf("told of %+v", r)
					}
				default:
					t.Error("told of nothing")
				}
			}
			if test.ends == errTimeout { // and so it stays
				if err := ask(c, frame(1, "a"), patience); !errors.Is(err, errTimeout) {
					t.Errorf("the third request ends with %v", err)
				}
				test.taken++
			}
			for deadline := time.Now().Add(10 * time.Second); target.taken() < test.taken && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			if got := target.taken(); got != test.taken {
				t.Errorf("the target got %d requests, want %d", got, test.taken)
			}
		})
	}
}

var errTimeout = errors.New("no answer")

// ask sends a frame and waits for the same one.
func ask(c net.Conn, f []byte, patience time.Duration) error {
	if _, err := c.Write(f); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	got, err := readFrame(c)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return errTimeout
	case err != nil:
		return err
	case string(got) != string(f):
		return errors.New("another answer")
	}
	return nil
}

// TestGarbage sends a frame that is too large: the connection ends, nothing is held.
func TestGarbage(t *testing.T) {
	target := newEcho(t)
	c := through(t, Options{Upstream: target.Addr().String(), Decide: pass, Did: func(Request, Action) {}})
	if err := ask(c, []byte{0xff, 0xff, 0xff, 0xff, 0, 0}, time.Minute); err == nil {
		t.Error("a frame of 4 GiB was answered")
	}
	if r := parse([]byte{0, 0, 0, 2, 1, 2}); r != (Request{}) {
		t.Errorf("half a header is %+v", r)
	}
}

// TestNoTarget ends the client's connection where there is nobody to pass things on to.
func TestNoTarget(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c := through(t, Options{Upstream: addr, Decide: pass, Did: func(Request, Action) {}})
	if err := ask(c, frame(1, "a"), time.Minute); err == nil {
		t.Error("answered by nobody")
	}
}

// TestClose ends a proxy while a client is connected: the client notices, and Close does not wait for it.
func TestClose(t *testing.T) {
	target := newEcho(t)
	p, err := Start(Options{Upstream: target.Addr().String(), Decide: pass, Did: func(Request, Action) {}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := ask(c, frame(1, "a"), time.Minute); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	for err == nil { // some may still be answered before it closes
		err = ask(c, frame(1, "a"), 10*time.Second)
	}
	if errors.Is(err, errTimeout) {
		t.Errorf("a request to a proxy that is closed ends with %v", err)
		c.Close()
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
