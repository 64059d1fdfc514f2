package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// patience bounds every wait: it is for what never comes, not for what comes late.
const patience = 60 * time.Second

// told is a line of a client program.
type told struct {
	Event      string           `json:"event"`
	Version    string           `json:"version"`
	Partitions []int32          `json:"partitions"`
	Partition  int32            `json:"partition"`
	Offset     int64            `json:"offset"`
	Offsets    map[string]int64 `json:"offsets"`
	Text       string           `json:"text"`
}

// process is a client program that runs.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when it has ended and all that it told is known

	mu        sync.Mutex
	changed   chan struct{} // closed and made anew with each line
	version   string
	ownership []told // what it was assigned and what was taken away, in order, since the last look
	owned     []int32
	fresh     map[int32]int64 // the first offset of each partition since it was assigned
	next      map[int32]int64 // after the newest record
	answers   map[string][]map[int32]int64
	errors    []string
	stderr    bytes.Buffer
	err       error
}

// spawn starts a program in a process group of its own, so that it can be killed with what it has started.
func spawn(name string, command []string, args ...string) (*process, error) {
	p := &process{
		name: name, ended: make(chan struct{}), changed: make(chan struct{}),
		fresh: map[int32]int64{}, next: map[int32]int64{}, answers: map[string][]map[int32]int64{},
	}
	p.cmd = exec.Command(command[0], slices.Concat(command[1:], args)...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.hear(lines.Bytes())
		}
		err := p.cmd.Wait()
		p.change(func() { p.err = err })
	}()
	return p, nil
}

func (p *process) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *process) hear(line []byte) {
	var e told
	err := json.Unmarshal(line, &e)
	p.change(func() {
		if err != nil {
			p.errors = append(p.errors, fmt.Sprintf("a line that is no event: %s", line))
			return
		}
		slices.Sort(e.Partitions)
		switch e.Event {
		case "hello":
			p.version = e.Version
		case "assigned":
			for _, n := range e.Partitions {
				delete(p.fresh, n)
				delete(p.next, n)
			}
			p.owned = append(p.owned, e.Partitions...)
			slices.Sort(p.owned)
		case "revoked":
			p.owned = slices.DeleteFunc(p.owned, func(n int32) bool { return slices.Contains(e.Partitions, n) })
		case "consumed":
			if _, ok := p.fresh[e.Partition]; !ok {
				p.fresh[e.Partition] = e.Offset
			}
			p.next[e.Partition] = max(p.next[e.Partition], e.Offset+1)
		case "committed", "read":
			offsets := map[int32]int64{}
			for n, o := range e.Offsets {
				i, _ := strconv.Atoi(n)
				offsets[int32(i)] = o
			}
			p.answers[e.Event] = append(p.answers[e.Event], offsets)
		default:
			p.errors = append(p.errors, e.Text)
		}
		if (e.Event == "assigned" || e.Event == "revoked") && len(e.Partitions) > 0 {
			p.ownership = append(p.ownership, e)
		}
	})
}

// wait waits until something holds of what the program told.
func (p *process) wait(what string, holds func() bool) error {
	limit := time.After(patience)
	for {
		p.mu.Lock()
		ok, changed := holds(), p.changed
		p.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-p.ended:
			p.mu.Lock()
			ok := holds()
			p.mu.Unlock()
			if ok {
				return nil
			}
			return fmt.Errorf("%s ended (%v) before it %s%s", p.name, p.err, what, p.words())
		case <-limit:
			return fmt.Errorf("%s never %s within %s%s", p.name, what, patience, p.words())
		}
	}
}

// words are what is known of a program that does not do what it should.
func (p *process) words() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.stderr.Bytes()
	if len(text) > 4000 {
		text = text[len(text)-4000:]
	}
	return fmt.Sprintf("\nowns %v, next %v, errors %q\nstandard error: %s", p.owned, p.next, p.errors, text)
}

// ask gives a command and returns the answer.
func (p *process) ask(command, event string) (map[int32]int64, error) {
	p.mu.Lock()
	n, errs := len(p.answers[event]), len(p.errors)
	p.mu.Unlock()
	if _, err := io.WriteString(p.stdin, command+"\n"); err != nil {
		return nil, fmt.Errorf("%s takes no commands: %w%s", p.name, err, p.words())
	}
	if err := p.wait(event, func() bool { return len(p.answers[event]) > n || len(p.errors) > errs }); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers[event]) > n {
		return p.answers[event][n], nil
	}
	return nil, fmt.Errorf("%s: %s", p.name, p.errors[errs])
}

// close tells the program to leave and waits for its end.
func (p *process) close() error {
	if _, err := io.WriteString(p.stdin, "close\n"); err != nil {
		return fmt.Errorf("%s takes no commands: %w%s", p.name, err, p.words())
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		return fmt.Errorf("%s did not end within %s%s", p.name, patience, p.words())
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w%s", p.name, p.err, p.words())
	}
	return nil
}

// kill ends the program without a word, as a crash would.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
}
