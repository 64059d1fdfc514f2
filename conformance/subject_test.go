package conformance_test

import (
	"context"
	"slices"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/model/classic"
)

func brokenStranger(t *testing.T, rules ...classic.RuleID) target.Target {
	t.Helper()
	tg, err := model.New(model.Options{Broken: rules}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return target.Stranger{Target: tg}
}

func resultOf(t *testing.T, tg target.Target, s *conformance.Scenario) conformance.Result {
	t.Helper()
	rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Slow: true, OutDir: t.TempDir()}.Run(context.Background(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rep.Results[0]
}

// TestSubject breaks one rule in what is judged as a stranger, and holds that a scenario which is mainly about another rule tells that one.
func TestSubject(t *testing.T) {
	for _, c := range []struct {
		scenario string // and its first rule's class
		first    string
		broken   classic.RuleID
	}{
		{"join-parked-superseded", "quirk", classic.JoinCompleteGeneration}, // a contract in a quirk's scenario is a failure
		{"join-parked-superseded", "quirk", classic.JoinNewMemberIDRequired},
		{"commit-duplicates", "quirk", classic.FetchCommitted},
		{"heartbeat-states", "contract", classic.JoinReplyFollower}, // and what is a mere difference is none
		{"leave-batch", "compat", classic.HeartbeatCompleting},
	} {
		s := named(t, c.scenario)
		if got := classOfRule(t, s.File.Rules[0]); got != c.first {
			t.Fatalf("%s begins with a rule of class %s", c.scenario, got)
		}
		rule := c.broken.Rule()
		if slices.Contains(s.File.Rules, rule.ID) {
			t.Fatalf("%s is about %s", c.scenario, rule.ID)
		}
		res := resultOf(t, brokenStranger(t, c.broken), s)
		if res.Failure == nil {
			t.Errorf("%s passes with %s broken", c.scenario, rule.ID)
			continue
		}
		if f := res.Failure; f.Rules[0] != rule.ID || f.Class != rule.Class.String() {
			t.Errorf("%s with %s broken is told as %v (%s):\n%s", c.scenario, rule.ID, f.Rules, f.Class, f)
		}
	}
}

func classOfRule(t *testing.T, id string) string {
	t.Helper()
	rule, ok := classic.FindRule(id)
	if !ok {
		t.Fatalf("no rule %s", id)
	}
	return rule.Rule().Class.String()
}

func named(t *testing.T, name string) *conformance.Scenario {
	t.Helper()
	all := scenarios(t)
	i := slices.IndexFunc(all, func(s *conformance.Scenario) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no scenario %s", name)
	}
	return all[i]
}
