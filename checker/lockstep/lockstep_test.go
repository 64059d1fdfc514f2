package lockstep

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

func config(p classic.Profile) observe.Config {
	return observe.Config{
		Profile: p,
		Topics:  func(topic string, p int32) bool { return topic == "t" && p < 2 },
	}
}

func specification(p classic.Profile, seed uint64) checker.Machine {
	r := rand.New(rand.NewPCG(seed, 7))
	return observe.NewMachine(observe.NewWorld(config(p)), r.IntN)
}

// The specification explains itself, whatever it chooses.
func TestTheModelNeverViolatesItself(t *testing.T) {
	for _, p := range []classic.Profile{classic.Java, classic.Scala, classic.Reference} {
		t.Run(p.Name, func(t *testing.T) {
			rules := map[classic.RuleID]int64{}
			steps, branches, capacity := 0, 0, 0
			begin := time.Now()
			for seed := range uint64(90) {
				setup := gen.Setup{Groups: 1 + int(seed%3), Clients: 2 + int(seed%4), FailWrites: seed%2 == 1}
				v, stats := Run(specification(p, seed), config(p), setup, gen.Seeded(seed), 300)
				if v != nil {
					t.Fatalf("seed %d: %v", seed, v)
				}
				if stats.Inconclusive != "" {
					capacity++
				}
				steps += stats.Steps
				branches = max(branches, stats.Branches)
				for id, n := range stats.Rules {
					rules[id] += n
				}
			}
			t.Logf("%d steps, %.0f a second, at most %d branches, %d rules of %d, %d ended by capacity", steps,
				float64(steps)/time.Since(begin).Seconds(), branches, len(rules), len(classic.Rules()), capacity)
			for _, r := range classic.Rules() {
				if id, _ := classic.FindRule(r.ID); rules[id] == 0 {
					t.Errorf("no run came by %s", r.ID)
				}
			}
			if capacity > 10 {
				t.Errorf("%d of 90 runs were ended by the model's capacity", capacity)
			}
		})
	}
}
