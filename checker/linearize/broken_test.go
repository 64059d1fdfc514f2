package linearize

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/model/classic"
)

// TestBrokenRulesAreNoticed lets the simulated coordinator break one rule at a time, and the judge not know of it.
func TestBrokenRulesAreNoticed(t *testing.T) {
	t.Parallel()
	runs := 25
	if testing.Short() {
		runs = 10
	}
	var contract, noticed int
	for _, rule := range classic.Rules() {
		id, _ := classic.FindRule(rule.ID)
		if can, _ := classic.Breakable(id); !can {
			continue
		}
		found := -1
		for seed := range uint64(runs) {
			h := simulate(t, simOptions{
				seed: 20_000 + seed, groups: 2, clients: 6, calls: 200, broken: []classic.RuleID{id}, profile: []string{"reference", "java"}[seed%2],
				static: seed%4 >= 2, restarts: seed%4 == 3, delay: time.Duration(seed%8/6) * 30 * time.Millisecond,
			})
			v, err := Check(t.Context(), h, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if v.Result == Illegal {
				found = int(seed) + 1
				break
			}
		}
		if rule.Class == classic.Contract {
			contract++
			if found > 0 {
				noticed++
			}
		}
		if found > 0 {
			t.Logf("%-9s %-32s noticed in run %d", rule.Class, rule.ID, found)
		} else {
			t.Logf("%-9s %-32s not noticed", rule.Class, rule.ID)
		}
	}
	t.Logf("%d of %d contract rules are noticed", noticed, contract)
	// Left out are sync.write.fails, since no write fails here, and join.new.timeout, which takes five minutes; and those that need
	// more luck than a short run has.
	floor := 60
	if testing.Short() {
		floor = 48
	}
	if noticed < floor {
		t.Errorf("fewer than %d", floor)
	}
}
