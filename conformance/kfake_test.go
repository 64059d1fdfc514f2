package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// runsOfSometimes is how often the scenarios of entries with status sometimes are run: both outcomes must show.
const runsOfSometimes = 16

// TestKfake holds kfake against its register, in both directions: what it does not list is new, what it lists must be there.
func TestKfake(t *testing.T) {
	tg := opened(t, "kfake") // while nothing else is done in this process: it is timed by how long an answer takes now
	t.Parallel()             // it mostly waits
	reg, ok, err := conformance.Registered("kfake")
	if err != nil || !ok {
		t.Fatalf("no register of kfake: %v", err)
	}
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	var steady, unsteady []*conformance.Scenario
	for _, s := range all {
		sometimes := slices.ContainsFunc(reg.Entries, func(e conformance.Entry) bool {
			return e.Scenario == s.Name && e.Status == conformance.Sometimes
		})
		if !sometimes {
			steady = append(steady, s)
			continue
		}
		for range runsOfSometimes {
			unsteady = append(unsteady, s)
		}
	}
	suite := conformance.Suite{Scenarios: slices.Concat(unsteady, steady), Parallel: 48, Hasty: true, OutDir: t.TempDir()}
	rep, err := suite.Run(t.Context(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	again(t, tg, reg, all, rep)
	hold(t, reg, rep)
	holdReadme(t, reg, rep)
	holdForeseen(t, "kfake", tg.Capabilities(), all, rep)
	holdSubjects(t, reg, rep)
}

// otherClass are failures of kfake whose class is another one for whoever does not know kfake than for those who looked into it.
var otherClass = map[string]string{
	"leave-static-batch/3": "that one entry of the batch is no mere difference only the register knows",
	"txn-simple-group/3":   "the register knows that kfake has no such group before its transaction ends",
}

// holdSubjects holds what a stranger is told that fails as kfake does, whose blocks do not all name their rules, against what those say who have looked into it.
func holdSubjects(t *testing.T, reg *conformance.Register, rep conformance.Report) {
	t.Helper()
	told, same := 0, 0
	for _, f := range rep.Failures() {
		e, ok := reg.Find(f)
		if !ok || len(f.Others) > 0 { // of another release's text nobody is convicted
			continue
		}
		told++
		if f.Rules[0] == e.Rule {
			same++
		}
		place := fmt.Sprintf("%s/%d", f.Scenario, f.Block)
		if f.Class != e.Class() && otherClass[place] == "" {
			t.Errorf("%s is told as %s (%s), which its register knows to be %s (%s)", place, f.Rules[0], f.Class, e.Rule, e.Class())
		}
	}
	if least := told * 8 / 10; same < least {
		t.Errorf("only %d of %d failures are told by the rule of the register, want %d", same, told, least)
	}
}

// again repeats what is new, with more patience: where all that fails is looked at twice the many differences that are known would take most of a
// minute.
func again(t *testing.T, tg target.Target, reg *conformance.Register, all []*conformance.Scenario, rep conformance.Report) {
	t.Helper()
	var doubtful []*conformance.Scenario
	for _, f := range reg.Compare(rep).New {
		doubtful = append(doubtful, all[slices.IndexFunc(all, func(s *conformance.Scenario) bool { return s.Name == f.Scenario })])
	}
	if len(doubtful) == 0 {
		return
	}
	patient, err := conformance.Suite{Scenarios: doubtful, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rep.Results {
		for _, r := range patient.Results {
			if r.Scenario == rep.Results[i].Scenario {
				rep.Results[i] = r
			}
		}
	}
}

// hold holds a report against the register of its target, in both directions.
func hold(t *testing.T, reg *conformance.Register, rep conformance.Report) {
	t.Helper()
	c := reg.Compare(rep)
	for _, f := range c.New {
		t.Errorf("%s differs and registers/%s does not say so:\n%s", rep.Target, reg.Name, f)
	}
	for _, e := range c.Gone {
		t.Errorf("registers/%s:%d lists a difference of %s that is gone, or has another text now", reg.Name, e.Line, e.Scenario)
	}
	for _, e := range c.OneSided {
		t.Errorf("registers/%s:%d says that %s differs sometimes, but it did in every run", reg.Name, e.Line, e.Scenario)
	}
	for _, e := range c.Unknown {
		t.Errorf("registers/%s:%d lists a scenario that does not exist: %s", reg.Name, e.Line, e.Scenario)
	}
	for _, r := range rep.Results {
		if r.Status == conformance.Broken {
			t.Errorf("%s could not be run: %s", r.Scenario, r.Reason)
		}
	}
	always := 0
	for _, e := range reg.Entries {
		if e.Status == conformance.Always {
			always++
		}
	}
	if n := len(c.Known); n < always-2 {
		t.Errorf("only %d failures for %d entries that always show", n, always)
	}
	for _, e := range reg.Entries {
		if len(e.Prose) == 0 || strings.Join(e.Prose, "") == "" {
			t.Errorf("registers/%s:%d has no prose", reg.Name, e.Line)
		}
	}
}
