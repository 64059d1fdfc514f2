// Package kafka starts real Apache Kafka brokers on this machine: one process that is broker and controller (up to 3.2 a broker with
// its ZooKeeper), on loopback ports, ready when it has answered for a group. It knows nothing of what the broker is wanted for.
//
// The jars come from Maven, once per release, into the user's cache; KAFKA_HOME is accepted in place of Maven for the release
// that lies there. Whatever happens to this process, the broker and its files go with it (see guard.go).
package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Options say which broker to start. Only Version is needed.
type Options struct {
	// Version is a Kafka release of 2.4.0 or later: "4.3.1"; "3.9.2+java" is 3.9.2 with the Java coordinator switched on.
	Version string

	// Settings are broker settings on top of DefaultSettings, as in server.properties. They cannot move the listeners.
	Settings map[string]string

	// Secured is the security protocol of one more listener for clients, such as "SASL_SSL"; empty is none. Its settings begin with SecuredPrefix.
	Secured string

	// Plain leaves Kafka's own defaults in place (6 s smallest session, 3 s initial delay, 50 offsets partitions): only what one
	// node cannot do without is set.
	Plain bool

	// Port is the port to listen on at 127.0.0.1; 0 picks free ones and tries again if another process takes them first.
	Port int

	// Dir holds the broker's data, is kept after the broker has stopped, and may hold the data of an earlier run of the same
	// release. Empty means a temporary folder that goes with the broker.
	Dir string

	// Log is the file that the broker's log is appended to; empty means kafka.log in the broker's folder.
	Log string

	// Progress is told what is being waited for, a line at a time ("downloading Kafka 4.3.1 ..."); may be nil.
	Progress func(string)
}

// SecuredPrefix begins the settings of the listener of Options.Secured.
const SecuredPrefix = "listener.name.secured."

// Bounds of what is waited for. They are generous: a laptop that sleeps through one is rare, a hang must end.
const (
	bootTimeout = 90 * time.Second // from the start of the process to the first answer for a group
	stopTimeout = 20 * time.Second // from SIGTERM to SIGKILL; a first run also writes its class archive in that time
	portTries   = 4                // how often free ports are picked before giving up
)

// Broker is a running Kafka.
type Broker struct {
	Version string
	Addr    string // HOST:PORT for clients

	SecuredAddr string // HOST:PORT of the listener of Options.Secured; empty without one

	opts      Options
	kind      kind
	java      javaRuntime
	release   release
	dir       string // data, properties and log
	temp      bool   // dir is ours to remove
	clusterID string // "" while a broker with ZooKeeper has not written it down
	ports     ports
	logFile   string
	proc      *process
	zk        *process // nil without ZooKeeper
	zkName    string
	archive   classArchive
}

// Start returns a broker that serves groups, or a typed error (see errors.go). The context bounds the whole of it, the download
// included; it does not bound the broker's life.
func Start(ctx context.Context, opts Options) (*Broker, error) {
	kind, err := parseVersion(opts.Version)
	if err != nil {
		return nil, err
	}
	java, err := findJava()
	if err != nil {
		return nil, err
	}
	rel, err := resolve(ctx, kind.jars, java, opts.progress)
	if err != nil {
		return nil, err
	}
	b := &Broker{Version: opts.Version, opts: opts, kind: kind, java: java, release: rel}
	if err := b.makeDir(); err != nil {
		return nil, err
	}
	if err := b.boot(ctx); err != nil {
		err = b.nameLog(err)
		b.removeDir()
		return nil, err
	}
	return b, nil
}

// Restart starts a broker that has ended again, on the same port and data.
func (b *Broker) Restart(ctx context.Context) error {
	if !b.proc.ended() {
		return fmt.Errorf("kafka %s at %s still runs: Kill it or let it Shutdown before Restart", b.Version, b.Addr)
	}
	return b.nameLog(b.launch(ctx))
}

// Kill ends the broker at once, as a crash would, and keeps its data for Restart. Stop must still be called.
func (b *Broker) Kill() error {
	defer b.archive.finish(false)
	return b.proc.kill()
}

// Shutdown asks the broker to end as an operator does, waits at most 20 s until it has, and keeps its data for Restart. Stop must still be called.
func (b *Broker) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	clean, err := b.proc.terminate(ctx)
	b.archive.finish(clean)
	return err
}

// Freeze makes the broker stand still until Thaw, with all that it has in memory. Not every system can.
func (b *Broker) Freeze() error { return freeze(b.proc.cmd.Process) }

// Thaw ends that.
func (b *Broker) Thaw() error { return thaw(b.proc.cmd.Process) }

// Stop ends the broker and removes what it left, unless Options.Dir said to keep it. It waits at most 20 s for an orderly end,
// less if the context ends before.
func (b *Broker) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if b.zk != nil && b.zk.ended() {
		_ = b.proc.cmd.Process.Kill() // it would hang in its shutdown
	}
	return errors.Join(b.Shutdown(ctx), b.stopZooKeeper(ctx), b.removeDir())
}

// LogFile is where the broker logs; unless Options said otherwise it goes with Stop (see KeepLog).
func (b *Broker) LogFile() string { return b.logFile }

// KeepLog copies the log out of the temporary folder, so that it outlives Stop, and returns where it is.
func (b *Broker) KeepLog() (string, error) {
	return keepLog(b.logFile, b.temp && b.opts.Log == "", b.Version)
}

// Pid is the process id of the broker (not of its ZooKeeper).
func (b *Broker) Pid() int { return b.proc.pid() }

// Exited is closed when the process has ended, by Stop, Kill or by itself.
func (b *Broker) Exited() <-chan struct{} { return b.proc.exited }

// WhyEnded explains the end of a broker that nobody has stopped, from its log; nil while it runs.
func (b *Broker) WhyEnded() error {
	if !b.proc.ended() {
		return nil
	}
	text := readLog(b.logFile, 0)
	if known := explainLog(text, b.Version, b.ports.client); known != nil {
		return known
	}
	return b.nameLog(&BootError{Version: b.Version, LogFile: b.logFile, Tail: tail(text, 12), Err: fmt.Errorf("it ended by itself (%v)", b.proc.waitErr())})
}

func (o Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

func (b *Broker) makeDir() error {
	b.dir = b.opts.Dir
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "muster-kafka-"+b.Version+"-")
		if err != nil {
			return diskError("making a folder for the broker", err)
		}
		b.dir, b.temp = dir, true
	} else {
		if err := os.MkdirAll(b.dir, 0o755); err != nil {
			return diskError("making the broker's folder", err)
		}
		abs, err := filepath.Abs(b.dir)
		if err != nil {
			return err
		}
		b.dir = abs
	}
	b.logFile = b.opts.Log
	if b.logFile == "" {
		b.logFile = filepath.Join(b.dir, "kafka.log")
	}
	return nil
}

func (b *Broker) removeDir() error {
	if !b.temp {
		return nil
	}
	return os.RemoveAll(b.dir)
}
