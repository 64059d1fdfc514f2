package wire

import (
	"errors"
	"fmt"
)

// Errors of Open that tell a caller what is wrong with the address. All but the first mean that there is nothing to judge.
var (
	// ErrWritesNotAllowed is a refusal before anything was sent: a wrong use, not a fault of the target.
	ErrWritesNotAllowed = errors.New("a run creates groups and a topic, and this address is not on this machine: give --allow-writes if that is meant")

	ErrUnreachable = errors.New("nothing answers at the address: check that the broker runs and listens there")
	ErrNotKafka    = errors.New("what answers there does not speak Kafka's protocol")
	ErrNoGroupAPIs = errors.New("the broker lacks APIs of group coordination")
	ErrAuth        = errors.New("the broker refuses to talk to us: check the security settings in the file given with --config")
	ErrNoTopic     = errors.New("no topic to commit offsets for: create one with two partitions and give its name with --topic")
)

// garbageError tells what was received in place of an answer.
type garbageError struct {
	what string
	got  []byte // the first bytes received
}

func (e *garbageError) Error() string {
	s := e.what
	if len(e.got) > 0 {
		s += fmt.Sprintf("; received %s", showBytes(e.got))
	}
	return s
}

// Unwrap makes garbage count as not Kafka wherever it is met.
func (e *garbageError) Unwrap() error { return ErrNotKafka }

// showBytes prints bytes as text if they are, else in hex.
func showBytes(b []byte) string {
	const most = 32
	more := ""
	if len(b) > most {
		b, more = b[:most], "..."
	}
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\r' && c != '\n' {
			return fmt.Sprintf("% x%s", b, more)
		}
	}
	return fmt.Sprintf("%q%s", b, more)
}
