package coverage

import (
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/model/classic"
)

const preface = `<!-- Written by go test ./internal/coverage -update. Do not edit. -->

# Coverage: which rules have been put to the test, and where

A **cell** is a rule that decided something, the state in which the group was, and what came of it: an *answer* to the request (of what is no request, such as a
timer: to one that waited), a request that is *parked*, or *silent*: nobody is answered, or somebody who waits never will be. A coordinator may well have a rule in
one state and lack it in another, so a rule counts in each.

- **By exploration**: which cells there are. Every state of the [groups that are explored](exploration.md) is expanded, with the specification of each release.
- **In scenarios**: which of them scenarios visit, as told by the specification while it runs them in virtual time.
- **On a broker**: of those, what scenarios visit that a broker of the release is asked; the test suite runs them on real Kafka and holds it to their text. Where
  the specification may go several ways to the same text, only what all of them visit counts.

What exploration leaves out (versions, sizes, values, encodings) comes from [a table of gates](../internal/coverage/gates.txt). Every cell is witnessed on a
broker, or stands below with the reason why no broker can be brought to it. A test fails where one is neither, where a reason does not hold any more, and where a
cell that was [witnessed](../internal/coverage/witnessed.txt) once is not. ` + "`muster rules --coverage`" + ` shows each cell, ` + "`muster witness`" + ` makes scenarios for new ones.

![The states of a group, and how often exploration and scenarios went from one to another](coverage.svg)

`

// Page is docs/coverage.md.
func (t *Table) Page(exempt []Exemption) string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("| release | cells | by exploration | gates | in scenarios | on a broker | exempt |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, release := range Releases {
		n := t.Numbers(release, nil)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", release, n.Cells(), n.Explored, n.Gates, n.InScenarios, n.Broker, n.Exempt)
	}
	t.families(&b)
	t.exempted(&b, exempt)
	return b.String()
}

// families are the beginnings of rule ids, in the order of the ids.
func families() (names []string) {
	for _, rule := range classic.Rules() {
		name, _, _ := strings.Cut(rule.ID, ".")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

func (t *Table) families(b *strings.Builder) {
	b.WriteString("\n## By family of rules\n\n| rules |")
	for range Releases {
		b.WriteString(" cells | on a broker | exempt |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- | --- | --- |", len(Releases)) + "\n| |")
	for _, release := range Releases {
		fmt.Fprintf(b, " **%s** | | |", release)
	}
	b.WriteString("\n")
	for _, family := range families() {
		fmt.Fprintf(b, "| %s |", family)
		for _, release := range Releases {
			n := t.Numbers(release, func(id classic.RuleID) bool { return strings.HasPrefix(id.String(), family+".") })
			fmt.Fprintf(b, " %d | %d | %s |", n.Cells(), n.Broker, orNone(n.Exempt))
		}
		b.WriteString("\n")
	}
}

func orNone(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func (t *Table) exempted(b *strings.Builder, exempt []Exemption) {
	b.WriteString("\n## What no broker has been seen in\n")
	for _, e := range exempt {
		fmt.Fprintf(b, "\n%s\n\n", e.Reason)
		for _, g := range e.Cells {
			only := ""
			if g.releases != nil {
				only = ", " + strings.Join(g.releases, ", ") + " only"
			}
			fmt.Fprintf(b, "- `%v`, %v, %v%s\n", g.Rule, g.State, g.Outcome, only)
		}
	}
}
