package embedded_test

import (
	"testing"

	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// Step by step the coordinator does what Kafka does: while a write is open, or late, and with what clients seldom ask.
func TestPlays(t *testing.T) {
	if err := embedded.Plays(); err != nil {
		t.Error(err)
	}
}
