package conformance_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
)

// TestInProcess runs every scenario on what needs no Java: the specification as each of several releases, and the reference
// coordinator in virtual time and over TCP; there only with the default broker settings, since other scenarios wait for minutes.
func TestInProcess(t *testing.T) {
	t.Parallel() // over TCP it mostly waits
	for _, name := range []string{"model", "model:4.0.2", "model:3.9.2", "model:reference", "impl", "impl+tcp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			for _, set := range conformance.ByProfile(scenarios(t)) {
				if name == "impl+tcp" && set.Profile != conformance.DefaultProfile {
					continue
				}
				t.Run(set.Profile, func(t *testing.T) {
					tg := opened(t, name+"/"+set.Profile)
					conformance.RunSuite(t, tg, conformance.Suite{Scenarios: set.Scenarios, OutDir: t.TempDir(), Exact: true})
				})
			}
			t.Logf("%s: %s", name, time.Since(began).Round(time.Millisecond))
		})
	}
}

// TestServed runs every scenario that has the default broker settings, limits groups or restarts the coordinator on what muster serve runs: topics and
// transactions are kfake's there, and groups are in memory or in a folder, where writes end later than the next request may come. At night; the wire, and
// how it is led from there to the coordinator, has tests of its own in impl/server.
func TestServed(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("MUSTER_NIGHTLY=1 runs it")
	}
	for _, set := range conformance.ByProfile(scenarios(t)) {
		for _, target := range []string{"impl+serve", "impl+serve+data"} {
			if !slices.Contains([]string{conformance.DefaultProfile, "size", conformance.RestartProfile}, set.Profile) {
				continue
			}
			t.Run(target+"/"+set.Profile, func(t *testing.T) {
				dataFolder = t.TempDir()
				conformance.RunSuite(t, opened(t, target+"/"+set.Profile), conformance.Suite{Scenarios: set.Scenarios, OutDir: t.TempDir(), Exact: true})
			})
		}
	}
}

// TestWrongTextFails changes every expected line in turn and holds that specification and reference coordinator both notice: a judge
// that accepts anything would pass everything. Each line is changed in one way, in another than the line before; MUSTER_NIGHTLY=1 changes it in
// all ways, which is some four times as much.
func TestWrongTextFails(t *testing.T) {
	nightly := os.Getenv("MUSTER_NIGHTLY") != ""
	for _, name := range []string{"model", "impl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each has scenarios of its own
			tg := opened(t, name)
			tried, lines := 0, 0
			for _, s := range scenarios(t) {
				if s.Unaskable(tg.Capabilities()) != "" {
					continue
				}
				rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
				if err != nil {
					t.Fatal(err)
				}
				if rep.Results[0].Status == conformance.Skip {
					continue // it finds out half way that the target lacks a version
				}
				for i, b := range s.File.Blocks {
					for v := range b.Variants {
						if !b.Variants[v].Base() || len(b.Variants) > 1 {
							continue // another text may be the target's
						}
						for l, line := range b.Variants[v].Lines {
							lines++
							ways := mutations(line.Text)
							if one := lines % len(ways); !nightly {
								ways = ways[one : one+1]
							}
							for _, wrong := range ways {
								tried++
								b.Variants[v].Lines[l] = script.NewExpect(wrong)
								rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
								if err != nil {
									t.Fatal(err)
								}
								if res := rep.Results[0]; res.Status != conformance.Fail || res.Failure.Block != i+1 {
									t.Errorf("%s: %q passes for %q", s.Path, wrong, line.Text)
								}
								b.Variants[v].Lines[l] = line
							}
						}
					}
				}
			}
			t.Logf("%d wrong texts for %d lines", tried, lines)
			if tried < 500 {
				t.Errorf("only %d wrong lines were tried", tried)
			}
		})
	}
}

// mutations are lines that say something else.
func mutations(line string) []string {
	all := []string{
		strings.Replace(line, "NONE", "UNKNOWN_SERVER_ERROR", 1),
		strings.Replace(line, "gen=", "gen=1", 1),
		strings.Replace(line, "leader=A", "leader=B", 1),
		strings.Replace(line, "members=[A", "members=[", 1),
		strings.Replace(line, "Stable", "Empty", 1),
		strings.Replace(line, "t/0=", "t/0=1", 1),
	}
	who, text, _ := strings.Cut(line, ": ")
	if text == "parked" {
		all = append(all, who+": NONE")
	} else {
		all = append(all, who+": parked")
	}
	var wrong []string
	for _, m := range all {
		if m != line {
			wrong = append(wrong, m)
		}
	}
	return wrong
}
