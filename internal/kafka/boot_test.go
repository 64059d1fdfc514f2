//go:build unix

package kafka

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// needKafka skips a test where no broker can be had, unless the environment says that there must be one.
func needKafka(t *testing.T, version string) {
	t.Helper()
	err := Available(version)
	if err == nil {
		return
	}
	if os.Getenv("MUSTER_REQUIRE_KAFKA") != "" {
		t.Fatalf("MUSTER_REQUIRE_KAFKA is set, but: %v", err)
	}
	t.Skipf("needs a real Kafka: %v", err)
}

func testContext(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestBoot starts a real broker, kills it, starts it again on its data, stops it, and looks for what is left.
func TestBoot(t *testing.T) {
	version := os.Getenv("MUSTER_TEST_KAFKA")
	if version == "" {
		version = "4.3.1"
	}
	needKafka(t, version)
	t.Setenv("TMPDIR", t.TempDir())
	ctx := testContext(t, 5*time.Minute)

	start := time.Now()
	b, err := Start(ctx, Options{Version: version, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Kafka %s serves groups %v after the start, archive read: %v", version, time.Since(start).Round(time.Millisecond), b.archive.read)
	stopped := false
	defer func() {
		if !stopped {
			_ = b.Stop(ctx)
		}
	}()
	if err := askReady(ctx, b.Addr, b.clusterID); err != nil {
		t.Fatal(err)
	}
	if err := b.Restart(ctx); err == nil {
		t.Fatal("Restart of a running broker was not refused")
	}
	if err := b.WhyEnded(); err != nil {
		t.Errorf("it runs, but: %v", err)
	}
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := b.WhyEnded(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("after a kill: %v", err)
	}
	if err := b.Restart(ctx); err != nil {
		t.Fatalf("restart after a kill: %v", err)
	}
	pid, dir := b.Pid(), b.dir
	kept, err := b.KeepLog()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	stopped = true
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there after Stop: %v", pid, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there after Stop: %v", dir, err)
	}
	if st, err := os.Stat(kept); err != nil || st.Size() == 0 {
		t.Errorf("the kept log %s is gone or empty: %v", kept, err)
	}
	left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	if len(left) != 2 {
		t.Errorf("left in the temporary folder: %v, want the two kept logs alone", left)
	}
}
