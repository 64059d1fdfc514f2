package lockstep

import (
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// A coordinator that breaks any single rule of the specification is told from one that does not.
func TestEveryBrokenRuleIsNoticed(t *testing.T) {
	for _, r := range classic.Rules() {
		id, _ := classic.FindRule(r.ID)
		if can, _ := classic.Breakable(id); !can {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			broken := config(classic.Java)
			broken.Broken = []classic.RuleID{id}
			report := Rapid(func() checker.Machine { return observe.NewMachine(observe.NewWorld(broken), nil) }, Options{
				Checks: 400, Steps: 60, World: config(classic.Java), Setup: gen.Setup{Clients: 3, FailWrites: true},
			})
			switch v := report.Violation; {
			case report.Err != nil:
				t.Fatal(report.Err)
			case v == nil:
				t.Errorf("not noticed in %d sequences, %d steps", report.Sequences, report.Steps)
			case v.What == "panic":
				t.Errorf("the broken model panics: %v", v)
			default:
				t.Logf("noticed after %d steps, shrunk to %d events: %s: expected %s, got %s", report.Steps, len(v.Trace)-1, v.key(), v.Expected, v.Got)
			}
		})
	}
}
