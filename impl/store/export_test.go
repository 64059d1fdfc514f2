package store

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	memTableSize = 16 << 10
	// Pebble leaves this one behind where it cannot be opened, or only in the end.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2.(*ConcurrencyLimitScheduler).periodicGranter"))
}
