package campaign

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-kafka/muster/checker/linearize"
)

// Ending is a target whose process may end by a fault of its own.
type Ending interface {
	// Dead reports whether it has ended, and with which last words.
	Dead() (words string, dead bool)
}

// endedError says that the target ended while it was judged.
type endedError struct{ words string }

func (e *endedError) Error() string {
	return "the target ended by itself: " + cmp.Or(lastWords(e.words), "it left no last words")
}

// lastWords is the line that says why a process ended: others may be before it.
func lastWords(words string) string {
	lines := strings.Split(strings.TrimSpace(words), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") })
	return strings.TrimSpace(lines[max(0, at)])
}

const (
	// mournPeriod is how often it is asked whether the target lives.
	mournPeriod = 100 * time.Millisecond
	// dying is how long a process may take to end after its connections have.
	dying = time.Second
)

// life is what is known of an Ending target's.
type life struct {
	mu    sync.Mutex
	alive time.Time // when it is known to have lived last
	ended *endedError
}

// died asks the target whether it has ended, and says since when it may have.
func (c *campaign) died() (since time.Time, ended *endedError) {
	e, ok := c.target.(Ending)
	if !ok {
		return time.Time{}, nil
	}
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	if c.life.ended == nil {
		now := time.Now()
		words, dead := e.Dead()
		if !dead {
			c.life.alive = now
			return time.Time{}, nil
		}
		c.life.ended = &endedError{words}
	}
	return c.life.alive, c.life.ended
}

// mourn ends the campaign when the target has ended. What was recorded before may be judged for a moment yet.
func (c *campaign) mourn(ctx context.Context, stopJudging func()) {
	if _, ok := c.target.(Ending); !ok {
		return
	}
	tick := time.NewTicker(mournPeriod)
	defer tick.Stop()
	for {
		if _, ended := c.died(); ended != nil {
			c.fail(ended)
			time.AfterFunc(grace, stopJudging)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// causeOf is the error of a campaign that something has ended: what a client makes of a target that is gone says less than its last words.
func (c *campaign) causeOf(ctx context.Context, cause error) error {
	if _, ok := c.target.(Ending); !ok {
		return cause
	}
	_, ended := c.died()
	for until := time.Now().Add(dying); ended == nil && cause != nil && ctx.Err() == nil && time.Now().Before(until); _, ended = c.died() {
		wait(ctx, mournPeriod/2) // nothing else tells that a process has ended
	}
	if ended != nil {
		return ended
	}
	return cause
}

// outlived leaves of a history that goes on after the target's end what is illegal all the same: of the rest a target that is gone says nothing.
func (c *campaign) outlived(one *cell, v *linearize.Verdict) {
	if since, ended := c.died(); ended == nil || one.ended.Before(since) {
		return
	}
	one.healed = nil
	v.Groups = slices.DeleteFunc(v.Groups, func(g linearize.GroupVerdict) bool { return g.Result != linearize.Illegal })
}
