package consumers

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// piped is a gate before one end of a pipe.
func piped(t *testing.T) (g *gate, near, far net.Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	g = newGate(ctx, nil, nil)
	near, err := g.dial(func(context.Context, string, string) (net.Conn, error) { return a, nil })(ctx, "tcp", "x")
	if err != nil {
		t.Fatal(err)
	}
	return g, near, b
}

// TestStill lets a client stand still: what it sends arrives when it goes on, and what has come it hears then.
func TestStill(t *testing.T) {
	g, near, far := piped(t)
	g.stop()
	g.stop()
	sent, heard := make(chan error, 1), make(chan error, 1)
	go func() { _, err := near.Write([]byte("a")); sent <- err }()
	go func() { _, err := near.Read(make([]byte, 1)); heard <- err }()
	if _, err := far.Write([]byte("b")); err != nil { // it is taken off the wire all the same
		t.Fatal(err)
	}
	select {
	case <-sent:
		t.Fatal("a client that stands still has sent something")
	case <-heard:
		t.Fatal("a client that stands still has heard something")
	default:
	}
	g.resume()
	g.resume()
	if _, err := io.ReadFull(far, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if err := <-heard; err != nil {
		t.Error(err)
	}
}

// TestKilled kills a client that stands still: its connections end, and it makes no more.
func TestKilled(t *testing.T) {
	g, near, far := piped(t)
	g.stop()
	sent, heard := make(chan error, 1), make(chan error, 1)
	go func() { _, err := near.Write([]byte("a")); sent <- err }()
	go func() { _, err := near.Read(make([]byte, 1)); heard <- err }()
	if _, err := far.Write([]byte("b")); err != nil {
		t.Fatal(err)
	}
	g.kill()
	if err := <-heard; err == nil {
		t.Error("a dead client has heard something")
	}
	if err := <-sent; err == nil {
		t.Error("a dead client has sent something")
	}
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the connection of a dead client is open")
	}
	if _, err := g.dial(func(context.Context, string, string) (net.Conn, error) { return nil, nil })(t.Context(), "tcp", "x"); err == nil {
		t.Error("a dead client has made a connection")
	}
	if g.pass() {
		t.Error("a dead client goes on")
	}
}

// TestPaced makes each request wait for its turn.
func TestPaced(t *testing.T) {
	g, near, far := piped(t)
	turns, waited := 0, 0
	g.pace = func(context.Context) error { turns++; return nil }
	g.waited = func(time.Duration) { waited++ }
	go func() { _, _ = io.Copy(io.Discard, far) }()
	for range 3 {
		if _, err := near.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	if turns != 3 || waited != 3 {
		t.Errorf("%d turns for 3 requests, %d told", turns, waited)
	}
	if !wait(t.Context(), time.Nanosecond) {
		t.Error("time does not pass")
	}
}
