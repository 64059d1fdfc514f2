package atlas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/stamp"
)

// Page is what docs/atlas.md is made from.
type Page struct {
	Releases  []string
	Scenarios []*conformance.Scenario
	Explained []Explanation
	Run       *Run
	KFake     *conformance.Register
	RDKafka   *conformance.Register
	Digest    string
}

// Text is docs/atlas.md.
func (p Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Atlas of releases

Where the classic group protocol behaves otherwise than in Kafka 4.3.1, as seen by running every scenario on every release; `+"`make atlas`"+` makes
this page. The texts that a release gives are in the scenarios (blocks with a condition), the reasons in [explanations.txt](../internal/atlas/explanations.txt).

%d scenarios on %d releases: %s. "3.9.2+java" is 3.9.2 with the Java coordinator switched on; releases up to 3.2 ran with ZooKeeper.
`, len(p.Scenarios), len(p.Releases), strings.Join(p.Releases, ", "))
	if n := len(Undrawn()); n > 0 {
		fmt.Fprintf(&b, "%d more scenarios are not drawn yet ([undrawn.txt](../internal/atlas/undrawn.txt)).\n", n)
	}
	b.WriteString("\n")
	p.changes(&b)
	p.when(&b)
	p.table(&b)
	p.versions(&b)
	p.kfake(&b)
	p.rdkafka(&b)
	fmt.Fprintln(&b, stamp.Line(madeBy, p.Digest))
	return b.String()
}

// changes tells each explanation, those first that begin or end with the oldest release.
func (p Page) changes(b *strings.Builder) {
	fmt.Fprintf(b, `## What changed, and why

A defect breaks the rule; of a variation both ways are right.

| name | releases that differ | change | kind | rule | variation point | issue | seen in |
| --- | --- | --- | --- | --- | --- | --- | --- |
`)
	for _, e := range p.sorted() {
		if e.unasked() {
			continue
		}
		places := make([]string, len(e.At))
		for i, at := range e.At {
			places[i] = at.String()
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", e.Name, code(e.Releases.String()), strings.Join(e.Prose, " "), e.Kind, code(e.Rule),
			cmp.Or(e.Point, "-"), issue(e.Issue), strings.Join(places, ", "))
	}
	b.WriteString("\n")
}

// sorted are the explanations by the first release that they hold for, then by the number of releases.
func (p Page) sorted() []Explanation {
	held := func(e Explanation) (first, n int) {
		first = -1
		for i, r := range p.Releases {
			if e.Releases.Holds(r) > 0 {
				if n++; first < 0 {
					first = i
				}
			}
		}
		return first, n
	}
	all := slices.Clone(p.Explained)
	slices.SortStableFunc(all, func(x, y Explanation) int {
		xf, xn := held(x)
		yf, yn := held(y)
		return cmp.Or(cmp.Compare(xf, yf), cmp.Compare(xn, yn), strings.Compare(x.Name, y.Name))
	})
	return all
}

// table has a row for each block that differs somewhere, and a column for each release.
func (p Page) table(b *strings.Builder) {
	fmt.Fprintf(b, `## Block by block

`+"`·`"+` is the text of 4.3.1, a letter another one (in the order of the scenario file), `+"`-`"+` a release that the scenario cannot be asked of.

| scenario/block | why | %s |
| --- | --- |%s
`, strings.Join(short(p.Releases), " | "), strings.Repeat(" --- |", len(p.Releases)))
	for _, d := range Differences(p.Releases, p.Scenarios) {
		var why []string
		for _, e := range p.Explained {
			if slices.Contains(e.At, d.Place) {
				why = append(why, e.Name)
			}
		}
		fmt.Fprintf(b, "| %s | %s |", d.Place, strings.Join(why, ", "))
		for _, release := range p.Releases {
			mark := "·"
			if c, _ := p.Run.Find(release, d.Scenario); c.Status == conformance.Skip {
				mark = "-"
			} else if n := d.Of[release]; n > 0 {
				mark = string(rune('a' + n - 1))
			}
			fmt.Fprintf(b, " %s |", mark)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// short are releases for the head of a column.
func short(releases []string) []string {
	out := make([]string, len(releases))
	for i, r := range releases {
		numbers, java, _ := strings.Cut(r, "+")
		parts := strings.Split(numbers, ".")
		out[i] = strings.Join(parts[:min(2, len(parts))], ".")
		if java != "" {
			out[i] += "+" + java
		}
	}
	return out
}

// versions tells which scenarios a release was not asked.
func (p Page) versions(b *strings.Builder) {
	b.WriteString(`## What a release cannot be asked

Scenarios that name a version of an API are not run on releases without it, nor those that make a fault happen on releases that do not show it.

| what | why | not in releases | issue | scenarios |
| --- | --- | --- | --- | --- |
`)
	for _, e := range p.sorted() {
		if !e.unasked() {
			continue
		}
		var names []string
		for _, c := range p.Run.Cells {
			if c.Status == conformance.Skip && !slices.Contains(names, c.Scenario) && e.excuses(c.Release, c.Lacks) {
				names = append(names, c.Scenario)
			}
		}
		slices.Sort(names)
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", e.lacks(), strings.Join(e.Prose, " "), code(e.Releases.String()), issue(e.Issue), strings.Join(names, ", "))
	}
	b.WriteString("\n")
	var never []string
	for _, sc := range p.Scenarios {
		if everywhere(sc) {
			never = append(never, sc.Name)
		}
	}
	if len(never) > 0 {
		fmt.Fprintf(b, "On no broker, since time would have to pass that is no setting, or the clock has to be a virtual one: %s.\n\n", strings.Join(never, ", "))
	}
}

// kfake tells how franz-go's fake differs.
func (p Page) kfake(b *strings.Builder) {
	b.WriteString(`## kfake

How franz-go's fake cluster differs from Kafka 4.3.1, from its [register](../conformance/registers/kfake.txt): the first block of each scenario.

| scenario/block | rule | class | kind | difference |
| --- | --- | --- | --- | --- |
`)
	entries(b, p.KFake)
}

// entries are the rows of a register.
func entries(b *strings.Builder, known *conformance.Register) {
	for _, e := range known.Entries {
		fmt.Fprintf(b, "| %s/%d | %s | %s | %s | %s |\n", e.Scenario, e.Block, code(e.Rule), e.Class(), e.Kind, e.Note())
	}
	b.WriteString("\n")
}

func code(s string) string { return "`" + s + "`" }

func issue(s string) string {
	pull, isPull := strings.CutPrefix(s, "apache/kafka#")
	switch {
	case strings.Contains(s, " "):
		return s
	case strings.HasPrefix(s, "KAFKA-"):
		return fmt.Sprintf("[%s](https://issues.apache.org/jira/browse/%s)", s, s)
	case isPull:
		return fmt.Sprintf("[%s](https://github.com/apache/kafka/pull/%s)", s, pull)
	}
	return s
}
