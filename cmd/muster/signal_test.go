package main

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The first signal ends a run in order, which takes as long as a broker lets it; the second ends the process at once.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	over, deleting := make(chan struct{}), make(chan struct{}, 1)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(over); cluster.Close() })
	cluster.ControlKey(kmsg.DeleteTopics.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		select {
		case deleting <- struct{}{}:
		default:
		}
		cluster.SleepControl(func() { <-over })
		return nil, nil, false
	})
	run := start(t, command(t, 2*time.Minute, "verify", cluster.ListenAddrs()[0]))
	run.stderr.await(t, "scenarios on", time.Minute)
	run.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-deleting: // the orderly end is under way, and waits
	case <-time.After(30 * time.Second):
		t.Fatal("the run does not end in order")
	}
	began := time.Now()
	run.cmd.Process.Signal(syscall.SIGTERM)
	err = run.cmd.Wait()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want the signal", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v to end", took)
	}
}
