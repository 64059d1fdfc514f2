package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/muster-kafka/muster/internal/anomaly"
)

// detailed is how many findings are told in full; the table and the JSON form have all of them.
const detailed = 20

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.head(&b)
	r.findings(&b)
	for i, f := range r.Findings {
		if i == detailed {
			fmt.Fprintf(&b, "\n... and %d more findings; --json FILE has them in full, --group G examines one group\n", len(r.Findings)-detailed)
			break
		}
		tell(&b, f)
	}
	r.rest(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteLive writes what fits a screen.
func (r *Report) WriteLive(w io.Writer) error {
	var b strings.Builder
	r.head(&b)
	r.findings(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) head(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %d group(s) judged in %d look(s) over %.1f s, %d requests to %d broker(s)", r.Target, r.Groups.Judged, r.Looks, r.DurationS, r.Requests, r.Brokers)
	var states []string
	for _, s := range []anomaly.State{anomaly.Stable, anomaly.Empty, anomaly.PreparingRebalance, anomaly.CompletingRebalance} {
		if n := r.Groups.States[string(s)]; n > 0 {
			states = append(states, fmt.Sprintf("%s %d", s, n))
		}
	}
	if len(states) > 0 {
		fmt.Fprintf(b, "\n%s", strings.Join(states, ", "))
	}
	fmt.Fprint(b, "\n\n")
}

func (r *Report) findings(b *strings.Builder) {
	if len(r.Findings) == 0 {
		fmt.Fprintln(b, "no findings")
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SEVERITY\tGROUP\tFINDING\tBASIS\tIN SHORT")
	for _, f := range r.Findings {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Severity, printable(f.Group), f.Rule, basis(f), printable(f.Summary))
	}
	t.Flush()
}

func basis(f anomaly.Finding) string {
	if f.Certain {
		return "certain"
	}
	return "inferred"
}

func tell(b *strings.Builder, f anomaly.Finding) {
	fmt.Fprintf(b, "\n%s, %s (%s)\n  %s\n", printable(f.Group), f.Rule, basis(f), printable(f.Summary))
	for _, part := range []struct {
		title string
		lines []string
	}{{"evidence", f.Evidence}, {"likely causes", f.Causes}, {"what to do", f.Do}} {
		fmt.Fprintf(b, "  %s:\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(b, "    - %s\n", printable(line))
		}
	}
}

// rest is what was not judged, and what limits the findings.
func (r *Report) rest(b *strings.Builder) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "\n"+format, args...) }
	if n := len(r.NotJudged); n > 0 {
		why := map[string]int{}
		for _, g := range r.NotJudged {
			why[g.Why]++
		}
		var parts []string
		for w, n := range why {
			parts = append(parts, fmt.Sprintf("%s: %d", w, n))
		}
		slices.Sort(parts)
		line("not judged: %d (%s): %s", n, strings.Join(parts, ", "), few(r.NotJudged, func(g NotJudged) string { return g.Group }))
	}
	if len(r.NotAuthorized) > 0 {
		line("not examined: %s", few(r.NotAuthorized, func(g NotJudged) string { return fmt.Sprintf("%s (%s)", g.Group, g.Why) }))
	}
	if len(r.Absent) > 0 {
		line("not there: %s", few(r.Absent, func(g string) string { return g }))
	}
	if len(r.Vanished) > 0 {
		line("vanished meanwhile: %s", few(r.Vanished, func(g string) string { return g }))
	}
	for _, n := range r.Notes {
		line("note: %s", printable(n))
	}
	if b.Len() > 0 {
		fmt.Fprintln(b)
	}
}

func few[T any](all []T, text func(T) string) string {
	const shown = 10
	var parts []string
	for i, x := range all {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-shown))
			break
		}
		parts = append(parts, printable(text(x)))
	}
	return strings.Join(parts, ", ")
}

// printable keeps what clients chose as names from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}
