package pairs

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-kafka/muster/internal/differ"
)

// Alone is what muster diff made of a pair.
type Alone struct {
	Seed   uint64
	Budget time.Duration
	Found  bool
	After  time.Duration // until it was found, made small and sure; or all there was
	Lines  []string      // of the smallest sequence; none where what is offered differs
	A, B   string        // the lines that differ
	Others int           // differences by then that are others
}

// DiffAlone compares two releases as muster diff does. It is told of the pair only to recognise what is found, and to end then: what is drawn knows nothing
// of it.
func DiffAlone(ctx context.Context, p Pair, o differ.Options) (Alone, error) {
	alone := Alone{Seed: o.Seed, Budget: o.Budget}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	began := time.Now()
	o.Found = func(c differ.Class) {
		mu.Lock()
		defer mu.Unlock()
		if alone.Found || !p.is(&c) {
			alone.Others++
			return
		}
		alone.Found, alone.After, alone.Lines, alone.A, alone.B = true, time.Since(began), c.Sequence.Lines, c.A, c.B
		stop()
	}
	if p.Offers != "" { // what is offered is told whatever is drawn
		o.Sequences = 1
	}
	rep, err := differ.Run(ctx, o)
	mu.Lock()
	defer mu.Unlock()
	if alone.Found {
		return alone, nil
	}
	alone.After = time.Since(began)
	if p.Offers != "" {
		if at := slices.IndexFunc(rep.Remarks, func(r string) bool { return strings.Contains(r, p.Offers+" ") && strings.Contains(r, "offers") }); at >= 0 {
			alone.Found, alone.A = true, rep.Remarks[at]
		}
	}
	return alone, err
}

// is says whether a class is what the pair is about.
func (p Pair) is(c *differ.Class) bool {
	return slices.ContainsFunc(append([]string{c.Rule}, c.Rules...), func(id string) bool { return slices.Contains(p.Rules, id) })
}
