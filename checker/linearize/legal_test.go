package linearize

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// TestSpecificationIsLegal judges what the specification itself answers: no history of it may be called illegal.
func TestSpecificationIsLegal(t *testing.T) {
	t.Parallel()
	runs := 250
	if s := os.Getenv("MUSTER_LINEARIZE_RUNS"); s != "" {
		runs, _ = strconv.Atoi(s)
	}
	if testing.Short() {
		runs = 50
	}
	var calls, groups, unknown int
	var slowest time.Duration
	for seed := range uint64(runs) {
		o := simOptions{seed: seed, groups: 1 + int(seed%3), clients: 2 + int(seed%7), calls: 60 + int(seed%5)*40, profile: []string{"reference", "java", "scala"}[seed%3]}
		if seed%2 == 0 {
			o.loss = 30
		}
		h := simulate(t, o)
		v, err := Check(t.Context(), h, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range v.Groups {
			groups++
			calls += g.Calls
			slowest = max(slowest, g.Elapsed)
			switch g.Result {
			case Unknown:
				unknown++
				t.Logf("seed %d group %s: %s", seed, g.Group, g.Reason)
			case Illegal:
				f, err := Explain(t.Context(), h, g.Group, Options{Out: t.TempDir(), Limits: Limits{Timeout: 5 * time.Second}})
				t.Fatalf("seed %d: %s %v", seed, f.Text, err)
			}
		}
	}
	t.Logf("%d histories of one group, %d calls, %d unknown, slowest %v", groups, calls, unknown, slowest)
	if unknown*50 > groups {
		t.Errorf("%d of %d histories are unknown: more than one in fifty", unknown, groups)
	}
}
