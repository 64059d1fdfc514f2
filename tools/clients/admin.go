package clients

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tooling is Kafka's tool for groups, which takes one command line after the other.
type tooling struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string // closed when it has ended
}

func startTooling(command []string) (*tooling, error) {
	t := &tooling{cmd: exec.Command(command[0], command[1:]...), lines: make(chan string, 1000)}
	var err error
	if t.stdin, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(t.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			t.lines <- s.Text()
		}
	}()
	return t, nil
}

// run returns what a command line prints, and how it ends.
func (t *tooling) run(args string) ([]string, error) {
	if _, err := io.WriteString(t.stdin, args+"\n"); err != nil {
		return nil, err
	}
	var said []string
	for limit := time.After(patience); ; {
		select {
		case line, ok := <-t.lines:
			if !ok {
				return said, fmt.Errorf("the tool ended: %s", strings.Join(said, "\n"))
			}
			said = append(said, line)
			if strings.HasPrefix(line, "exit ") {
				return said, nil
			}
		case <-limit:
			return said, fmt.Errorf("%s: no end within %s: %s", args, patience, strings.Join(said, "\n"))
		}
	}
}

func (t *tooling) stop() {
	_ = t.cmd.Process.Kill()
	for range t.lines {
	}
	_ = t.cmd.Wait()
}

// What differs from one run to the next: ids that are drawn, and addresses.
var (
	drawnID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	address = regexp.MustCompile(`127\.0\.0\.1:\d+ +\(\d+\)`)
	stack   = regexp.MustCompile(`^\s+at |^\s*\.\.\. \d+ more`)
)

// administer is the program of Kafka's tool for groups: it looks at a group that does not exist, at one that works and must be left alone, and at one
// that is Empty, whose offsets it moves and deletes.
func (p *program) administer(ctx context.Context) error {
	tool, err := startTooling(p.tooling)
	if err != nil {
		return err
	}
	defer tool.stop()
	s := &acts{program: p, ctx: ctx}
	group, topic := " --group "+p.group, " --topic "+p.topic
	s.say("== there is no such group")
	s.ask(tool, "--describe"+group, "--describe --state"+group, "--delete"+group, "--delete-offsets"+group+topic)

	s.produce()
	s.say("== A works")
	a := s.start("A")
	s.rest(a)
	s.consume(a, 1)
	s.commit(a)
	s.produce() // A does not commit these: it lags behind
	s.consume(a, 2)
	s.ask(tool, "--list", "--list --state", "--list --state stable", "--list --state empty", "--list --type classic", "--list --type consumer",
		"--describe"+group, "--describe --members --verbose"+group, "--describe --state"+group, "--describe --offsets --verbose"+group,
		"--reset-offsets --to-earliest --execute"+group+topic, "--delete"+group, "--delete-offsets"+group+topic)

	s.say("== the group is Empty")
	s.leave(a)
	s.ask(tool, "--list --state", "--describe"+group, "--describe --members"+group, "--describe --state"+group,
		"--reset-offsets --to-earliest --dry-run"+group+topic, "--reset-offsets --to-offset 2 --execute"+group+topic+":1",
		"--reset-offsets --to-latest --execute"+group+topic+":2,3", "--reset-offsets --shift-by -1 --execute"+group+topic+":3", "--describe"+group)

	s.say("== C reads on from where the tool has put it")
	c := s.start("C")
	s.produce()
	s.rest(c)
	s.consume(c, 3)
	s.leave(c)

	s.say("== its end")
	s.ask(tool, "--delete-offsets"+group+topic+":0", "--describe"+group, "--delete"+group, "--list", "--describe"+group, "--delete"+group)
	return s.err
}

// ask runs the tool, and says what it printed: without what is drawn, and of lists only what is of this group.
func (p *program) ask(tool *tooling, args string) error {
	said, err := tool.run("--bootstrap-server " + strings.Join(p.wire.addrs, ",") + " " + args)
	if err != nil {
		return err
	}
	p.say("$ %s", args)
	for _, line := range p.plain(said, strings.HasPrefix(args, "--list")) {
		p.say("  %s", line)
	}
	return nil
}

func (p *program) plain(said []string, list bool) []string {
	var lines []string
	for _, line := range said {
		other := list && !strings.Contains(line, p.group) && !strings.HasPrefix(line, "exit") && !strings.HasPrefix(line, "GROUP")
		if strings.TrimSpace(line) == "" || stack.MatchString(line) || other {
			continue
		}
		line = drawnID.ReplaceAllString(address.ReplaceAllString(line, "COORDINATOR"), "ID")
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return sorted(lines)
}

// sorted puts the rows of a table in order: the tool leaves it to chance.
func sorted(lines []string) []string {
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "GROUP") })
	if at >= 0 {
		slices.Sort(lines[at+1 : len(lines)-1])
	}
	return lines
}
