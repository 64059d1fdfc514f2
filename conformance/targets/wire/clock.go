package wire

import (
	"context"
	"time"

	"github.com/muster-kafka/muster/conformance/target"
)

// wallClock is the time of anything behind a socket.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (wallClock) Await(ctx context.Context, c *target.Call, d time.Duration) bool {
	if c.Ended() {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.Done():
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return c.Ended()
}
