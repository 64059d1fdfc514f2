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

// After whatever has happened, the clients of a coordinator that follows the specification get together again, and a group that all have
// left becomes Empty.
func TestClientsOfTheModelHeal(t *testing.T) {
	for _, p := range []classic.Profile{classic.Java, classic.Scala, classic.Reference} {
		for i := range 4 {
			c, setup := whole(p), everything
			setup.Groups, setup.Clients, setup.FailWrites = 1+i%2, 2+i, true
			switch i {
			case 1:
				c.InitialDelay = 12 * time.Second
			case 2:
				c.MaxSize = 2
			}
			r := Rapid(func() checker.Machine { return observe.NewMachine(observe.NewWorld(c), nil) }, Options{
				Seed: uint64(i + 1), Checks: 12, Steps: 60, World: c, Setup: setup, Heal: true,
			})
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if r.Violation != nil {
				t.Fatalf("%s, %d: %s", p.Name, i, r.Violation.String())
			}
			t.Logf("%s, %d: %d sequences, together in %v, Empty in %v, %d ended by capacity", p.Name, i, r.Sequences, r.Healed, r.Emptied, r.Capacity)
		}
	}
}

// A coordinator that breaks a rule which clients need is found by healing alone: nothing else is judged. The violation says in words what
// is waited for.
func TestHealingNoticesBrokenRules(t *testing.T) {
	for _, c := range []struct {
		rule classic.RuleID
		says string
	}{
		{classic.JoinCompleteTimeout, "its join timer is not set"},
		{classic.JoinCompleteLeader, "has never had an answer"},
		{classic.JoinPreparingParks, "asks again and again"},
		{classic.JoinStartsRebalance, "has not heard of"},
		{classic.SyncLeaderAssigns, "to its SyncGroup"},
		{classic.SyncFollowerParks, "it was told \"\""},
		{classic.HeartbeatPreparing, "waits for the join of"},
		{classic.HeartbeatStable, "asks again and again, and was told last"},
		{classic.SessionExpires, "whose session timer is not set"},
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			broken := config(classic.Java)
			broken.Broken = []classic.RuleID{c.rule}
			r := Rapid(func() checker.Machine { return observe.NewMachine(observe.NewWorld(broken), nil) }, Options{
				Checks: 600, Steps: 30, World: config(classic.Java), Setup: gen.Setup{Clients: 3}, Heal: true, Blind: true, AsFound: true,
			})
			switch v := r.Violation; {
			case r.Err != nil:
				t.Fatal(r.Err)
			case v == nil:
				t.Errorf("not noticed in %d sequences, %d steps", r.Sequences, r.Steps)
			case v.What != "convergence" || !strings.Contains(v.Got, c.says):
				t.Errorf("%v, which does not say %q", v, c.says)
			default:
				t.Logf("noticed in sequence %d: %s", r.Sequences, v.Got)
			}
		})
	}
}
