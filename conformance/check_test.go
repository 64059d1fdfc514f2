package conformance

import (
	"strings"
	"testing"
)

// TestUnknownNames holds that slips in rules and profiles are told with file and line.
func TestUnknownNames(t *testing.T) {
	for text, want := range map[string]string{
		"# A test.\n# rule: join.new.rebalance\n\nlist\n----\n":                                    `test.txt:2: no rule "join.new.rebalance"; do you mean join.new.rebalances?`,
		"# A test.\n# rule: join.new.rebalances\n# profile: dflt\n\nlist\n----\n":                  `test.txt:3: no broker profile "dflt"; there are: default`,
		"# A test.\n# rule: join.new.rebalances\n\n# Why.\n# rule: no.such\nlist\n----\n":          `test.txt:5: no rule "no.such"`,
		"# A test.\n# rule: join.new.rebalances\n\nlist\n----\nx: y\n---- contract: no.such why\n": `test.txt:7: no rule "no.such"`,
		"# A test.\n# rule: join.new.rebalances\n\nlist\n----\nx: y\nz: y  # free: no.such\n":      `test.txt:7: no rule "no.such"`,
		"# A test.\n# rule: join.new.rebalances\n# profile: default\n\nlist\n----\n":               "",
	} {
		_, err := Parse("test.txt", []byte(text))
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"join-starts-rebalance", "join-stable-changed", "leave-batch"}
	for given, want := range map[string]string{
		"join-start-rebalance": "join-starts-rebalance", "join-stable-change": "join-stable-changed", "leavebatch": "leave-batch", "fetch-versions": "", "": "",
		"join-stable-new-member": "join-stable-changed",
	} {
		if got := Nearest(given, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", given, got, want)
		}
	}
}

// TestWhatFails holds that a go test fails on what the command fails on.
func TestWhatFails(t *testing.T) {
	known := &Register{Name: "mine.txt", Entries: []Entry{{Scenario: "s", Block: 1, Text: []string{"got"}}}}
	for _, c := range []struct {
		name, class string
		suite       Suite
		fails       bool
	}{
		{"contract", "contract", Suite{}, true},
		{"no class that is known", "", Suite{}, true},
		{"compat", "compat", Suite{}, false},
		{"compat, strict", "compat", Suite{Strict: true}, true},
		{"quirk, strict", "quirk", Suite{Strict: true}, false},
		{"quirk, exact", "quirk", Suite{Exact: true}, true},
		{"known", "contract", Suite{Known: known, Strict: true, Exact: true}, false},
		{"known, but with another text", "contract", Suite{Known: &Register{Entries: []Entry{{Scenario: "s", Block: 1, Text: []string{"else"}}}}}, true},
	} {
		fails, why := c.suite.fails(&Failure{Scenario: "s", Block: 1, Class: c.class, Got: []string{"got"}})
		if fails != c.fails || !fails && why == "" {
			t.Errorf("%s: fails %v (%q), want %v", c.name, fails, why, c.fails)
		}
	}
}
