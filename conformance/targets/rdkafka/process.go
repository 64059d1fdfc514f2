package rdkafka

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// startTime bounds how long a mock may take to listen.
const startTime = 20 * time.Second

// process is a running mock. It ends when its standard input does, whose other end only we hold, so that none outlives us; where the
// kernel can end it with us, it does that too.
type process struct {
	addr  string
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{}
	said  tail
}

// startProcess starts the program and returns once it has told its address.
func startProcess(ctx context.Context, program string, topics ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, topics...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.said
	p.cmd.SysProcAttr = processAttr()
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started, line := make(chan error, 1), make(chan string, 1)
	go func() {
		// The signal that the kernel sends on our death comes when the starting thread ends, so it is kept until the process is gone.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		first, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- strings.TrimSpace(first)
		_, _ = io.Copy(io.Discard, stdout)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting librdkafka's mock: %w", err)
	}
	timer := time.NewTimer(startTime)
	defer timer.Stop()
	select {
	case p.addr = <-line:
	case <-timer.C:
	case <-ctx.Done():
		p.stop()
		return nil, ctx.Err()
	}
	if host, _, err := net.SplitHostPort(p.addr); err != nil || !net.ParseIP(host).IsLoopback() {
		p.stop()
		return nil, fmt.Errorf("librdkafka's mock tells no address on this machine, but %q\n  %s", p.addr, strings.ReplaceAll(p.said.String(), "\n", "\n  "))
	}
	return p, nil
}

// stop ends the process and waits until it is gone.
func (p *process) stop() {
	_ = p.stdin.Close()
	select {
	case <-p.ended:
		return
	case <-time.After(2 * time.Second):
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// crashed says how the process ended by itself; nil while it runs.
func (p *process) crashed() error {
	select {
	case <-p.ended:
	default:
		return nil
	}
	if why := cause.FindString(p.said.String()); why != "" {
		return errors.New(why)
	}
	return fmt.Errorf("%v", p.cmd.ProcessState)
}

// cause finds what a process that aborts says of it: a failed assertion, or the signal.
var cause = regexp.MustCompile(`[^\n]*[Aa]ssertion [^\n]*failed[^\n]*|SIG[A-Z]+: [^\n]*|double free[^\n]*|free\(\): [^\n]*|malloc[^\n]*: [^\n]*`)

// tail keeps the first and the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// tailMost is how many bytes are kept: an assertion is told first, and what follows is the state of each goroutine.
const tailMost = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := tailMost - t.text.Len(); room > 0 {
		t.text.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
