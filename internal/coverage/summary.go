package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/model/classic"
)

// Numbers are what a release's cells amount to.
type Numbers struct {
	Explored, Gates     int // cells that exploration reaches, and those of the table of gates
	InScenarios, Broker int // of all of them: visited by scenarios, witnessed on a broker
	Exempt              int // not witnessed, with a reason
}

// Cells is how many there are.
func (n Numbers) Cells() int { return n.Explored + n.Gates }

// Numbers counts the cells of a release whose rules the filter lets pass; nil lets all.
func (t *Table) Numbers(release string, filter func(classic.RuleID) bool) (n Numbers) {
	for _, r := range t.Of(release) {
		if filter != nil && !filter(r.Rule) {
			continue
		}
		switch {
		case r.Reached > 0:
			n.Explored++
		case r.Gate:
			n.Gates++
		default:
			continue
		}
		if len(r.Scenarios) > 0 {
			n.InScenarios++
		}
		if r.Witness != "" {
			n.Broker++
		} else {
			n.Exempt++
		}
	}
	return n
}

// Witnessed is the compact list of all cells that a broker has been seen in: a line for each rule, and one for each release where they
// differ. It is kept, so that a cell that is lost is noticed.
func (t *Table) Witnessed() string {
	var b strings.Builder
	b.WriteString("# Cells that a broker has been seen in, by rule; a release stands before a line that is its alone. Written by\n# go test ./internal/coverage -update\n")
	for _, rule := range classic.Rules() {
		id, _ := classic.FindRule(rule.ID)
		lines := map[string]string{}
		for _, release := range Releases {
			lines[release] = t.witnessedOf(release, id)
		}
		if same := lines[Releases[0]]; same != "" && !slices.ContainsFunc(Releases, func(r string) bool { return lines[r] != same }) {
			fmt.Fprintf(&b, "%s %s\n", rule.ID, same)
			continue
		}
		for _, release := range Releases {
			if lines[release] != "" {
				fmt.Fprintf(&b, "%s %s %s\n", release, rule.ID, lines[release])
			}
		}
	}
	return b.String()
}

func (t *Table) witnessedOf(release string, rule classic.RuleID) string {
	var words []string
	for state := range states {
		var outs []string
		for _, r := range t.Of(release) {
			if r.Rule == rule && r.State == state && r.Witness != "" {
				outs = append(outs, r.Outcome.String())
			}
		}
		if len(outs) > 0 {
			words = append(words, state.String()+":"+strings.Join(outs, ","))
		}
	}
	return strings.Join(words, " ")
}

// Lost lists the cells of an earlier list that are not witnessed any more.
func (t *Table) Lost(kept string) (lost []string, err error) {
	for n, line := range strings.Split(kept, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		releases := Releases
		if slices.Contains(Releases, words[0]) {
			releases, words = words[:1], words[1:]
		}
		for _, word := range words[1:] {
			state, outs, _ := strings.Cut(word, ":")
			for out := range strings.SplitSeq(outs, ",") {
				c, err := ParseCell(words[0] + " " + state + " " + out)
				if err != nil {
					return nil, fmt.Errorf("witnessed.txt:%d: %w", n+1, err)
				}
				for _, release := range releases {
					if r := t.Find(release, c); r == nil || r.Witness == "" {
						lost = append(lost, fmt.Sprintf("%s: %s was witnessed and is not any more", release, c))
					}
				}
			}
		}
	}
	return lost, nil
}
