package embedded_test

import (
	"errors"
	"flag"
	"fmt"
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

var checks = flag.Int("lockstep-checks", 40, "sequences of each lock-step run")

// machineWorld is what embedded.NewMachine is set to.
var machineWorld = observe.Config{
	Profile:    classic.Reference,
	MinSession: 10 * time.Millisecond, MaxSession: 30 * time.Minute,
	Topics: func(topic string, p int32) bool { return (topic == "t" || topic == "u") && p >= 0 && p < 3 },

	OffsetsRetention: retention, KeepLog: true,
}

// retention is short, so that offsets expire within a walk.
const retention = 10 * time.Second

// everything is all that can be done to a machine.
var everything = gen.Setup{
	MinSession: 10 * time.Millisecond, MaxSession: 30 * time.Minute,
	Static: true, OffsetDelete: true, Transactions: true, Other: "u", Retention: true, TopicsDelete: true, Restarts: true,
}

// The coordinator and the specification, two readings of one fact sheet, agree on every step of random walks: of dynamic members alone,
// and of everything that can be done to a broker, with an initial delay and with a bound on groups.
func TestLockstep(t *testing.T) {
	plain := gen.Setup{MinSession: everything.MinSession, MaxSession: everything.MaxSession}
	for _, c := range []struct {
		name  string
		setup gen.Setup
		delay time.Duration
		size  int
	}{
		{name: "dynamic", setup: plain},
		{name: "everything", setup: everything},
		{name: "delay", setup: everything, delay: 12 * time.Second},
		{name: "size", setup: everything, size: 2},
	} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/%d", c.name, seed), func(t *testing.T) {
				world, setup := machineWorld, c.setup
				world.InitialDelay, world.MaxSize = c.delay, c.size
				setup.Groups, setup.Clients, setup.FailWrites = 1+int(seed%2), 3+int(seed%3), seed >= 2
				walk(t, seed, world, setup)
			})
		}
	}
}

func walk(t *testing.T, seed uint64, world observe.Config, setup gen.Setup) {
	var machines []*embedded.Machine
	r := lockstep.Rapid(func() checker.Machine {
		m := embedded.NewMachineWith(embedded.Options{Seed: seed, InitialDelay: world.InitialDelay, MaxSize: world.MaxSize, OffsetsRetention: retention})
		machines = append(machines, m)
		return m
	}, lockstep.Options{Seed: seed + 1, Checks: *checks, Steps: 100, World: world, Setup: setup})
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
	t.Logf("%d sequences, %d steps, %d rules", r.Sequences, r.Steps, len(r.Rules))
}
