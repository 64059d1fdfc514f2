package pairs

import (
	"cmp"
	"context"
	"fmt"
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
	Others []string      // what else differed by then
}

// DiffAlone compares two releases as muster diff does. It is told of the pairs that these releases are only to recognise what is found, and to end when
// all of them are: what is drawn knows nothing of them.
func DiffAlone(ctx context.Context, all []Pair, o differ.Options) (map[string]Alone, error) {
	seen := map[string]Alone{}
	for _, p := range all {
		seen[p.Name] = Alone{Seed: o.Seed, Budget: o.Budget}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	began := time.Now()
	offered, left := 0, len(all)
	for _, p := range all {
		if p.Offers != "" {
			offered++
		}
	}
	o.Found = func(c differ.Class) {
		mu.Lock()
		defer mu.Unlock()
		known := cmp.Or(c.Known, "unexplained: "+c.Note)
		for _, p := range all {
			if one := seen[p.Name]; !one.Found && !p.is(&c) {
				one.Others = append(one.Others, fmt.Sprintf("%s; %s; rule %s", c.Signature, known, c.Rule))
				seen[p.Name] = one
			}
			if one := seen[p.Name]; !one.Found && p.is(&c) {
				one.Found, one.After, one.Lines, one.A, one.B = true, time.Since(began), c.Sequence.Lines, c.A, c.B
				seen[p.Name] = one
				left--
			}
		}
		if left <= offered {
			stop()
		}
	}
	if offered == len(all) { // that is told whatever is drawn
		o.Sequences = 1
	}
	rep, err := differ.Run(ctx, o)
	mu.Lock()
	defer mu.Unlock()
	for _, p := range all {
		one := seen[p.Name]
		if p.Offers != "" {
			if at := slices.IndexFunc(rep.Remarks, func(r string) bool { return strings.Contains(r, p.Offers+" ") && strings.Contains(r, "offers") }); at >= 0 {
				one.Found, one.A = true, rep.Remarks[at]
			}
		}
		if !one.Found {
			one.After = time.Since(began)
		}
		seen[p.Name] = one
	}
	if left == 0 {
		err = nil
	}
	return seen, err
}

// is says whether a class is what the pair is about.
func (p Pair) is(c *differ.Class) bool {
	if slices.Contains(p.Rules, c.Rule) {
		return true
	}
	return c.Known != "" && slices.ContainsFunc(c.Rules, func(id string) bool { return slices.Contains(p.Rules, id) }) // else they are only at work there
}
