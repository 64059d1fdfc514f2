package wire

import (
	"context"

	"golang.org/x/time/rate"
)

// Divert makes the connections of actors (Dial) go to another address than the broker's: to that of a proxy before it. What the harness asks
// for itself goes the straight way. nil ends it. Connections that are open stay.
func (t *Target) Divert(through func(addr string) (string, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.through = through
}

// Secured says whether connections are encrypted or authenticated, so that nobody can look into them on the way.
func (t *Target) Secured() bool { return t.opts.TLS != nil || t.opts.SASL != nil }

// actors dials for actors.
func (t *Target) actors() dialer {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.dialer
	d.through = t.through
	return d
}

// TakePace hands the pace of requests over: Send does not wait any more, and the caller waits by the function before each request, before it
// reads its clock. Whoever records when requests are sent needs that. Where there is no limit the function does not wait.
func (t *Target) TakePace() func(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit := t.limit
	t.limit = nil
	return func(ctx context.Context) error {
		if limit == nil {
			return ctx.Err()
		}
		return limit.Wait(ctx)
	}
}

func (t *Target) pacer() *rate.Limiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limit
}
