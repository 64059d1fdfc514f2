package embedded_test

import (
	"errors"
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/impl/core"
)

// Where the log takes its time, and says of some writes that they take too long, the monitors find nothing, and the clients get together again all the same.
func TestSlowLog(t *testing.T) {
	kinds := uint64(len(embedded.WalkKinds))
	for n := range 3 * kinds {
		seed := n % (2 * kinds)
		settings, o := embedded.WalkSlow(seed)
		settings.Report = func(err error) {
			var inconsistent *core.InconsistencyError
			if errors.As(err, &inconsistent) {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		if o.Checks, o.Steps = *checks/4, 80; n >= 2*kinds {
			o.Checks, o.Steps = 30, 60 // as mutants are looked for
		}
		r := lockstep.Rapid(func() checker.Machine { return embedded.NewSlow(settings) }, o)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if r.Violation != nil {
			t.Errorf("seed %d: %s", seed, r.Violation.String())
		}
		t.Logf("%d: %d sequences, %d steps, together in %v, Empty in %v", seed, r.Sequences, r.Steps, r.Healed, r.Emptied)
	}
}
