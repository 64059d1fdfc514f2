// Package kafkatest is for tests that need a real broker.
package kafkatest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/muster-kafka/muster/internal/kafka"
)

// Need skips a test where no broker of the release can be started, and fails it where the environment says that one has to be (MUSTER_REQUIRE_KAFKA).
func Need(t testing.TB, release string) {
	t.Helper()
	err := kafka.Available(release)
	if err == nil {
		return
	}
	if os.Getenv("MUSTER_REQUIRE_KAFKA") != "" {
		t.Fatalf("MUSTER_REQUIRE_KAFKA is set, but: %v", err)
	}
	t.Skipf("needs a real Kafka: %v", err)
}

// Start starts a broker that is needed, and stops it when the test ends.
func Start(t testing.TB, release string, settings map[string]string) *kafka.Broker {
	t.Helper()
	Need(t, release)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	b, err := kafka.Start(ctx, kafka.Options{Version: release, Settings: settings, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}
