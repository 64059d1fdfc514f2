package differ_test

import (
	"slices"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/model/classic"
)

// TestReplayAgrees holds that a saved class, run on the side that is judged, is told as the class that the comparison gave it.
func TestReplayAgrees(t *testing.T) {
	right, err := model.New(model.Options{Name: "model:4.3.1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, broken := range []classic.RuleID{classic.JoinReplyError, classic.JoinCompleteGeneration} {
		tg, err := model.New(model.Options{Broken: []classic.RuleID{broken}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wrong := target.Stranger{Target: tg}
		rep := run(t, wrong, right, 15)
		if err := rep.Save(t.TempDir(), wrong, right); err != nil {
			t.Fatal(err)
		}
		for _, c := range rep.Classes {
			rule, ok := classic.FindRule(c.Rule)
			if c.Known != "" || !ok {
				continue
			}
			class := rule.Rule().Class.String()
			scenarios, err := conformance.Load(c.File)
			if err != nil {
				t.Fatal(err)
			}
			again, err := conformance.Suite{Scenarios: scenarios, OutDir: t.TempDir()}.Run(t.Context(), wrong, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := again.Results[0].Failure
			switch {
			case f == nil:
				t.Errorf("%s: it does not differ when it is run again: %+v", c.Signature, again.Results[0])
			case f.Class != class:
				t.Errorf("%s with %s broken is of class %s by %v, and its replay is told as %s by %v", c.Signature, broken, class, c.Rules, f.Class, f.Rules)
			}
			if slices.Contains(c.Rules, broken.Rule().ID) {
				seen[class]++
			}
		}
	}
	if seen["compat"] == 0 || seen["contract"] == 0 {
		t.Errorf("both classes have to be among them: %v", seen)
	}
}
