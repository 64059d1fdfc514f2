package differ

import (
	"context"
	"slices"
)

// rehearsed makes a sequence small on the specifications of both releases in place of the brokers: hundreds of plays take no time there, and leave the
// brokers to what is being drawn. That works for what the specification knows of both, and what comes of it is played on the brokers like all
// else before it counts. nil where it makes nothing smaller.
func (r *run) rehearsed(ctx context.Context, seq Sequence, d Difference, known bool) *Sequence {
	if !known || r.virtual || r.o.Model == nil || r.a.caps.Release == "" || r.b.caps.Release == "" {
		return nil
	}
	stage := &run{o: r.o, asks: r.asks, virtual: true, bench: make(chan struct{}, 1)}
	for _, s := range []struct{ real, ours **side }{{&r.a, &stage.a}, {&r.b, &stage.b}} {
		m, err := r.o.Model((*s.real).caps.Release, nil)
		if err != nil {
			return nil
		}
		*s.ours = newSide(m)
	}
	small, err := stage.shrink(ctx, seq, d)
	if err != nil || slices.Equal(small.Lines, seq.Lines) {
		return nil
	}
	return &small
}
