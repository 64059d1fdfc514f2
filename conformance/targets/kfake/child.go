package kfake

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/muster-kafka/muster/conformance/targets/wire"
)

// Serve runs a cluster until its input ends, for a process of its own: it writes the address, alone on a line.
func Serve(in io.Reader, out io.Writer) error {
	cluster, err := newCluster(0)
	if err != nil {
		return err
	}
	defer cluster.Close()
	if _, err := fmt.Fprintln(out, cluster.ListenAddrs()[0]); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// Kept says where kfake keeps what it has: in a folder, synced before it answers or not. The zero value keeps nothing. What it cannot keep or read it says on Log.
type Kept struct {
	Dir  string
	Sync bool
	Log  io.Writer
}

// Listen serves kfake on that port of this machine, 0 being a free one, and returns where, and what ends it.
func Listen(port int, k Kept) (addr string, stop func(), err error) {
	var more []kfake.Opt
	if k.Dir != "" {
		more = append(more, kfake.DataDir(k.Dir), kfake.WithLogger(kfake.BasicLogger(k.Log, kfake.LogLevelWarn)))
	}
	if k.Sync {
		more = append(more, kfake.SyncWrites())
	}
	cluster, err := newCluster(port, more...)
	if err != nil {
		return "", nil, fmt.Errorf("starting kfake: %w", err)
	}
	return cluster.ListenAddrs()[0], cluster.Close, nil
}

// Child is the fake in a process of its own. A fake that panics takes its process with it; a judge that wants to tell of that must not be in
// the same one.
type Child struct {
	argv []string

	mu    sync.Mutex
	wire  *wire.Target
	input io.Closer
	ended chan struct{} // of the process
	words *beginning
}

// Spawn starts the process: argv is a command that calls Serve with its input and output.
func Spawn(ctx context.Context, argv ...string) (*Child, error) {
	c := &Child{argv: argv}
	return c, c.start(ctx)
}

func (c *Child) start(ctx context.Context) error {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	words := &beginning{}
	cmd.Stderr = words
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting kfake in a process of its own: %w", err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	if err != nil {
		in.Close()
		return fmt.Errorf("kfake did not tell its address: %w: %s", err, words)
	}
	w, err := wire.Open(ctx, wire.Options{Addr: strings.TrimSpace(address), Name: "kfake", Own: true, Profile: "default"})
	if err != nil {
		in.Close()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wire, c.input, c.ended, c.words = w, in, ended, words
	return nil
}

func (c *Child) now() *wire.Target {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wire
}

// Name is "kfake".
func (c *Child) Name() string { return "kfake" }

// Capabilities are those of the present process; names of topics change with it.
func (c *Child) Capabilities() target.Capabilities { return c.now().Capabilities() }

// Divert makes connections of actors go to another address: see wire.
func (c *Child) Divert(through func(addr string) (string, error)) { c.now().Divert(through) }

// Secured says that nothing is encrypted.
func (c *Child) Secured() bool { return c.now().Secured() }

// Clients is how other clients reach the present process: see wire.
func (c *Child) Clients() (addr string, dial func(ctx context.Context, network, addr string) (net.Conn, error), auth sasl.Mechanism) {
	return c.now().Clients()
}

// Dial connects to the present process.
func (c *Child) Dial(ctx context.Context, clientID string) (target.Conn, error) {
	return c.now().Dial(ctx, clientID)
}

// Clock is wall time.
func (c *Child) Clock() target.Clock { return c.now().Clock() }

// Dead reports whether the process has ended by itself, and with which last words.
func (c *Child) Dead() (words string, dead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
		return c.words.String(), true
	default:
		return "", false
	}
}

// Revive starts another process in the place of one that has ended.
func (c *Child) Revive(ctx context.Context) error {
	if _, dead := c.Dead(); !dead {
		return nil
	}
	c.now().Abandon()
	return c.start(ctx)
}

// Close ends the process.
func (c *Child) Close() error {
	c.now().Abandon()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.input.Close()
	<-c.ended
	return nil
}

// beginning keeps the beginning of what a process says at its end: a panic tells first what it is about.
type beginning struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *beginning) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 8 << 10
	t.buf.Write(p[:min(len(p), max(0, most-t.buf.Len()))])
	return len(p), nil
}

func (t *beginning) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
