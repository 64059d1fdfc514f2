package target

import (
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrClosed ends a call whose connection was closed, by us or by the target, before the answer came.
var ErrClosed = errors.New("connection closed before the answer")

// Call is one request on its way. Targets create it with NewCall and end it once with Finish.
type Call struct {
	Request kmsg.Request
	Version int16
	Sent    time.Time // on the target's clock

	once     sync.Once
	done     chan struct{}
	response kmsg.Response
	err      error
	finished time.Time
}

// NewCall returns a call that has been sent at the given instant of the target's clock.
func NewCall(req kmsg.Request, version int16, sent time.Time) *Call {
	return &Call{Request: req, Version: version, Sent: sent, done: make(chan struct{})}
}

// Finish ends the call with an answer or an error. Only the first Finish counts.
func (c *Call) Finish(resp kmsg.Response, err error, at time.Time) {
	c.once.Do(func() {
		c.response, c.err, c.finished = resp, err, at
		close(c.done)
	})
}

// Done is closed when the call has ended.
func (c *Call) Done() <-chan struct{} { return c.done }

// Ended reports whether the call has an answer or an error.
func (c *Call) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Answer returns the answer; it must not be called before the call has ended.
func (c *Call) Answer() (kmsg.Response, error) { return c.response, c.err }

// Finished is when the call ended, on the target's clock.
func (c *Call) Finished() time.Time { return c.finished }
