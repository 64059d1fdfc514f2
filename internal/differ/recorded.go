package differ

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
)

// What the specification cannot explain may be written down: in a scenario that has both answers, or in a register of known differences.

// recorded finds a scenario about the rule at work that has both answers, of the same verb, each where it applies to that side's release:
// what the specification leaves out, or decides in one of several ways that are right, may be recorded all the same.
func (e *explainer) recorded() {
	for block, s := range e.blocks() {
		for _, a := range textsFor(block, e.relA) {
			for _, b := range textsFor(block, e.relB) {
				if !partsSo(a, b, e.c.A, e.c.B) {
					continue
				}
				rules := block.Rules
				if len(rules) == 0 {
					rules = s.File.Rules
				}
				if !e.silent && !slices.ContainsFunc(rules, func(id string) bool { return slices.Contains(e.cited, id) }) {
					continue
				}
				e.c.Known = fmt.Sprintf("recorded so in scenario %s, line %d (%s)", s.Name, block.Line, strings.Join(rules, " "))
				e.c.Rule, e.c.Rules = rules[0], rules
				return
			}
		}
	}
}

// textsFor are those that a release may give: the reference gives the contract of a quirk in place of its accident. Of a stranger only
// contracts count.
func textsFor(b *script.Block, release string) [][]script.Expect {
	var all [][]script.Expect
	switch release {
	case "":
	case conformance.Reference:
		all = append(all, b.For(newestRelease).Lines)
	default:
		return append(all, b.For(release).Lines)
	}
	for i := range b.Variants {
		if b.Variants[i].Contract != "" {
			all = append(all, b.Variants[i].Lines)
		}
	}
	return all
}

// partsSo reports whether two texts part somewhere as the two lines do.
func partsSo(a, b []script.Expect, lineA, lineB string) bool {
	for n := range min(len(a), len(b)) {
		switch {
		case a[n].Text == b[n].Text:
		case expects(a[n], lineA) && expects(b[n], lineB), parted(answer(a[n].Text), answer(b[n].Text)) == parted(answer(lineA), answer(lineB)):
			return true
		}
	}
	return false
}

// expects reports whether the line may be of somebody else, apart from whose it is.
func expects(e script.Expect, line string) bool {
	return e.Match(label(e.Text) + ": " + answer(line))
}

// blocks are those of the scenarios that come with Muster in which the verb of the difference is at work.
func (e *explainer) blocks() iter.Seq2[*script.Block, *conformance.Scenario] {
	word, _, late := strings.Cut(e.c.Verb, " ")
	word = strings.TrimSuffix(word, "-batch") // the request is the same
	return func(yield func(*script.Block, *conformance.Scenario) bool) {
		all, err := conformance.Scenarios()
		if err != nil {
			return
		}
		for _, s := range all {
			for _, b := range s.File.Blocks {
				if s.File.Profile != "" || !late && !slices.ContainsFunc(b.Commands, func(c script.Command) bool { return strings.TrimSuffix(c.Verb, "-batch") == word }) {
					continue
				}
				if !yield(b, s) {
					return
				}
			}
		}
	}
}

// registered finds the entries that have all the ways in which the two lines part.
func (e *explainer) registered(got, want string) []*conformance.Entry {
	if e.o.Known == nil {
		return nil
	}
	var found []*conformance.Entry
	for _, pair := range pairs(answer(got), answer(want)) {
		entry := e.entryOf(pair)
		if entry == nil {
			return nil
		}
		if !slices.Contains(found, entry) {
			found = append(found, entry)
		}
	}
	return found
}

// entryOf finds an entry about the same verb that parts in that way.
func (e *explainer) entryOf(pair string) *conformance.Entry {
	for block, s := range e.blocks() {
		for i := range e.o.Known.Entries {
			entry := &e.o.Known.Entries[i]
			if entry.Scenario != s.Name || entry.Block > len(s.File.Blocks) || s.File.Blocks[entry.Block-1] != block {
				continue
			}
			lines := block.For(script.BaseRelease).Texts()
			for n := range max(len(lines), len(entry.Text)) {
				g, w := lineAt(entry.Text, n), lineAt(lines, n)
				if g != w && slices.Contains(pairs(answer(g), answer(w)), pair) {
					return entry
				}
			}
		}
	}
	return nil
}

// newestRelease is the one that the reference counts as where a text has a condition.
const newestRelease = "4.4.0"
