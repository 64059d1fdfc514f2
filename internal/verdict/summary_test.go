package verdict

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func tableOf(t *testing.T, v *Verdict) string {
	t.Helper()
	var b bytes.Buffer
	if err := v.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSummary holds that the end of the table has a line for each failure, under its number, and that nothing comes after but how much there
// was and the verdict.
func TestSummary(t *testing.T) {
	v := closed(fake(), false, nil)
	table := tableOf(t, v)
	_, end, found := strings.Cut(table, "\nFAILURE   RULE")
	if !found {
		t.Fatalf("no summary:\n%s", table)
	}
	lines := strings.Split(strings.TrimRight(end, "\n"), "\n")[1:]
	if len(lines) != len(v.Failures)+4 || lines[len(lines)-1] != "verdict: fail, exit code 1 (12.3 s)" || lines[len(lines)-3] != "3 failures (2 contract, 1 compat), 1 difference; 4 scenarios run, 0 skipped" {
		t.Errorf("%d failures, and %q", len(v.Failures), lines)
	}
	for i, f := range v.Failures {
		for _, want := range []string{f.Rule, f.Class, f.Scenario + f.marks()} {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%q does not tell %q", lines[i], want)
			}
		}
		if number := regexp.MustCompile(`^\d+`).FindString(lines[i]); !strings.Contains(table, "\nFAILURE "+number+": "+f.heading()) {
			t.Errorf("%q has another number than above:\n%s", lines[i], table)
		}
	}
	steady := foreign()
	steady.wavered = nil
	if table = tableOf(t, closed(steady, false, nil)); !strings.Contains(table, "\n0 failures, 0 differences; 1 scenario run, 0 skipped\n\nverdict: pass") {
		t.Errorf("nothing is counted where all holds:\n%s", table)
	}
}

// TestLegends holds that each mark is explained once where it is there, and not where it is not.
func TestLegends(t *testing.T) {
	bug, simple := Finding{Registered: true, Kind: KindBug}, Finding{Registered: true, Kind: "simplification"}
	for _, c := range []struct {
		findings []Finding
		want     []string
	}{
		{nil, nil},
		{[]Finding{{Judge: Scenarios, Text: "join A"}}, nil},
		{[]Finding{{Judge: Scenarios, Text: "join A\n+ A: NONE"}}, []string{"In what was seen"}},
		{[]Finding{bug, bug}, []string{"[registered bug]"}},
		{[]Finding{simple}, []string{"[registered simplification]"}},
		{[]Finding{simple, bug}, []string{"[registered bug]", "[registered simplification]"}},
	} {
		lines := strings.Split(strings.TrimSuffix(legends(c.findings), "\n"), "\n")
		if len(c.want) == 0 {
			lines = nil
		}
		if len(lines) != len(c.want) {
			t.Errorf("%v: %q", c.findings, lines)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%q does not explain %s", lines[i], want)
			}
		}
	}
}

// TestManyUncovered holds that rules which were not put to the test are counted where they are too many to name.
func TestManyUncovered(t *testing.T) {
	if table := tableOf(t, closed(fake(), false, nil)); !strings.Contains(table, "rules not put to the test: 94 of 97, ") || !strings.Contains(table, "--json FILE") {
		t.Errorf("94 rules are passed over:\n%s", table)
	}
}
