package linearize

import (
	"math/rand/v2"
	"testing"

	"github.com/muster-kafka/muster/checker/history"
)

// TestEvidenceChangesNothing judges random histories of commits, half of them without an answer, and of fetches that show any of what was committed, with
// evidence and without: the verdict has to be the same.
func TestEvidenceChangesNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	count := map[Result]int{}
	proven := 0
	for seed := range 2000 {
		b := newBook("reference")
		var commits int64
		for range 3 + r.IntN(5) {
			from := r.IntN(300)
			to := from + 1 + r.IntN(60)
			switch {
			case commits > 0 && r.IntN(3) == 0:
				b.fetch("reader", 40+from, 40+to, r.Int64N(commits+2)-1)
			default:
				commits++
				offset := commits
				if r.IntN(3) == 0 {
					offset = 1 // not the only one that commits it
				}
				if c := b.commit("a", from, to, "", -1, offset, 0); r.IntN(2) == 0 {
					eaten(c)
				}
			}
		}
		seen, err := Check(t.Context(), &b.History, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		blind, err := Check(t.Context(), &b.History, Limits{blind: true})
		if err != nil {
			t.Fatal(err)
		}
		if seen.Result != blind.Result {
			t.Errorf("history %d: %v with evidence, %v without", seed, seen.Result, blind.Result)
		}
		count[seen.Result]++
		proven += provenIn(t, &b.History)
	}
	t.Logf("%d legal, %d illegal; %d calls without an answer have had their effect", count[Legal], count[Illegal], proven)
	if count[Legal] < 300 || count[Illegal] < 300 || proven < 150 {
		t.Error("too little was compared")
	}
}

// provenIn counts the calls without an answer that are known to have had their effect.
func provenIn(t *testing.T, h *history.History) (n int) {
	t.Helper()
	_, p, err := prepare(h, "g", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.calls {
		if c.proven && c.actual == nil {
			n++
		}
	}
	return n
}
