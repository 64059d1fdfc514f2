package embedded_test

import (
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// Whatever happens, the monitors see nothing of the coordinator that must not be.
func TestMonitorsHold(t *testing.T) {
	for seed := range uint64(2 * len(embedded.WalkKinds)) {
		machine, o := embedded.Walk(seed)
		o.Checks, o.Steps, o.Watch, o.Blind = *checks, 100, true, true
		r := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(machine) }, o)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if r.Violation != nil {
			t.Errorf("%d: %s", seed, r.Violation.String())
		}
		t.Logf("%d: %d sequences, %d steps", seed, r.Sequences, r.Steps)
	}
}
