package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// plainKafka starts a broker with Kafka's own defaults, as somebody else would have, and returns its address.
func plainKafka(t *testing.T, release string) string {
	t.Helper()
	needKafka(t)
	broker := start(t, command(t, 8*time.Minute, "kafka", "start", release, "--plain"))
	t.Cleanup(func() {
		broker.cmd.Process.Signal(syscall.SIGINT)
		broker.cmd.Wait()
	})
	return broker.stdout.await(t, `127\.0\.0\.1:\d+`, 2*time.Minute)[0]
}

// TestKafkaForeignSample judges a broker with Kafka's own defaults by a few scenarios, of each kind of request one. There the first
// generation of a group takes three seconds, and no timer can be scaled.
func TestKafkaForeignSample(t *testing.T) {
	t.Parallel()
	at := plainKafka(t, "4.3.1")
	began := time.Now()
	muster(t, 2*time.Minute, "run", "--strict", "--target", at,
		"commit-fetch", "commit-no-generation", "join-new-member-id", "sync-follower-waits", "heartbeat-refused", "leave-batch-strangers",
		"static-fenced", "delete-groups", "describe-unknown", "list-groups", "find-coordinator",
	).expect(t, 0, "verdict: pass", "11 run, 0 skipped", "11 passed, 0 failed\n", "group.initial.rebalance.delay.ms=3000 (described)", "scaled by 1.00")
	t.Logf("in %.1f s", time.Since(began).Seconds())
}

// foreignReleases are those that are judged as plain addresses: the newest one that the scenarios are recorded from, and the last one with the
// Scala coordinator, which is right in other ways than the texts begin with.
var foreignReleases = []string{"3.9.2", "4.3.1"}

// TestKafkaForeign judges such brokers by all scenarios, strictly, as somebody would who does not know --as: that takes minutes of real time.
// No release may be called wrong for being another one.
func TestKafkaForeign(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes minutes; MUSTER_NIGHTLY=1 runs it, and TestKafkaForeignSample runs always")
	}
	t.Parallel()
	for _, release := range foreignReleases {
		t.Run(release, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			at := plainKafka(t, release)
			asJSON := filepath.Join(t.TempDir(), "v.json")
			began := time.Now()
			e := muster(t, 7*time.Minute, "verify", at, "--strict", "--json", asJSON)
			took := time.Since(began)
			v := readVerdict(t, asJSON)
			if !onlyTooBusy(v) {
				e.expect(t, 0, "verdict: pass")
			}
			counts := v["scenarios"].(map[string]any)
			t.Logf("%v in %v, %d differences", counts, took, len(v["differences"].([]any)))
			if run := counts["run"].(float64); run < 150 || took > 6*time.Minute {
				t.Errorf("%v scenarios ran in %v, want 150 in six minutes", run, took)
			}
		})
	}
}
