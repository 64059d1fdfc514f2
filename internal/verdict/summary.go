package verdict

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/muster-kafka/muster/model/classic"
)

// marks are what is known of the finding besides: " [registered bug]", " [unsteady]".
func (f Finding) marks() string {
	marks := ""
	if f.Registered {
		marks += " [" + strings.TrimSpace("registered "+f.Kind) + "]"
	}
	if f.Unsteady {
		marks += " [unsteady]"
	}
	return marks
}

// legends explain the marks of findings to who sees them for the first time, a line each; empty where there are none.
func legends(findings []Finding) string {
	var told strings.Builder
	for _, l := range []struct {
		text  string
		needs func(Finding) bool
	}{
		{
			"In what was seen, a line that begins with - is expected, one with + is what the target answered.",
			func(f Finding) bool {
				return f.Judge == Scenarios && (strings.Contains(f.Text, "\n- ") || strings.Contains(f.Text, "\n+ "))
			},
		},
		{
			"[registered bug]: Muster's authors know of it and call it a bug of the target; it is a failure, whatever the class of its rule.",
			func(f Finding) bool { return f.Registered && f.Kind == KindBug },
		},
		{
			"[registered simplification]: Muster's authors know of it and call it a simplification; it counts as the class of its rule does.",
			func(f Finding) bool { return f.Registered && f.Kind == "simplification" },
		},
	} {
		if slices.ContainsFunc(findings, l.needs) {
			told.WriteString(l.text + "\n")
		}
	}
	return told.String()
}

// maxUncovered is how many rules that were not put to the test the table names.
const maxUncovered = 20

// uncovered names the rules that no scenario put to the test. Where they are many it says how many, and who names them.
func (v *Verdict) uncovered(b *strings.Builder) {
	switch {
	case v.Rules == nil || len(v.Rules.Uncovered) == 0 || v.alone: // whoever asks for some scenarios knows that
	case len(v.Rules.Uncovered) <= maxUncovered:
		fmt.Fprintf(b, "\nrules not put to the test: %s\n", strings.Join(v.Rules.Uncovered, ", "))
	default:
		fmt.Fprintf(b, "\nrules not put to the test: %d of %d, as the scenarios about them were skipped or not asked for; --json FILE lists them under \"uncovered\"\n",
			len(v.Rules.Uncovered), v.Rules.Total)
	}
}

// summary tells all failures again, a line each, and how much there was of everything: whoever looks at the end of a long text sees it whole.
func (v *Verdict) summary(b *strings.Builder) {
	if len(v.Failures) > 0 {
		fmt.Fprintln(b)
		t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
		fmt.Fprintf(t, "FAILURE\tRULE\tCLASS\tSEEN IN\n")
		for i, f := range v.Failures {
			where := f.Scenario
			if f.Judge != Scenarios {
				where = string(f.Judge) + ": " + f.Scenario
			}
			rule := f.Rule
			if rule == "" {
				rule = noRule
			}
			fmt.Fprintf(t, "%d\t%s\t%s\t%s%s\n", i+1, rule, f.Class, where, f.marks())
		}
		t.Flush()
	}
	fmt.Fprintf(b, "\n%s\n", v.totals())
}

// totals is how much there was of everything, in a line.
func (v *Verdict) totals() string {
	text := count(len(v.Failures), "failure", "failures")
	if len(v.Failures) > 0 {
		text += " (" + byClass(v.Failures) + ")"
	}
	if len(v.Known) > 0 {
		text += fmt.Sprintf(", %d known", len(v.Known))
	}
	text += ", " + count(len(v.Differences), "difference", "differences")
	if s := v.Scenarios; s != nil {
		text += fmt.Sprintf("; %s run, %d skipped%s", count(s.Run, "scenario", "scenarios"), s.Skipped, s.open())
	}
	return text
}

// byClass counts findings by the class of their rule.
func byClass(findings []Finding) string {
	var parts []string
	for _, class := range []classic.Class{classic.Contract, classic.Compat, classic.Quirk} {
		n := 0
		for _, f := range findings {
			if f.Class == class.String() {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	return strings.Join(parts, ", ")
}
