package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ports are those that a node listens on: for clients, for the controller or, before 3.3, ZooKeeper, and where it is asked for for clients that prove who they are.
type ports struct{ client, controller, secured int }

// freePorts asks the kernel for free loopback ports. Another process may take them before the broker does: boot tries again.
func freePorts(client int, secured bool) (ports, error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	pick := func(port int) (int, error) {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return 0, err
		}
		held = append(held, l)
		return l.Addr().(*net.TCPAddr).Port, nil
	}
	c, err := pick(client)
	if err != nil {
		return ports{}, &PortError{Port: client, Err: err}
	}
	ctl, err := pick(0)
	if err != nil {
		return ports{}, &PortError{Err: err}
	}
	all := ports{client: c, controller: ctl}
	if secured {
		if all.secured, err = pick(0); err != nil {
			return ports{}, &PortError{Err: err}
		}
	}
	return all, nil
}

// boot formats the storage and starts the process, with other ports if those it picked were taken in between.
func (b *Broker) boot(ctx context.Context) error {
	var last error
	for range portTries {
		p, err := freePorts(b.opts.Port, b.opts.Secured != "")
		if err != nil {
			return err
		}
		b.ports = p
		b.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.client))
		if b.opts.Secured != "" {
			b.SecuredAddr = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.secured))
		}
		if b.kind.zookeeper {
			err = b.prepareZooKeeper()
		} else {
			err = b.prepareStorage(ctx)
		}
		if err != nil {
			return err
		}
		err = b.launch(ctx)
		var taken *PortError
		if err == nil || !errors.As(err, &taken) || b.opts.Port != 0 {
			return err
		}
		last = err
	}
	return fmt.Errorf("after %d tries: %w", portTries, last)
}

// launch starts the process on the storage that is there and waits until it serves groups.
func (b *Broker) launch(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(b.logFile), 0o755); err != nil {
		return diskError("making the log's folder", err)
	}
	log, err := os.OpenFile(b.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return diskError("opening the broker's log", err)
	}
	defer log.Close()
	start, err := log.Seek(0, 2)
	if err != nil {
		return diskError("opening the broker's log", err)
	}
	removable := ""
	if b.temp {
		removable = b.dir
	}
	boot, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	if err = b.launchAll(boot, log, removable); err == nil {
		return nil
	}
	b.endAll()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return b.bootError(err, start)
}

// launchAll starts the processes and waits until groups are served.
func (b *Broker) launchAll(ctx context.Context, log *os.File, removable string) error {
	if b.kind.zookeeper {
		if err := b.startZooKeeper(ctx, log, removable); err != nil {
			return err
		}
	}
	b.archive = b.release.openArchive(b.java)
	args, err := b.javaArgs()
	if err != nil {
		return err
	}
	proc, err := startProcess(b.java.path, args, b.dir, log, removable)
	if err != nil {
		return fmt.Errorf("starting %s: %w", b.java.path, err)
	}
	b.proc = proc
	return waitReady(ctx, b.Addr, b.learnClusterID, b.proc.exited)
}

// endAll ends, at once, what a start that failed has left.
func (b *Broker) endAll() {
	if b.proc != nil {
		_ = b.proc.kill()
	}
	b.archive.finish(false)
	if b.zk != nil {
		_ = b.zk.kill()
		b.zk = nil
	}
}

func (b *Broker) bootError(err error, logStart int64) error {
	text := readLog(b.logFile, logStart)
	if known := explainLog(text, b.Version, b.ports.client); known != nil {
		return known
	}
	why := err
	if errors.Is(err, errEnded) {
		why = fmt.Errorf("the process ended before it served a group (%v)", b.proc.waitErr())
	} else if errors.Is(err, context.DeadlineExceeded) {
		why = fmt.Errorf("it served no group within %v", bootTimeout/time.Second*time.Second)
	}
	return &BootError{Version: b.Version, LogFile: b.logFile, Tail: tail(text, 12), Err: why}
}

// javaArgs is the command line of the broker, without the java itself.
func (b *Broker) javaArgs() ([]string, error) {
	logging, err := b.release.loggingArgs(b.dir)
	if err != nil {
		return nil, err
	}
	args := append([]string{}, jvmFlags...)
	args = append(args, b.archive.args()...)
	args = append(args, logging...)
	classPath, err := b.classPathFile()
	if err != nil {
		return nil, err
	}
	return append(args, classPath, "kafka.Kafka", b.propertiesFile()), nil
}

// classPathFile keeps forty jars out of the command line, for the sake of whoever looks at it with ps.
func (b *Broker) classPathFile() (string, error) {
	path := filepath.Join(b.dir, "java.args")
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(b.release.classPath())
	return "@" + path, writeFile(path, "-cp \""+quoted+"\"\n")
}
