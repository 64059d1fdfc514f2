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

// ports are the two that a node listens on: for clients, and for the controller.
type ports struct{ client, controller int }

// freePorts asks the kernel for free loopback ports. Another process may take them before the broker does: boot tries again.
func freePorts(client int) (ports, error) {
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
	return ports{client: c, controller: ctl}, nil
}

// boot formats the storage and starts the process, with other ports if those it picked were taken in between.
func (b *Broker) boot(ctx context.Context) error {
	var last error
	for range portTries {
		p, err := freePorts(b.opts.Port)
		if err != nil {
			return err
		}
		b.ports = p
		b.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.client))
		if err := b.prepareStorage(ctx); err != nil {
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
	b.archive = b.release.openArchive(b.java)
	args, err := b.javaArgs()
	if err != nil {
		return err
	}
	removable := ""
	if b.temp {
		removable = b.dir
	}
	proc, err := startProcess(b.java.path, args, b.dir, log, removable)
	if err != nil {
		b.archive.finish(false)
		return fmt.Errorf("starting %s: %w", b.java.path, err)
	}
	b.proc = proc
	boot, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	err = waitReady(boot, b.Addr, b.clusterID, b.proc.exited)
	if err == nil {
		return nil
	}
	exitedByItself := b.proc.ended()
	_ = b.proc.kill()
	b.archive.finish(false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return b.bootError(err, exitedByItself, start)
}

func (b *Broker) bootError(err error, exited bool, logStart int64) error {
	text := readLog(b.logFile, logStart)
	if known := explainLog(text, b.Version, b.ports.client); known != nil {
		return known
	}
	why := err
	if exited {
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
