package lockstep

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// A run that is taken apart into its deeds is the same run when all of them are done again, whatever happens in it; and what is left when some are left
// out is explained like any other.
func TestDeedsMakeTheRunAgain(t *testing.T) {
	setup := everything
	setup.Groups, setup.FailWrites, setup.Network, setup.Jumps, setup.Torn = 2, true, true, true, true
	c := whole(classic.Java)
	done, left := 0, 0
	for seed := range uint64(40) {
		s := &shrinker{
			newMachine: func() checker.Machine { return machine(c, seed) }, world: observe.NewWorld(c), options: Options{World: c, Setup: setup},
		}
		if seed%4 == 0 {
			s.options.Setup = gen.Setup{}
		}
		src := &recorder{}
		src.reset(seed)
		if v := s.walk(src, false).run(60, false); v != nil {
			t.Fatal(v)
		}
		s.best = src.made()
		first, deeds, _ := s.keeps(s.best)
		again, all, v := s.redo(deeds, true)
		if diff := cmp.Diff(first.trace, again.trace); diff != "" || v != nil {
			t.Fatalf("seed %d: %d of %d deeds are done again, %v:\n%s", seed, len(all), len(deeds), v, diff)
		}
		for every := 2; every < 5; every++ {
			few := slices.Clone(deeds)
			for i := len(few) - 1; i >= 0; i -= every {
				few = slices.Delete(few, i, i+1)
			}
			_, some, v := s.redo(few, true)
			if v != nil {
				t.Fatalf("seed %d, every %d. deed left out: %v", seed, every, v.String())
			}
			done, left = done+len(some), left+len(few)-len(some)
		}
	}
	t.Logf("with some deeds left out, %d others could be done and %d could not", done, left)
	if left > done/10 {
		t.Errorf("%d deeds could not be done without others, and %d could", left, done)
	}
}
