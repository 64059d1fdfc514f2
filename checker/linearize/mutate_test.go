package linearize

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/spoil"
)

// mutation changes one answer into one that the specification would not have given, mostly.
type mutation struct {
	spoil.Change
	floor float64 // the share that must be caught; measured, then rounded down
}

var mutations = func() (all []mutation) {
	floors := map[string]float64{"heartbeat error swapped": 0.85, "described member dropped": 0.8, "answered though superseded": 0.8}
	for _, c := range spoil.Changes {
		m := mutation{c, 0.9}
		if floor, ok := floors[c.Name]; ok {
			m.floor = floor
		}
		all = append(all, m)
	}
	return all
}()

// mutate changes one call of the history, or returns nil where none can be.
func mutate(t *testing.T, r *rand.Rand, h *history.History, m mutation) *history.History {
	t.Helper()
	for range 400 {
		mutated, err := m.History(r, h, r.IntN(len(h.Calls)))
		if err != nil {
			t.Fatal(err)
		}
		if mutated != nil {
			return mutated
		}
	}
	return nil
}

// TestMutatedHistoriesAreIllegal shows that the judge is not too loose: one wrong answer in a legal history is noticed, mostly.
func TestMutatedHistoriesAreIllegal(t *testing.T) {
	t.Parallel()
	runs := 40
	if testing.Short() {
		runs = 30
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, m := range mutations {
		t.Run(m.Name, func(t *testing.T) {
			var tried, caught, unknown int
			began := time.Now()
			for seed := range uint64(runs) {
				o := simOptions{seed: 10_000 + seed, groups: 2, clients: 6, calls: 120, static: seed%2 == 0, restarts: seed%4 == 3}
				if m.Silent {
					o.profile = "java" // which drops superseded requests
				}
				h := simulate(t, o)
				mutated := mutate(t, r, h, m)
				if mutated == nil {
					continue
				}
				v, err := Check(t.Context(), mutated, Limits{Timeout: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				tried++
				switch v.Result {
				case Illegal:
					caught++
				case Unknown:
					unknown++
				}
			}
			t.Logf("%d of %d caught, %d unknown, in %v", caught, tried, unknown, time.Since(began).Round(time.Millisecond))
			if tried < runs/4 {
				t.Errorf("only %d of %d histories could be changed", tried, runs)
			}
			if float64(caught) < m.floor*float64(tried) {
				t.Errorf("caught %d of %d, below the floor of %.2f", caught, tried, m.floor)
			}
		})
	}
}
