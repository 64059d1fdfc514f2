package conformance_test

import (
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
)

// TestFaultsAreUndone runs scenarios that leave the broker as they made it, each before one that needs it whole.
func TestFaultsAreUndone(t *testing.T) {
	const whole = "# Whole.\n# rule: fetch.committed\n\ncommit - t/0=5\n----\n-: t/0:NONE\n"
	for _, fault := range []string{"refuses-writes", "resigns", "loads"} {
		t.Run(fault, func(t *testing.T) {
			var both []*conformance.Scenario
			for _, text := range []string{"# Left.\n# rule: fetch.committed\n# profile: faults\n\nbroker " + fault + "\n----\n", whole} {
				s, err := conformance.Parse("x.txt", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				both = append(both, s)
			}
			rep, err := conformance.Suite{Scenarios: both, OutDir: t.TempDir()}.Run(t.Context(), opened(t, "impl/faults"), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rep.Results {
				if r.Status != conformance.Pass {
					t.Errorf("%s: %v %s %v", r.Scenario, r.Status, r.Reason, r.Failure)
				}
			}
		})
	}
}

func TestFaultsNeedTheirProfile(t *testing.T) {
	for text, want := range map[string]string{
		"# X.\n# rule: fetch.committed\n\nbroker resigns\n----\n":                   "only scenarios of the profile faults",
		"# X.\n# rule: fetch.committed\n# profile: faults\n\nbroker sleeps\n----\n": "one of [refuses-writes",
		"# X.\n# rule: fetch.committed\n# profile: faults\n\nbroker\n----\n":        "one of [refuses-writes",
	} {
		if _, err := conformance.Parse("x.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	s, err := conformance.Parse("x.txt", []byte("# X.\n# rule: fetch.committed\n# profile: faults\n\nbroker loads\n----\n"))
	if err != nil {
		t.Fatal(err)
	}
	caps := opened(t, "impl/faults").Capabilities()
	if why := s.Unaskable(caps); why != "" {
		t.Error(why)
	}
	caps.Faults = caps.Faults[:1]
	if why := s.Unaskable(caps); !strings.Contains(why, "a broker that loads when told to") {
		t.Errorf("a target that cannot: %q", why)
	}
}
