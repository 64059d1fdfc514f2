package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/model/classic"
)

const preface = `<!-- Written by go run ./internal/divergences from conformance/registers. Do not edit. -->

# How the fakes differ from Kafka

What Muster's authors know of two fakes that many test against. Each line was seen on the fake and is otherwise on Kafka 4.3.1; tests hold the registers in both directions, so what was mended is
taken off. What shows in several scenarios is counted once. A **bug** misleads whoever tests against the fake; a **simplification** was left out on purpose, or is of no use to its users.

` + "`muster verify TARGET`" + ` tells each with the requests that show it, what Kafka answers, and what a client suffers; ` + "`muster run SCENARIO --target TARGET`" + ` shows one alone.

`

// fakes are the targets with a register.
var fakes = []struct{ target, what string }{
	{"kfake", "franz-go's fake cluster"},
	{"rdkafka-mock", "librdkafka's mock cluster"},
}

// markdown is the page.
func markdown() (string, error) {
	scenarios, err := conformance.Scenarios()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(preface)
	var known []*conformance.Register
	for _, f := range fakes {
		r, ok, err := conformance.Registered(f.target)
		if err != nil || !ok {
			return "", fmt.Errorf("no register of %s: %w", f.target, err)
		}
		known = append(known, r)
	}
	counts(&b, known)
	for i, f := range fakes {
		fmt.Fprintf(&b, "\n## %s, %s\n", f.target, f.what)
		for _, kind := range kinds {
			section(&b, known[i], scenarios, kind)
		}
	}
	return b.String(), nil
}

var (
	kinds   = []conformance.Kind{conformance.Bug, conformance.Simplification}
	classes = []classic.Class{classic.Contract, classic.Compat, classic.Quirk}
)

// counts is a table of how many there are.
func counts(b *strings.Builder, known []*conformance.Register) {
	b.WriteString("| target | kind | contract | compat | quirk |\n| --- | --- | --- | --- | --- |\n")
	for i, r := range known {
		for _, kind := range kinds {
			fmt.Fprintf(b, "| %s | %s |", fakes[i].target, kind)
			for _, class := range classes {
				n := 0
				for _, d := range differences(r) {
					if d[0].Kind == kind && d[0].Class() == class.String() {
						n++
					}
				}
				fmt.Fprintf(b, " %d |", n)
			}
			b.WriteString("\n")
		}
	}
}

// section lists the entries of a kind, contracts first.
func section(b *strings.Builder, known *conformance.Register, scenarios []*conformance.Scenario, kind conformance.Kind) {
	title := strings.ToUpper(string(kind[:1])) + string(kind[1:]) + "s"
	fmt.Fprintf(b, "\n### %s\n\n| class | rule | what differs | what a client suffers | shown by |\n| --- | --- | --- | --- | --- |\n", title)
	for _, class := range classes {
		for _, d := range differences(known) {
			first := d[0]
			if first.Kind != kind || first.Class() != class.String() {
				continue
			}
			var places []string
			for _, e := range d {
				steady := ""
				if e.Status == conformance.Sometimes {
					steady = ", sometimes"
				}
				if at := place(e, scenarios) + steady; !slices.Contains(places, at) {
					places = append(places, at)
				}
			}
			fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s |\n", class, first.Rule, first.Note(), first.Suffers(), strings.Join(places, "; "))
		}
	}
}

// differences are the entries of a register, those together that show the same one: of which the same is said, or nothing but "As in" another one,
// of the same rule and with the same consequence. The one that says what it is comes first.
func differences(r *conformance.Register) [][]conformance.Entry {
	var all [][]conformance.Entry
	at := map[int]int{} // by the entry that says it: its place in all
	for _, isFirst := range []bool{true, false} {
		for i, e := range r.Entries {
			first := said(r, i)
			switch {
			case isFirst && first == i:
				at[i] = len(all)
				all = append(all, []conformance.Entry{e})
			case !isFirst && first != i:
				all[at[first]] = append(all[at[first]], e)
			}
		}
	}
	return all
}

// said is the entry that says in words what the i-th one shows.
func said(r *conformance.Register, i int) int {
	for range r.Entries { // at most, should two refer to each other
		e := r.Entries[i]
		same := func(o conformance.Entry) bool {
			return o.Rule == e.Rule && o.Kind == e.Kind && o.Suffers() == e.Suffers()
		}
		scenario, _ := strings.CutPrefix(e.Note(), "As in ")
		scenario, other := strings.CutSuffix(scenario, ".")
		first := slices.IndexFunc(r.Entries, func(o conformance.Entry) bool {
			return other && o.Scenario == scenario && o.Scenario != e.Scenario && same(o)
		})
		if first < 0 {
			return slices.IndexFunc(r.Entries, func(o conformance.Entry) bool { return o.Note() == e.Note() && same(o) })
		}
		i = first
	}
	return i
}

// place links the scenario.
func place(e conformance.Entry, scenarios []*conformance.Scenario) string {
	if !slices.ContainsFunc(scenarios, func(s *conformance.Scenario) bool { return s.Name == e.Scenario }) {
		return e.Scenario
	}
	return fmt.Sprintf("[%s](../conformance/scenarios/%s.txt), block %d", e.Scenario, e.Scenario, e.Block)
}
