package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/rdkafka"
)

// TestFindingsShow holds the scenarios of docs/findings.md, named after the target that they are about: the reference passes each, the target does
// not. Where it does, it has been mended: say so on the page, and let the scenario join the others.
func TestFindingsShow(t *testing.T) {
	t.Parallel() // it mostly waits
	all, err := conformance.Load("findings")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scenarios: %v", len(all), err)
	}
	page, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !strings.Contains(string(page), "conformance/findings/"+filepath.Base(s.Path)) {
			t.Errorf("docs/findings.md does not name %s", s.Path)
		}
		about := "kfake"
		if strings.HasPrefix(s.Name, rdkafka.Name) {
			if about = rdkafka.Name; os.Getenv("MUSTER_NIGHTLY") == "" {
				continue // takes a C compiler
			}
		}
		for name, want := range map[string]conformance.Status{"impl": conformance.Pass, about: conformance.Fail} {
			rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, OutDir: t.TempDir()}.Run(t.Context(), opened(t, name), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := rep.Results[0]; got.Status != want {
				t.Errorf("%s on %s: %v %s, want %v", s.Name, name, got.Status, got.Reason, want)
			}
		}
	}
}
