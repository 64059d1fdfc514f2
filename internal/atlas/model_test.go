package atlas

import (
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/kafka"
)

// TestModel holds that the specification, as each release that the atlas compares, gives just the texts that were recorded from that
// release: a variation point or a defect that the model does not know, or knows of the wrong releases, shows here without a broker.
func TestModel(t *testing.T) {
	scenarios, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	explained, err := Explanations()
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range kafka.Releases {
		t.Run(release, func(t *testing.T) {
			unmodelled := map[string]bool{} // scenario: it was seen to differ
			for _, e := range explained {
				for _, at := range e.At {
					if e.Unmodelled != "" && e.Releases.Holds(release) > 0 {
						unmodelled[at.Scenario] = false
					}
				}
			}
			for _, set := range conformance.ByProfile(scenarios) {
				tg, err := model.New(model.Options{Name: "model:" + release, Profile: set.Profile}, nil)
				if err != nil {
					t.Fatal(err)
				}
				rep, err := conformance.Suite{Scenarios: set.Scenarios, Slow: true, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range rep.Failures() {
					if _, ok := unmodelled[f.Scenario]; ok {
						unmodelled[f.Scenario] = true
						continue
					}
					t.Error(f)
				}
				for _, r := range rep.Results {
					if r.Status == conformance.Broken {
						t.Errorf("%s could not be run: %s", r.Scenario, r.Reason)
					}
				}
				if err := tg.Close(); err != nil {
					t.Error(err)
				}
			}
			for scenario, differs := range unmodelled {
				if !differs {
					t.Errorf("%s: explanations.txt says that the specification does not give the text of this release, and it does", scenario)
				}
			}
		})
	}
}
