package linearize

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
)

// legalOptions vary all that a simulated run can vary, with the seed.
func legalOptions(seed uint64) simOptions {
	o := simOptions{
		seed: seed, groups: 1 + int(seed%3), clients: 2 + int(seed%7), calls: 40 + int(seed%5)*30,
		profile: []string{"reference", "java", "scala", "4.3.1", "3.9.2"}[seed%5],
		static:  seed%5 < 3, restarts: seed%4 == 3,
	}
	if seed%2 == 0 {
		o.loss = 30
	}
	if seed%7 == 6 {
		o.delay = time.Duration(20+seed%60) * time.Millisecond
	}
	return o
}

// TestSpecificationIsLegal judges what the specification itself answers, with random delays, losses and crashes: no history of it may be
// called illegal. MUSTER_LINEARIZE_RUNS says how many runs to make; a run is of two groups on average.
func TestSpecificationIsLegal(t *testing.T) {
	t.Parallel()
	runs := 250 // at night thousands
	switch s := os.Getenv("MUSTER_LINEARIZE_RUNS"); {
	case s != "":
		runs, _ = strconv.Atoi(s)
	case testing.Short():
		runs = 50
	}
	var calls, groups, unknown, restarts, lost atomic.Int64
	const parts = 4
	t.Run("runs", func(t *testing.T) {
		for part := range parts {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < runs; seed += parts {
					h := simulate(t, legalOptions(uint64(seed)))
					v, err := Check(t.Context(), h, Limits{Timeout: 5 * time.Second})
					if err != nil {
						t.Fatal(err)
					}
					restarts.Add(int64(len(h.Faults)))
					for i := range h.Calls {
						if h.Calls[i].Outcome == history.Lost {
							lost.Add(1)
						}
					}
					for _, g := range v.Groups {
						groups.Add(1)
						calls.Add(int64(g.Calls))
						switch g.Result {
						case Unknown:
							unknown.Add(1)
							t.Logf("seed %d group %s: %s", seed, g.Group, g.Reason)
						case Illegal:
							f, err := Explain(t.Context(), h, g.Group, Explaining{Out: t.TempDir(), Limits: Limits{Timeout: 5 * time.Second}})
							t.Fatalf("seed %d: %s %v", seed, f.Text, err)
						}
					}
				}
			})
		}
	})
	t.Logf("%d histories of one group, %d calls, %d crashes with %d calls open, %d unknown", groups.Load(), calls.Load(), restarts.Load(), lost.Load(), unknown.Load())
	if unknown.Load()*50 > groups.Load() {
		t.Errorf("%d of %d histories are unknown: more than one in fifty", unknown.Load(), groups.Load())
	}
	if restarts.Load() < int64(runs)/10 || lost.Load() == 0 {
		t.Errorf("only %d crashes with %d calls open: what they do was not put to the test", restarts.Load(), lost.Load())
	}
}
