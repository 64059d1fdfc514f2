package linearize

import (
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
)

// brute tries every order of the operations that real time allows: no cache, no covering of one state by another. It is Unknown where
// there are too many.
func brute(t *testing.T, j *judge, p *partition) Result {
	t.Helper()
	done := make([]bool, len(p.operations))
	steps := 0
	var place func(s *state, left int) bool
	place = func(s *state, left int) bool {
		if left == 0 {
			return true
		}
		if steps++; steps > 3000 {
			return true
		}
		first := int64(maxInstant) // the end of the operation that ends first
		for i, op := range p.operations {
			if !done[i] {
				first = min(first, op.at.Latest)
			}
		}
		for i, op := range p.operations {
			if done[i] || op.at.Earliest > first {
				continue
			}
			if after := j.step(t.Context(), s, op); after != nil {
				done[i] = true
				if place(after, left-1) {
					return true
				}
				done[i] = false
			}
		}
		return false
	}
	switch legal := place(j.initial(), len(p.operations)); {
	case steps > 3000:
		return Unknown
	case legal:
		return Legal
	}
	return Illegal
}

// TestSecondOpinion compares the search, with all that it leaves out, with one that leaves out nothing, on small histories, legal and
// not. It would also notice if porcupine asked Equal the other way round, on which the covering of states depends.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	var compared, illegal, skipped int
	for seed := range uint64(400) {
		h := simulate(t, simOptions{seed: 40_000 + seed, groups: 1, clients: 3, calls: 8 + int(seed%8), loss: int(seed%2) * 20})
		for i := range 2 {
			if i == 1 {
				if h = mutate(t, r, h, mutations[r.IntN(len(mutations))]); h == nil {
					continue
				}
			}
			config, p, err := prepare(h, "g0", Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := brute(t, newJudge(config, p, Limits{}.withDefaults()), p)
			if want == Unknown {
				skipped++
				continue
			}
			got := checkGroup(t.Context(), config, p, Limits{}.withDefaults())
			compared++
			if want == Illegal {
				illegal++
			}
			if got.Result != want {
				t.Fatalf("seed %d: the search says %v %s, all orders say %v", seed, got.Result, got.Reason, want)
			}
		}
	}
	t.Logf("%d histories, %d of them illegal; %d more have too many orders", compared, illegal, skipped)
	if compared < 400 || illegal < compared/4 {
		t.Error("too few were compared")
	}
}

// TestCoveringDirection holds what the search relies on: porcupine asks Equal(new, seen), and the model answers whether seen covers new.
func TestCoveringDirection(t *testing.T) {
	small := &state{explanations: []explanation{{key: 1}}}
	large := &state{explanations: []explanation{{key: 1}, {key: 2}}}
	model := (&judge{}).model(t.Context())
	if !model.Equal(small, large) || model.Equal(large, small) {
		t.Error("a new state must be left alone where the seen one covers it, and only there")
	}

	// Two orders of A and B are tried before C proves impossible: AB is seen when BA is new.
	var asked []string
	porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return "" },
		Step: func(before, input, _ any) (bool, any) { return input != "C", before.(string) + input.(string) },
		Equal: func(a, b any) bool {
			asked = append(asked, a.(string)+" "+b.(string))
			return false
		},
	}, []porcupine.Operation{{Input: "A", Call: 0, Return: 2}, {Input: "B", Call: 1, Return: 3}, {Input: "C", Call: 4, Return: 5}})
	if len(asked) != 1 || asked[0] != "BA AB" {
		t.Errorf("porcupine asked Equal of %q, expected (new BA, seen AB)", asked)
	}
}
