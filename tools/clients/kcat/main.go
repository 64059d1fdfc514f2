// Command kcat lets kcat be a member of a group, and puts what it prints into the words of the test. Kcat commits of its own accord and takes no
// commands, so the test can only watch what is committed.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/muster-kafka/muster/tools/clients/member"
)

type client struct {
	cmd *exec.Cmd
	t   *member.Teller
	out chan struct{} // closed when all that it printed is told
}

// main is not member.Main's alone, since the version is that of the program.
func main() { member.Main("", start) }

var versionLine = regexp.MustCompile(`(?m)^Version (\S+) .*librdkafka (\S+)`)

func start(o member.Options, t *member.Teller) (member.Client, error) {
	text, err := exec.Command("kcat", "-V").CombinedOutput()
	if err != nil {
		return nil, err
	}
	if v := versionLine.FindStringSubmatch(string(text)); v != nil {
		t.Hello(fmt.Sprintf("%s (librdkafka %s)", v[1], v[2]))
	}
	set := func(key string, value any) string { return fmt.Sprintf("%s=%v", key, value) }
	cmd := exec.Command("kcat", "-b", strings.Join(o.Brokers, ","), "-u", "-f", "%p %o\n",
		"-X", set("client.id", o.Name), "-X", set("session.timeout.ms", o.Session.Milliseconds()), "-X", set("heartbeat.interval.ms", o.Heartbeat.Milliseconds()),
		"-X", set("partition.assignment.strategy", "range"), "-X", set("auto.offset.reset", "earliest"),
		"-G", o.Group, o.Topic)
	out, in, err := os.Pipe() // one for both, so that what it says of partitions and their records stay in order
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = in, in
	if err := errors.Join(cmd.Start(), in.Close()); err != nil {
		return nil, err
	}
	c := &client{cmd: cmd, t: t, out: make(chan struct{})}
	go c.read(out)
	return c, nil
}

// rebalanced is what kcat says when partitions are given and taken.
var (
	rebalanced = regexp.MustCompile(`^% Group \S+ rebalanced(?: \(memberid \S+\))?: (assigned|revoked): (.*)$`)
	partition  = regexp.MustCompile(`\[(\d+)\]`)
)

func (c *client) read(out io.Reader) {
	defer close(c.out)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var p int32
		var o int64
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &p, &o); err == nil {
			c.t.Consumed(p, o)
			continue
		}
		m := rebalanced.FindStringSubmatch(lines.Text())
		if m == nil {
			fmt.Fprintln(os.Stderr, lines.Text())
			continue
		}
		var numbers []int32
		for _, n := range partition.FindAllStringSubmatch(m[2], -1) {
			i, _ := strconv.Atoi(n[1])
			numbers = append(numbers, int32(i))
		}
		if m[1] == "assigned" {
			c.t.Assigned(numbers)
		} else {
			c.t.Revoked(numbers)
		}
	}
}

func (c *client) Commit() (map[int32]int64, error) {
	return nil, fmt.Errorf("kcat commits of its own accord")
}

func (c *client) Read() (map[int32]int64, error) { return nil, fmt.Errorf("kcat reads no offsets") }

func (c *client) Close() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-c.out
	return c.cmd.Wait()
}
