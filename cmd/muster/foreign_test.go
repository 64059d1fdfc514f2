package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// plainKafka starts a broker with Kafka's own defaults, as somebody else would have, and returns its address.
func plainKafka(t *testing.T) string {
	t.Helper()
	needKafka(t)
	broker := start(t, command(t, 8*time.Minute, "kafka", "start", "4.3.1", "--plain"))
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
	at := plainKafka(t)
	began := time.Now()
	muster(t, 2*time.Minute, "run", "--strict", "--target", at,
		"commit-fetch", "commit-no-generation", "join-new-member-id", "sync-follower-waits", "heartbeat-refused", "leave-batch-strangers",
		"static-fenced", "delete-groups", "describe-unknown", "list-groups", "find-coordinator",
	).expect(t, 0, "verdict: pass", "11 run, 0 skipped", "11 passed, 0 failed\n", "group.initial.rebalance.delay.ms=3000 (described)", "scaled by 1.00")
	t.Logf("in %.1f s", time.Since(began).Seconds())
}

// TestKafkaForeign judges it by all scenarios: that takes minutes of real time.
func TestKafkaForeign(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes minutes; MUSTER_NIGHTLY=1 runs it, and TestKafkaForeignSample runs always")
	}
	at := plainKafka(t)
	asJSON := filepath.Join(t.TempDir(), "v.json")
	began := time.Now()
	muster(t, 6*time.Minute, "verify", at, "--json", asJSON).expect(t, 0, "verdict: pass")
	took := time.Since(began)
	counts := readVerdict(t, asJSON)["scenarios"].(map[string]any)
	t.Logf("%v in %v", counts, took)
	if run := counts["run"].(float64); run < 30 || took > 5*time.Minute {
		t.Errorf("%v scenarios ran in %v, want 30 in five minutes", run, took)
	}
}
