package differ

import (
	"context"
	"sync"
	"time"
)

// pace is how many sequences are at work at a time. It follows how fast the targets answer: as many as they can bear without getting slow,
// since what is late looks like what never comes.
type pace struct {
	mu     sync.Mutex
	free   *sync.Cond
	limit  int
	most   int
	active int
	fast   int // in a row that were neither quick nor slow
}

// quick and slow are how long a request that is answered at once may take before there may be more, or must be fewer, at a time.
const (
	quick = 60 * time.Millisecond
	slow  = 250 * time.Millisecond
)

func newPace(from, most int) *pace {
	p := &pace{limit: from, most: most}
	p.free = sync.NewCond(&p.mu)
	return p
}

// enter waits for a place, and reports whether there is one before the context ends.
func (p *pace) enter(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free.Broadcast()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.active >= p.limit && ctx.Err() == nil {
		p.free.Wait()
	}
	if ctx.Err() != nil {
		return false
	}
	p.active++
	return true
}

// leave gives a place back, with how long answers took; 0 is unknown.
func (p *pace) leave(answer time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active--
	switch {
	case answer > slow:
		p.limit, p.fast = max(min(4, p.most), p.limit*3/4), 0
	case answer > 0 && answer < quick:
		p.limit = min(p.most, p.limit+1)
	case answer > 0:
		if p.fast++; p.fast >= 4 {
			p.limit, p.fast = min(p.most, p.limit+1), 0
		}
	}
	p.free.Broadcast()
}

func (p *pace) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}
