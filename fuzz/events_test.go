package fuzz_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/impl/core"
)

// mostEvents of a run are looked at: a longer one finds nothing that a shorter one could not, and takes the time of many.
const mostEvents = 60

// kinds are how many kinds of runs there are; see embedded.Walk.
const kinds = 6 * len(embedded.WalkKinds)

// walks are the runs of each kind, and the coordinator of the last one.
type walks struct {
	of   [kinds]*lockstep.Scripts
	last *embedded.Machine
}

// walk is a run by the bytes of an input: the first says of which kind it is, the others are a script.
func (w *walks) walk(input []byte) (scripts *lockstep.Scripts, script []byte) {
	kind := 0
	if len(input) > 0 {
		kind, script = int(input[0])%kinds, input[1:min(len(input), mostEvents+2)]
	}
	if w.of[kind] == nil {
		settings, options := embedded.Walk(uint64(kind))
		w.of[kind] = lockstep.NewScripts(func() checker.Machine {
			w.last = embedded.NewMachineWith(settings)
			return w.last
		}, options)
	}
	return w.of[kind], script
}

// FuzzEvents plays events, a byte each, on the reference coordinator and the specification side by side: where they disagree, one of the two
// readings of the protocol is wrong.
func FuzzEvents(f *testing.F) {
	// Runs that are as long as they can be: what makes a small change of one is soon at a state that is rare, where who begins with nothing is long at the
	// beginning. They are drawn, and mean nothing.
	for n := range uint64(2 * len(embedded.WalkKinds)) {
		r, input := rand.New(rand.NewPCG(n, 1)), []byte{byte(n)}
		for range mostEvents {
			input = append(input, byte(r.IntN(256)))
		}
		f.Add(input)
	}
	all := &walks{}
	f.Fuzz(func(t *testing.T, input []byte) {
		scripts, script := all.walk(input)
		r := scripts.Walk(script)
		if r.Violation != nil {
			t.Fatalf("they disagree in %d events\n%s\n%s", len(r.Violation.Trace)-1, r.Violation.String(), save(t, r.Violation))
		}
		for _, err := range all.last.Reported() {
			var inconsistent *core.InconsistencyError
			if errors.As(err, &inconsistent) {
				t.Fatal(err)
			}
		}
	})
}

// save keeps the run of a violation as a scenario, and says what to do with it.
func save(t *testing.T, v *lockstep.Violation) string {
	dir, err := filepath.Abs("../muster-out")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	path := filepath.Join(dir, "fuzz-events.txt")
	if err == nil {
		err = os.WriteFile(path, []byte(v.Scenario()), 0o644)
	}
	if err != nil {
		return fmt.Sprintf("it could not be saved as a scenario: %v", err)
	}
	return fmt.Sprintf("saved as a scenario; record what Kafka does: muster run --rewrite --target kafka:4.3.1 %s", path)
}
