package target

import (
	"context"
	"time"
)

// WallClock is the time of anything behind a socket.
type WallClock struct{}

func (WallClock) Now() time.Time { return time.Now() }

func (WallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (WallClock) Await(ctx context.Context, c *Call, d time.Duration) bool {
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
