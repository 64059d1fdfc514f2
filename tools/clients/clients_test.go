package clients

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what was seen into testdata/seen, and docs/clients.md from it")

// both are the clusters: the reference coordinator and what it is held against.
type both struct{ muster, kafka *cluster }

// start builds the command, or takes the one that MUSTER_BIN names, and starts both, once for all clients.
func start(t *testing.T) both {
	t.Helper()
	muster := os.Getenv("MUSTER_BIN")
	if muster == "" {
		muster = filepath.Join(t.TempDir(), "muster")
		if err := do("../..", "go", "build", "-o", muster, "./cmd/muster"); err != nil {
			t.Fatal(err)
		}
	}
	var b both
	var err error
	// Two nodes, so that a client has to look for the coordinator.
	if b.muster, err = startCluster("muster serve", muster, "serve", "--listen", "127.0.0.1:0", "--nodes", "2"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.muster.stop)
	if b.kafka, err = startCluster("Kafka "+kafkaVersion, muster, "kafka", "start", kafkaVersion); err != nil {
		absent(t, err)
	}
	t.Cleanup(b.kafka.stop)
	return b
}

// absent skips a test for which something is not here, unless it has to be.
func absent(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE_CLIENTS") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// TestClients puts each client through its program on both clusters: what it observed has to be the same.
func TestClients(t *testing.T) {
	clusters := start(t)
	w, err := newWorkshop(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range All {
		t.Run(c.Name, func(t *testing.T) {
			member, tooling := prepare(t, w, c.Prepare), prepare(t, w, c.Tool) // one after the other: two may need the same
			t.Parallel()                                                       // they wait for most of the time
			ours, theirs, difference := try(t, c, member, tooling, clusters, "t-"+c.Name)
			if difference != "" {
				t.Logf("again, since a machine that stands still for the time of a session does so too:\n%s", difference)
				ours, theirs, difference = try(t, c, member, tooling, clusters, "t-"+c.Name+"-again")
			}
			if difference != "" {
				t.Fatal(difference)
			}
			onRecord(t, c, ours, theirs)
		})
	}
}

// prepare returns the command of a program, or skips the test where the machine lacks something for it.
func prepare(t *testing.T, w *workshop, what func(*workshop) ([]string, error)) []string {
	t.Helper()
	if what == nil {
		return nil
	}
	command, err := what(w)
	var lacks missing
	if errors.As(err, &lacks) {
		absent(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return command
}

// try runs the program on both clusters side by side and tells how they differ.
func try(t *testing.T, c *Client, member, tooling []string, on both, topic string) (ours, theirs *program, difference string) {
	t.Helper()
	var ourErr, theirErr error
	var wait sync.WaitGroup
	wait.Go(func() { ours, ourErr = run(context.Background(), c, member, tooling, on.muster, topic) })
	wait.Go(func() { theirs, theirErr = run(context.Background(), c, member, tooling, on.kafka, topic) })
	wait.Wait()
	a, b := strings.ReplaceAll(strings.Join(ours.log, "\n"), topic, "t"), strings.ReplaceAll(strings.Join(theirs.log, "\n"), topic, "t")
	if err := errors.Join(ourErr, theirErr); err != nil {
		return ours, theirs, fmt.Sprintf("%v\nwith %s:\n%s\nwith %s:\n%s", err, on.muster.name, a, on.kafka.name, b)
	}
	if a != b {
		return ours, theirs, fmt.Sprintf("it did not observe the same (- %s, + %s):\n%s", on.kafka.name, on.muster.name, cmp.Diff(strings.Split(b, "\n"), strings.Split(a, "\n")))
	}
	ours.log, theirs.log = strings.Split(a, "\n"), strings.Split(b, "\n")
	return ours, theirs, ""
}
