package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/internal/kafka"
)

// server is what is measured, in a process of its own.
type server struct {
	name, what string
	addr       string
	pid        int
	stop       func() error
}

// starters start what can be measured, by name.
var starters = []struct {
	name  string
	start func(ctx context.Context, o options) (*server, error)
}{
	{"muster os", func(ctx context.Context, o options) (*server, error) {
		return command(ctx, o, "muster serve --data DIR --durability os", "serve", "--port", "0", "--durability", "os", "--data")
	}},
	{"muster fsync", func(ctx context.Context, o options) (*server, error) {
		return command(ctx, o, "muster serve --data DIR --durability fsync", "serve", "--port", "0", "--durability", "fsync", "--data")
	}},
	{"kfake", func(ctx context.Context, o options) (*server, error) {
		return command(ctx, o, "muster serve kfake", "serve", "kfake", "--port", "0")
	}},
	{"kfake kept", func(ctx context.Context, o options) (*server, error) {
		return command(ctx, o, "muster serve kfake --data DIR --durability os", "serve", "kfake", "--port", "0", "--durability", "os", "--data")
	}},
	{"kafka", startKafka},
}

// command starts a server of the command, which says where it listens. Where its arguments end in --data it gets a folder.
func command(ctx context.Context, o options, what string, args ...string) (*server, error) {
	temp := ""
	if args[len(args)-1] == "--data" {
		var err error
		if temp, err = os.MkdirTemp("", "muster-bench-"); err != nil {
			return nil, err
		}
		args = append(args, filepath.Join(temp, "data"))
	}
	cmd := exec.CommandContext(ctx, o.muster, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w; make build makes it", o.muster, err)
	}
	s := &server{what: what, pid: cmd.Process.Pid}
	s.stop = func() error {
		_ = cmd.Process.Signal(syscall.SIGINT)
		return errors.Join(cmd.Wait(), os.RemoveAll(temp))
	}
	if s.addr, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("%s did not say where it listens: %w", what, err), s.stop())
	}
	s.addr = strings.TrimSpace(s.addr)
	return s, nil
}

// kafkaSettings undo what makes the brokers of tests small, but for the number of partitions of groups, of which the broker would make 50 when it starts.
var kafkaSettings = map[string]string{
	"num.network.threads": "3", "num.io.threads": "8", "group.coordinator.threads": "4", "offsets.topic.num.partitions": "10",
}

// startKafka starts a broker.
func startKafka(ctx context.Context, o options) (*server, error) {
	b, err := kafka.Start(ctx, kafka.Options{Version: o.kafka, Settings: kafkaSettings})
	if err != nil {
		return nil, err
	}
	return &server{
		what: "Kafka " + o.kafka + ", one broker with the threads of its default settings, 10 partitions of `__consumer_offsets`, `group.initial.rebalance.delay.ms=0`", addr: b.Addr, pid: b.Pid(),
		stop: func() error { return b.Stop(context.WithoutCancel(ctx)) },
	}, nil
}

// prepare makes the topic that offsets are committed of, and waits until groups are served.
func (s *server) prepare() error {
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 5, 10_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, 1, 1
	req.Topics = append(req.Topics, t)
	if _, err := c.ask(req); err != nil {
		return fmt.Errorf("%s: making a topic: %w", s.name, err)
	}
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		m, err := enter(c, name())
		if err == nil {
			if _, err = must[*kmsg.OffsetCommitResponse](c, commitOf(m.group, m.id, m.generation)); err == nil {
				return m.quit()
			}
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("%s does not serve groups after %v: %w", s.name, patience, err)
		}
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKey = 3, "bench"
		if _, err := c.ask(find); err != nil { // which makes Kafka create its internal topic
			return err
		}
	}
}
