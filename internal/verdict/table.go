package verdict

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the verdict for people: what was checked, how much, the result; then each failure with the
// command that replays it, and at the end all failures again, a line each.
func (v *Verdict) WriteTable(w io.Writer) error {
	var b strings.Builder
	seed := ""
	if v.Random != nil || v.Linearizability != nil || v.Diff != nil {
		seed = fmt.Sprintf(" (--seed %d)", v.Seed)
	}
	do, with := "judge", "against"
	if v.Diff != nil {
		do, with = "compare", "with"
	}
	did := do + "d"
	if v.Result == Unavailable {
		did = "was to " + do
	}
	fmt.Fprintf(&b, "muster %s %s %s %s %s%s\n\n", v.Muster, did, v.Target, with, v.ComparedWith, seed)
	v.rows(&b)
	list(&b, "FAILURE", v.Failures)
	list(&b, "KNOWN FAILURE", v.Known)
	list(&b, "DIFFERENCE", v.Differences)
	if told := legends(slices.Concat(v.Failures, v.Known, v.Differences)); told != "" {
		fmt.Fprintf(&b, "\n%s", told)
	}
	byReason(&b, "skipped", v.Skipped)
	byReason(&b, "could not be judged", v.Unjudged)
	v.uncovered(&b)
	lines(&b, "warnings:", v.Warnings)
	if v.Result != Pass {
		lines(&b, "not judged:", v.Reasons)
	}
	v.summary(&b)
	fmt.Fprintf(&b, "\nverdict: %s, exit code %d (%.1f s)\n", v.Result, v.ExitCode(), v.DurationS)
	_, err := io.WriteString(w, b.String())
	return err
}

const notRun = "not run on this target"

func (v *Verdict) rows(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	if v.Exploration != nil && v.alone && v.Diff == nil && v.Campaign == nil {
		v.explorationRows(t)
		t.Flush()
		return
	}
	fmt.Fprintf(t, "CHECKED\tHOW MUCH\tRESULT\n")
	v.eachRow(func(name, howMuch, result string) { fmt.Fprintf(t, "%s\t%s\t%s\n", name, howMuch, result) })
	t.Flush()
}

// eachRow tells what each judge has done, and what came of it.
func (v *Verdict) eachRow(tell func(name, howMuch, result string)) {
	if v.Diff != nil {
		howMuch, result := v.diffRow()
		tell(string(Diff), howMuch, result)
		return
	}
	if v.Campaign != nil && v.Scenarios == nil {
		v.campaignRows(tell)
		return
	}
	row := func(name string, ran bool, howMuch, result string) {
		if !ran && v.alone { // nobody asked for it
			return
		}
		if !ran {
			howMuch, result = notRun, "-"
		}
		tell(name, howMuch, result)
	}
	var s ScenarioCounts
	if v.Scenarios != nil {
		s = *v.Scenarios
	}
	row("scenarios", v.Scenarios != nil, fmt.Sprintf("%d run, %d skipped%s", s.Run, s.Skipped, s.open()), v.scenarioResult(s))
	if v.Rules != nil {
		row("rules", true, fmt.Sprintf("%d of %d put to the test", v.Rules.Covered, v.Rules.Total), "-")
	}
	var r RandomCounts
	if v.Random != nil {
		r = *v.Random
	}
	row("random walks", v.Random != nil, count(r.Sequences, "sequence", "sequences")+", "+count(r.Steps, "step", "steps"), v.resultOf(Random))
	var e ExplorationCounts
	if v.Exploration != nil {
		e = *v.Exploration
	}
	row("exploration", v.Exploration != nil, count(e.States, "state", "states")+", "+count(e.Transitions, "transition", "transitions"), v.explorationResult(e))
	var l LinearizabilityCounts
	if v.Linearizability != nil {
		l = *v.Linearizability
	}
	row("linearizability", v.Linearizability != nil, count(l.Histories, "history", "histories")+", "+count(l.Operations, "operation", "operations"), v.linearizabilityResult(l))
}

func (v *Verdict) scenarioResult(s ScenarioCounts) string {
	var notes []string
	if n := v.differing(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d with a difference", n))
	}
	if n := v.wavering(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d not at first", n))
	}
	text := fmt.Sprintf("%d passed", s.Passed)
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	text += fmt.Sprintf(", %d failed", s.Failed)
	if !v.finished[Scenarios] {
		text += ", ended early"
	}
	return text
}

// differing counts the scenarios that passed with a difference.
func (v *Verdict) differing() int {
	n := 0
	for _, c := range v.cases {
		if c.Judge == Scenarios && len(about(v.Differences, Scenarios, c.Name)) > 0 && len(about(v.Failures, Scenarios, c.Name))+len(about(v.Known, Scenarios, c.Name)) == 0 {
			n++
		}
	}
	return n
}

// wavering counts the scenarios that passed after they had failed, which may be the target's doing.
func (v *Verdict) wavering() int {
	n := 0
	for _, u := range v.Unsteady {
		if !u.Counts && !u.Stalled {
			n++
		}
	}
	return n
}

func (v *Verdict) resultOf(j Judge) string {
	n := 0
	for _, f := range v.Failures {
		if f.Judge == j {
			n++
		}
	}
	switch {
	case n > 0:
		return fmt.Sprintf("%d failed", n)
	case !v.finished[j]:
		return "ended early"
	default:
		return "holds"
	}
}

func (v *Verdict) explorationResult(e ExplorationCounts) string {
	if text := v.resultOf(Exploration); text != "holds" || e.Complete {
		return text
	}
	return "not complete"
}

func (v *Verdict) linearizabilityResult(l LinearizabilityCounts) string {
	if text := v.resultOf(Linearizability); text != "holds" || l.Unknown == 0 {
		return text
	}
	return fmt.Sprintf("%d not decided", l.Unknown)
}

func list(b *strings.Builder, title string, findings []Finding) {
	for i, f := range findings {
		fmt.Fprintf(b, "\n%s %d: %s", title, i+1, f.paragraph())
	}
}

// open says how many scenarios could not be judged, if any.
func (s ScenarioCounts) open() string {
	if s.Unjudged == 0 {
		return ""
	}
	return fmt.Sprintf(", %d not judged", s.Unjudged)
}

// WriteSkips writes which scenarios are skipped and why, those of one reason together.
func WriteSkips(w io.Writer, skipped []Skip) error {
	var b strings.Builder
	byReason(&b, "skipped", skipped)
	_, err := io.WriteString(w, b.String())
	return err
}

// byReason lists scenarios, those of one reason together.
func byReason(b *strings.Builder, what string, all []Skip) {
	var reasons []string
	names := map[string][]string{}
	for _, s := range all {
		if names[s.Reason] == nil {
			reasons = append(reasons, s.Reason)
		}
		names[s.Reason] = append(names[s.Reason], s.Scenario)
	}
	for _, reason := range reasons {
		fmt.Fprintf(b, "\n%s, %s: %s\n", what, reason, strings.Join(names[reason], ", "))
	}
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func lines(b *strings.Builder, title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, text := range texts {
		fmt.Fprintf(b, "  %s\n", indent(text))
	}
}

// noRule stands where a finding can be laid to no single rule.
const noRule = "no single rule"

// heading is a finding in one line.
func (f Finding) heading() string {
	rule := f.Rule
	if rule == "" {
		rule = noRule
	}
	return fmt.Sprintf("%s (%s), %s: %s%s", rule, f.Class, f.Judge, f.Scenario, f.marks())
}

// paragraph is a finding in full.
func (f Finding) paragraph() string {
	var b strings.Builder
	fmt.Fprintln(&b, f.heading())
	if f.Unsteady {
		fmt.Fprintf(&b, "  unsteady: %s\n", unsteadyText)
	}
	for _, part := range []struct{ name, text string }{
		{"known", f.Note}, {"rule", f.Sentence}, {"Kafka does so in", f.Releases}, {"a client suffers", f.Suffers}, {"seen", f.Text}, {"replay", f.Replay},
	} {
		switch {
		case part.text == "":
		case strings.Contains(strings.TrimRight(part.text, "\n"), "\n"):
			fmt.Fprintf(&b, "  %s:\n    %s\n", part.name, strings.ReplaceAll(strings.TrimRight(part.text, "\n"), "\n", "\n    "))
		default:
			fmt.Fprintf(&b, "  %s: %s\n", part.name, strings.TrimRight(part.text, "\n"))
		}
	}
	return b.String()
}

func indent(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
