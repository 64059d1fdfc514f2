package lockstep

import (
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// unnoticed are the rules whose breach no random walk comes by, and why.
var unnoticed = map[string]string{
	"expiry.rebalancing": "which offsets may expire is asked of the specification before a cleanup, so that it takes none then",
	"load.no-sync":       "that a SyncGroup is owed shows only by its timer, and a load starts none",
	"max-size.load":      unreached["max-size.load"],
}

// A coordinator that breaks any single rule of the specification is told from one that does not.
func TestEveryBrokenRuleIsNoticed(t *testing.T) {
	for _, r := range classic.Rules() {
		id, _ := classic.FindRule(r.ID)
		if can, _ := classic.Breakable(id); !can || unnoticed[r.ID] != "" {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			of := whole(classic.Java)
			setup := everything
			setup.Clients, setup.FailWrites = 3, true
			switch {
			case strings.HasPrefix(r.ID, "delay."), id == classic.SyncProtocolEarly: // there is no protocol before the first delay is over
				of.InitialDelay = 12 * time.Second
			case strings.HasPrefix(r.ID, "max-size."):
				of.MaxSize = 2
			case strings.HasPrefix(r.ID, "static."):
				of, setup = config(classic.Java), gen.Setup{Clients: 3, FailWrites: true, Static: true, OffsetDelete: true, Other: "u"}
			case id <= classic.OffsetsSurviveMembers: // of dynamic members: nothing else in the way
				of, setup = config(classic.Java), gen.Setup{Clients: 3, FailWrites: true}
			}
			broken := of
			broken.Broken = []classic.RuleID{id}
			report := Rapid(func() checker.Machine { return observe.NewMachine(observe.NewWorld(broken), nil) }, Options{
				Checks: 1500, Steps: 80, World: of, Setup: setup, AsFound: true,
			})
			switch v := report.Violation; {
			case report.Err != nil:
				t.Fatal(report.Err)
			case v == nil:
				t.Errorf("not noticed in %d sequences, %d steps", report.Sequences, report.Steps)
			case v.What == "panic":
				t.Errorf("the broken model panics: %v", v)
			default:
				t.Logf("noticed after %d steps: %s: expected %s, got %s", report.Steps, v.key(), v.Expected, v.Got)
			}
		})
	}
}
