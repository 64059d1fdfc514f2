package conformance_test

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// lesser is the reference with less to offer.
type lesser struct {
	target.Target
	caps target.Capabilities
}

func (l lesser) Capabilities() target.Capabilities { return l.caps }

// TestForeseen holds that what is said before a run to be skipped is what the run skips, for the same reason.
func TestForeseen(t *testing.T) {
	all := scenarios(t)
	for name, lessen := range map[string]func(*target.Capabilities){
		"all that the reference has": func(*target.Capabilities) {},
		"as an address": func(c *target.Capabilities) {
			c.Topics, c.Features, c.MaxGroups, c.Profile = map[string]string{"t": c.Topics["t"]}, []target.Feature{target.Static, target.Operations}, 20, ""
		},
		"no topic, one group": func(c *target.Capabilities) { c.Topics, c.MaxGroups = nil, 1 },
		"longer sessions":     func(c *target.Capabilities) { c.MinSession = 11 * time.Second },
		"shorter sessions":    func(c *target.Capabilities) { c.MaxSession = 30 * time.Second },
		"older versions": func(c *target.Capabilities) {
			older := map[int16]target.VersionRange{}
			for key, v := range c.Versions {
				older[key] = target.VersionRange{Min: v.Min, Max: min(v.Max, 3)}
			}
			c.Versions = older
		},
	} {
		tg, err := embedded.New(embedded.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		caps := tg.Capabilities()
		lessen(&caps)
		rep, err := conformance.Suite{Scenarios: all, OutDir: t.TempDir()}.Run(t.Context(), lesser{tg, caps}, nil)
		if err != nil {
			t.Fatal(err)
		}
		holdForeseen(t, name, caps, all, rep)
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	}
}

// holdForeseen holds what a run skipped against what was said before. One that fails may do so before it comes to what the target cannot be asked.
func holdForeseen(t *testing.T, name string, caps target.Capabilities, all []*conformance.Scenario, rep conformance.Report) {
	t.Helper()
	byName := map[string]*conformance.Scenario{}
	for _, s := range all {
		byName[s.Name] = s
	}
	skipped := 0
	for _, r := range rep.Results {
		foreseen := byName[r.Scenario].Foreseen(caps, false)
		switch {
		case r.Status == conformance.Skip:
			if skipped++; foreseen != r.Reason {
				t.Errorf("%s: %s is skipped, %q; before it was said: %q", name, r.Scenario, r.Reason, foreseen)
			}
		case r.Status == conformance.Pass && foreseen != "":
			t.Errorf("%s: %s passes, and was said to be skipped: %q", name, r.Scenario, foreseen)
		}
	}
	t.Logf("%s: %d of %d skipped", name, skipped, len(all))
}
