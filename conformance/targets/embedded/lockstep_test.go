package embedded_test

import (
	"errors"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/model/classic"
)

// machineWorld is what embedded.NewMachine is set to.
var machineWorld = observe.Config{
	Profile:    classic.Reference,
	MinSession: 10 * time.Millisecond, MaxSession: 30 * time.Minute,
	Topics: func(topic string, p int32) bool { return topic == "t" && p >= 0 && p < 3 },
}

// The coordinator and the specification, two readings of one fact sheet, agree on every step of random walks.
func TestLockstep(t *testing.T) {
	for _, failWrites := range []bool{false, true} {
		for seed := range uint64(3) {
			var machines []*embedded.Machine
			r := lockstep.Rapid(func() checker.Machine {
				m := embedded.NewMachine(seed)
				machines = append(machines, m)
				return m
			}, lockstep.Options{
				Seed: seed + 1, Checks: 60, Steps: 100, World: machineWorld,
				Setup: gen.Setup{
					Groups: 1 + int(seed%2), Clients: 3 + int(seed), FailWrites: failWrites,
					MinSession: machineWorld.MinSession, MaxSession: machineWorld.MaxSession,
				},
			})
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if r.Violation != nil {
				t.Fatalf("seed %d:\n%s", seed, r.Violation.String())
			}
			for _, m := range machines {
				for _, err := range m.Reported() {
					var inconsistent *core.InconsistencyError
					if errors.As(err, &inconsistent) {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			}
			t.Logf("failing writes %v: %d sequences, %d steps, %d rules", failWrites, r.Sequences, r.Steps, len(r.Rules))
		}
	}
}
