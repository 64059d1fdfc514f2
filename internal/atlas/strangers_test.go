package atlas

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/internal/kafka"
	"github.com/muster-kafka/muster/model/classic"
)

// TestStrangers holds what each release is told that is judged as a plain address, without --as: broken contracts only where it has a known
// defect, named with its rule and its releases. What is a mere variation of Kafka's must not fail. The model gives what each release gives
// (TestModel), so no broker is needed. The golden list is read by a person: every line must be a defect.
func TestStrangers(t *testing.T) {
	_, explained, _ := inputs(t)
	scenarios, err := conformance.Scenarios() // those that are not drawn yet too
	if err != nil {
		t.Fatal(err)
	}
	told := map[string][]string{} // by rule, place and reason: the releases
	for _, release := range kafka.Releases {
		for _, f := range judgedAsStranger(t, release, scenarios) {
			if f.Class == "compat" {
				t.Errorf("%s: compat is what every release answers, and it does not:\n%s", release, f)
			}
			if f.Class != "contract" {
				continue
			}
			if len(f.Others) == 0 {
				t.Errorf("%s: the failure does not say that this is Kafka's own text:\n%s", release, f)
			}
			if why := notADefect(f, release, explained); why != "" {
				t.Errorf("%s: %s:\n%s", release, why, f)
			}
			line := fmt.Sprintf("%s %s/%d %s", f.Rules[0], f.Scenario, f.Block, strings.Join(f.Others, "; "))
			told[line] = append(told[line], release)
		}
	}
	var b strings.Builder
	for _, f := range slices.Sorted(maps.Keys(told)) {
		fmt.Fprintf(&b, "%s\n\t%s\n", f, strings.Join(told[f], " "))
	}
	golden.Testdata(t, "strangers.txt", b.String())
}

// notADefect says why a contract must not be called broken; empty if that is right.
func notADefect(f *conformance.Failure, release string, explained []Explanation) string {
	if slices.ContainsFunc(f.Others, func(o string) bool { return strings.Contains(o, "(KAFKA-") }) {
		return ""
	}
	for _, e := range explained {
		if slices.Contains(e.At, Place{f.Scenario, f.Block}) && e.Releases.Holds(release) > 0 && e.Kind == Defect {
			return ""
		}
	}
	if slices.Contains(Undrawn(), f.Scenario) { // whoever draws it has to explain it; until then the specification's own table counts
		profile, err := classic.ProfileFor(release)
		if err == nil && slices.ContainsFunc(classic.Defects(), func(d classic.Defect) bool {
			return profile.Defects.Has(d.ID) && d.Rule.String() == f.Rules[0]
		}) {
			return ""
		}
	}
	return "no defect of that release is known there; name in the text's title a rule that is no contract, or add what it may do with contract:"
}

func judgedAsStranger(t *testing.T, release string, scenarios []*conformance.Scenario) []*conformance.Failure {
	t.Helper()
	var all []*conformance.Failure
	for _, set := range conformance.ByProfile(scenarios) {
		tg, err := model.New(model.Options{Name: "model:" + release, Profile: set.Profile}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := conformance.Suite{Scenarios: set.Scenarios, Slow: true, OutDir: t.TempDir()}.Run(t.Context(), target.Stranger{Target: tg}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rep.Results {
			if r.Status == conformance.Broken {
				t.Errorf("%s: %s could not be run: %s", release, r.Scenario, r.Reason)
			}
		}
		all = append(all, rep.Failures()...)
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	}
	return all
}
