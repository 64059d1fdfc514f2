package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Up to 3.2 a cluster is kept by ZooKeeper, which is among Kafka's own dependencies. The broker gets one of its own, in a process of
// its own; Kill ends the broker alone, Stop first the broker and then its ZooKeeper: a broker without one hangs in its shutdown.

// zooFlags keep it small. It is started from the jars of the broker.
var zooFlags = []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.awt.headless=true"}

// zooConfig listens on loopback alone. A tick of 500 ms allows sessions from 1 s to 10 s. The command "dump" tells which brokers
// are registered.
const zooConfig = `dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
tickTime=500
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=dump
`

// zkChroot is the folder within ZooKeeper that the cluster is kept in: under a name of its own, so that a broker which came upon
// another one's ZooKeeper would do no harm there.
func (b *Broker) zkChroot() string { return "/muster-" + b.zkName }

func (b *Broker) zkAddr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.ports.controller))
}

// prepareZooKeeper writes the properties of both processes. The cluster's id is not ours to choose: the broker writes it down.
func (b *Broker) prepareZooKeeper() error {
	name := filepath.Join(b.dir, "zookeeper.name")
	switch text, err := os.ReadFile(name); {
	case err == nil:
		b.zkName = strings.TrimSpace(string(text))
	case errors.Is(err, os.ErrNotExist):
		b.zkName = newClusterID()
		if err := writeFile(name, b.zkName+"\n"); err != nil {
			return err
		}
	default:
		return err
	}
	if err := b.writeProperties(); err != nil {
		return err
	}
	data := filepath.ToSlash(filepath.Join(b.dir, "zookeeper"))
	return writeFile(b.zkFile(), fmt.Sprintf(zooConfig, data, b.ports.controller))
}

func (b *Broker) zkFile() string { return filepath.Join(b.dir, "zookeeper.properties") }

// startZooKeeper returns when ZooKeeper serves and knows of no earlier life of the broker: one that was killed stays registered until
// its session ends, and its successor would be refused.
func (b *Broker) startZooKeeper(ctx context.Context, log *os.File, removable string) error {
	if b.zk == nil || b.zk.ended() {
		logging, err := b.release.loggingArgs(b.dir)
		if err != nil {
			return err
		}
		classPath, err := b.classPathFile()
		if err != nil {
			return err
		}
		args := append(append([]string{}, zooFlags...), logging...)
		args = append(args, classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", b.zkFile())
		if b.zk, err = startProcess(b.java.path, args, b.dir, log, removable); err != nil {
			return fmt.Errorf("starting %s: %w", b.java.path, err)
		}
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		select {
		case <-b.zk.exited:
			return fmt.Errorf("its ZooKeeper ended (%v)", b.zk.waitErr())
		case <-ctx.Done():
			return fmt.Errorf("%w (its ZooKeeper: %v)", ctx.Err(), last)
		case <-tick.C:
		}
		if last = b.askZooKeeper(ctx); last == nil {
			return nil
		}
	}
}

// askZooKeeper is nil when it serves and the broker is not registered there.
func (b *Broker) askZooKeeper(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", b.zkAddr())
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "dump"); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(conn, 1<<20))
	if err != nil {
		return err
	}
	registered := b.zkChroot() + "/brokers/ids/" + nodeID
	switch {
	case !bytes.Contains(text, []byte("phemeral")): // "ephemeral nodes dump:", "Sessions with Ephemerals"
		return fmt.Errorf("it answers %q", tail(string(text), 3))
	case bytes.Contains(text, []byte(registered)):
		return errors.New("the broker's former life is still registered")
	}
	return nil
}

// stopZooKeeper ends it, after the broker.
func (b *Broker) stopZooKeeper(ctx context.Context) error {
	if b.zk == nil {
		return nil
	}
	_, err := b.zk.terminate(ctx)
	return err
}
