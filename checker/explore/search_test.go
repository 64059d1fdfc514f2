package explore

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// grid is a machine whose answers are known: points (x, y) up to a size, steps to the right and up, one of them broken.
type grid struct {
	size   uint64
	broken Key // the point that breaks a property, and whose way out does too
	fault  error
}

func (g grid) Initial() Key { return Key{} }

func (g grid) Expand(k Key, x *Expansion) {
	for axis := range k {
		next := k
		if next[axis]++; next[axis] < g.size {
			x.Next = append(x.Next, next)
		}
	}
	x.Next = append(x.Next, k) // a loop
	if k == g.broken && k != (Key{}) {
		x.Findings = append(x.Findings, Finding{Edge: OfState, Property: "no such point"}, Finding{Edge: len(x.Next) - 1, Property: "no such loop"})
		x.Err = g.fault
	}
}

func (g grid) Narrate(edges []int, f Finding) []Step {
	return []Step{{Event: fmt.Sprint(edges, " ", f.Edge)}}
}

func TestSearchOfAGrid(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		r := Run(context.Background(), "grid", func() Machine { return grid{size: 100, broken: Key{2, 3}} }, Options{Workers: workers})
		if r.States != 10_000 || r.Transitions != 2*100*99+10_000 || r.Depth != 198 || !r.Complete || r.Frontier != 0 {
			t.Errorf("%d workers: %s", workers, r)
		}
		if len(r.Violations) != 2 {
			t.Fatalf("violations %v", r.Violations)
		}
		// Of all ways to (2, 3) the one through the smallest parents: first up, then right.
		for i, want := range []string{"[1 1 1 0 0 2] 2", "[1 1 1 0 0] -1"} {
			if got := r.Violations[i].Trace[0].Event; got != want {
				t.Errorf("%d workers: trace %s, want %s", workers, got, want)
			}
		}
	}
}

// countdown ends in a state whose key is zero.
type countdown struct{ grid }

func (countdown) Initial() Key { return Key{9, 0} }

func (countdown) Expand(k Key, x *Expansion) {
	for less := range k[0] {
		x.Next = append(x.Next, Key{less, 0})
	}
}

// A worker does not take for reached what nobody has reached.
func TestEveryStateIsReached(t *testing.T) {
	r := Run(context.Background(), "countdown", func() Machine { return countdown{} }, Options{})
	if r.States != 10 || r.Transitions != 45 || r.Depth != 1 {
		t.Error(r)
	}
}

func TestStopAtViolation(t *testing.T) {
	r := Run(context.Background(), "grid", func() Machine { return grid{size: 100, broken: Key{2, 3}} }, Options{StopAtViolation: true})
	if r.Complete || len(r.Violations) != 2 || r.States != 28 || r.Frontier != 7 {
		t.Errorf("%+v", r)
	}
}

func TestMachineThatCannotGoOn(t *testing.T) {
	fault := errors.New("too much")
	r := Run(context.Background(), "grid", func() Machine { return grid{size: 100, broken: Key{2, 3}, fault: fault} }, Options{Workers: 2})
	if r.Complete || r.Reason != fault.Error() {
		t.Errorf("%+v", r)
	}
}
