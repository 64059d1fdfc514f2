package lockstep

import (
	"math/rand/v2"
	"os"
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
		Topics:  func(topic string, p int32) bool { return (topic == "t" || topic == "u") && p < 2 },
	}
}

// whole is a coordinator whose broker is driven too.
func whole(p classic.Profile) observe.Config {
	c := config(p)
	c.OffsetsRetention, c.KeepLog = 10*time.Second, true
	return c
}

// everything is all that can be done to one.
var everything = gen.Setup{
	Static: true, OffsetDelete: true, Transactions: true, Other: "u", Retention: true, TopicsDelete: true, Restarts: true,
}

func machine(c observe.Config, seed uint64) checker.Machine {
	r := rand.New(rand.NewPCG(seed, 7))
	return observe.NewMachine(observe.NewWorld(c), r.IntN)
}

func specification(p classic.Profile, seed uint64) checker.Machine {
	r := rand.New(rand.NewPCG(seed, 7))
	return observe.NewMachine(observe.NewWorld(config(p)), r.IntN)
}

// unreached are the rules that no random run comes by, and why.
var unreached = map[string]string{
	"commit.topic-id":         "scenario text cannot say it: requests name topics by name; observe's own tests have it",
	"expiry.rebalancing":      "which offsets may expire is asked of the specification before a cleanup, so that it takes none then",
	"fetch.unstable.plain":    "plain commits are atomic here",
	"describe.unseen":         "only the Java coordinator leaves a group without a record; observe's own tests have it",
	"join.protocol.duplicate": "not modelled: a typed error",
	"max-size.load":           "no group can be larger than the limit that it is loaded under: the limit is fixed in a run",
}

// The specification explains itself, whatever it chooses.
func TestTheModelNeverViolatesItself(t *testing.T) {
	runs := uint64(240) // each of the settings below with each other four times
	if os.Getenv("MUSTER_NIGHTLY") != "" {
		runs *= 2
	}
	for _, p := range []classic.Profile{classic.Java, classic.Scala, classic.Reference} {
		t.Run(p.Name, func(t *testing.T) {
			rules := map[classic.RuleID]int64{}
			steps, branches, capacity := 0, 0, 0
			begin := time.Now()
			unseen := func() (ids []string) {
				for _, r := range classic.Rules() {
					if id, _ := classic.FindRule(r.ID); rules[id] == 0 && unreached[r.ID] == "" {
						ids = append(ids, r.ID)
					}
				}
				return ids
			}
			made := uint64(0)
			for ; made < runs || made < 3*runs && len(unseen()) > 0; made++ { // some rules are seldom come by: they may take more runs
				seed := made
				setup := everything
				if seed%4 == 0 {
					setup = gen.Setup{}
				}
				setup.Groups, setup.Clients, setup.FailWrites = 1+int(seed%3), 2+int(seed%4), seed%2 == 1
				c := whole(p)
				if seed%5 == 1 {
					c.InitialDelay = 12 * time.Second
				}
				if seed%5 == 2 {
					c.MaxSize = 2
				}
				w := newWalk(machine(c, seed), observe.NewWorld(c), c.MaxSize, setup, gen.Seeded(seed))
				if w.run(300, false) != nil {
					v, _ := Run(machine(c, seed), c, setup, gen.Seeded(seed), 300) // again, in words
					t.Fatalf("seed %d: %v", seed, v)
				}
				stats := w.stats
				if stats.Inconclusive != "" {
					capacity++
				}
				steps += stats.Steps
				branches = max(branches, stats.Branches)
				for id, n := range stats.Rules {
					rules[id] += n
				}
			}
			t.Logf("%d runs, %d steps, %.0f a second, at most %d branches, %d rules of %d, %d ended by capacity", made, steps,
				float64(steps)/time.Since(begin).Seconds(), branches, len(rules), len(classic.Rules()), capacity)
			for _, id := range unseen() {
				t.Errorf("no run came by %s", id)
			}
			if capacity > int(made/10) {
				t.Errorf("%d of %d runs were ended by the model's capacity", capacity, made)
			}
		})
	}
}
