package clients

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// cluster is what clients are put to work on.
type cluster struct {
	name    string
	brokers []string
	cmd     *exec.Cmd
	ended   chan struct{}
	kgo     *kgo.Client
	admin   *kadm.Client
}

// words is what a process says, which may be read while it speaks.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// startCluster runs a muster command that prints the addresses of its brokers on a line.
func startCluster(name, muster string, args ...string) (*cluster, error) {
	c := &cluster{name: name, cmd: exec.Command(muster, args...), ended: make(chan struct{})}
	var said words
	c.cmd.Stderr = &said
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	line := make(chan string, 1)
	go func() {
		defer close(c.ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			select {
			case line <- lines.Text():
			default:
			}
		}
		_ = c.cmd.Wait()
	}()
	select {
	case first := <-line:
		c.brokers = strings.Split(first, ",")
	case <-c.ended:
		return nil, fmt.Errorf("muster %s ended: %s", strings.Join(args, " "), said.String())
	case <-time.After(5 * time.Minute): // a first download
		c.stop()
		return nil, fmt.Errorf("muster %s printed no address: %s", strings.Join(args, " "), said.String())
	}
	if c.kgo, err = kgo.NewClient(kgo.SeedBrokers(c.brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner())); err != nil {
		c.stop()
		return nil, err
	}
	c.admin = kadm.NewClient(c.kgo)
	return c, nil
}

func (c *cluster) stop() {
	if c.kgo != nil {
		c.kgo.Close()
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
}

// produce adds records to each partition.
func (c *cluster) produce(ctx context.Context, topic string, n int) error {
	var records []*kgo.Record
	for p := range int32(partitions) {
		for range n {
			records = append(records, &kgo.Record{Topic: topic, Partition: p, Value: []byte("x")})
		}
	}
	return c.kgo.ProduceSync(ctx, records...).FirstErr()
}

// committed are the offsets of a group, asked for beside the clients.
func (c *cluster) committed(ctx context.Context, group, topic string) (map[int32]int64, error) {
	answer, err := c.admin.FetchOffsets(ctx, group)
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for p, o := range answer[topic] {
		if o.Err != nil {
			return nil, o.Err
		}
		if o.At >= 0 {
			offsets[p] = o.At
		}
	}
	return offsets, nil
}

// describe is a group's state and its number of members, asked for beside the clients.
func (c *cluster) describe(ctx context.Context, group string) (state string, members int, err error) {
	answer, err := c.admin.DescribeGroups(ctx, group)
	if err != nil {
		return "", 0, err
	}
	g := answer[group]
	return g.State, len(g.Members), g.Err
}
