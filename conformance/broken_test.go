package conformance_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/model/classic"
)

// unseen are the rules whose breaking no scenario shows, and why.
var unseen = map[classic.RuleID]string{
	classic.MaxSizeLoad:           "no scenario starts the coordinator again with another limit",
	classic.GroupUnseen:           "whether such a group shows depends on what others write meanwhile, so that its text leaves it open",
	classic.LoadEpoch:             "a broker that is alone hears of leader epochs in their order",
	classic.FetchUnstablePlain:    "a broker that is alone has no write under way: it is there at once",
	classic.CommitTopicID:         "scenarios name topics, and speak the versions that do",
	classic.JoinDuplicateProtocol: "such a group is stuck for good and cannot be removed from a broker afterwards",
}

// brokenOn are the coordinators that a rule is broken in, in this order: some rules decide only in the older one.
var brokenOn = []string{"model", "model:3.9.2", "model:reference"}

// TestBrokenRulesTurnScenariosRed breaks each rule in the specification, or in what drives it, and holds that the text of a scenario which names the rule is not
// accepted any more: a rule whose breaking nobody sees would protect nobody.
func TestBrokenRulesTurnScenariosRed(t *testing.T) {
	all := scenarios(t)
	seen := 0
	for i := range classic.Rules() {
		rule := classic.RuleID(i)
		by := redWith(t, rule, all)
		why, listed := unseen[rule]
		switch {
		case by == "" && !listed:
			t.Errorf("%s is broken, and every scenario that names it passes", rule)
		case by != "" && listed:
			t.Errorf("%s is said to be seen by no scenario (%s), but turns %s red: take it off the list", rule, why, by)
		case by != "":
			seen++
			t.Logf("%s: %s", rule, by)
		}
	}
	t.Logf("%d rules turn a scenario red, %d do not: %v", seen, len(unseen), slices.Sorted(maps.Keys(unseen)))
}

// redWith is the first scenario about the rule that fails where the rule is broken; empty if none does.
func redWith(t *testing.T, rule classic.RuleID, all []*conformance.Scenario) string {
	t.Helper()
	about := slices.DeleteFunc(slices.Clone(all), func(s *conformance.Scenario) bool { return !s.Cites(rule.String()) })
	for _, name := range brokenOn {
		for _, set := range conformance.ByProfile(about) {
			tg, err := model.New(model.Options{Name: name, Profile: set.Profile, Broken: []classic.RuleID{rule}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := conformance.Suite{Scenarios: set.Scenarios, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rep.Results {
				if r.Status == conformance.Fail {
					return r.Scenario
				}
			}
			if err := tg.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	return ""
}
