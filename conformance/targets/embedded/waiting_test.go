package embedded_test

import (
	"testing"

	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// While a write is open, or late, the coordinator answers whom Kafka answers, lets wait whom Kafka lets wait, and tells the errors that Kafka tells.
func TestWaiting(t *testing.T) {
	if err := embedded.Waiting(); err != nil {
		t.Error(err)
	}
}
