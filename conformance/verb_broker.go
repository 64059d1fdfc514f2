package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// FaultsProfile has scenarios that make something happen to the broker as a whole, so that they run one at a time.
const FaultsProfile = "faults"

func init() {
	register("broker", &verb{example: "broker refuses-writes", words: oneFault, run: runBroker})
}

func oneFault(words []string) error {
	if len(words) != 1 || !slices.Contains(target.Faults(), target.Fault(words[0])) {
		return fmt.Errorf("say what happens to the broker, one of %v", target.Faults())
	}
	return nil
}

// runBroker makes something happen to the broker. What a scenario leaves so is undone when it is over.
func runBroker(r *run, c *script.Command) error {
	clear(r.acked) // it may change what is committed
	f := target.Fault(c.Words[0])
	r.undo = slices.DeleteFunc(r.undo, func(u target.Fault) bool { return u == f })
	if u := f.Undo(); u != "" && !slices.Contains(r.undo, u) {
		r.undo = append(r.undo, u)
	}
	if err := r.inject(f); err != nil {
		return err
	}
	r.activity = r.clock.Now()
	r.absorb()
	return nil
}

func (r *run) inject(f target.Fault) error {
	if err := r.caps.Inject(r.ctx, f); err != nil {
		return errors.Join(errBroken, fmt.Errorf("broker %s: %w", f, err))
	}
	return nil
}

// mend undoes what the scenario has left.
func (r *run) mend() error {
	var errs []error
	for _, f := range r.undo {
		errs = append(errs, r.inject(f))
	}
	r.undo = nil
	return errors.Join(errs...)
}

// unhappened is a fault of the scenario that cannot be made to happen to the target; empty if all can.
func (s *Scenario) unhappened(caps target.Capabilities) target.Fault {
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			if c.Verb == "broker" && (caps.Inject == nil || !slices.Contains(caps.Faults, target.Fault(c.Words[0]))) {
				return target.Fault(c.Words[0])
			}
		}
	}
	return ""
}
