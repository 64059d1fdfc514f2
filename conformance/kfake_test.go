package conformance_test

import (
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
	t.Parallel() // it mostly waits
	reg, ok, err := conformance.Registered("kfake")
	if err != nil || !ok {
		t.Fatalf("no register of kfake: %v", err)
	}
	tg := opened(t, "kfake")
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
	again(t, tg, all, rep)
	hold(t, reg, rep)
	holdReadme(t, reg, rep)
}

// again repeats what failed while this machine was too busy, with more patience: where all that fails is looked at twice the many differences
// that are known would take most of a minute.
func again(t *testing.T, tg target.Target, all []*conformance.Scenario, rep conformance.Report) {
	t.Helper()
	for i, r := range rep.Results {
		if r.Failure == nil || !r.Failure.Stalled {
			continue
		}
		at := slices.IndexFunc(all, func(s *conformance.Scenario) bool { return s.Name == r.Scenario })
		patient, err := conformance.Suite{Scenarios: all[at : at+1], OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
		if err != nil {
			t.Fatal(err)
		}
		rep.Results[i] = patient.Results[0]
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
