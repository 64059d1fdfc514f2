package conformance

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/model/classic"
)

// A block that names its rules is told by them. What another one is about only the specification knows: a scenario's rules are those that it is written
// for, and the step that differs may be one on the way.

// subjects remembers what failures are about, since a scenario that fails is run again. One scenario is looked at at a time: whoever plays others
// meanwhile must not wait for a processor.
type subjects struct {
	mu      sync.Mutex
	decided map[string][]decision
	told    map[string][]string
}

func newSubjects() *subjects {
	return &subjects{decided: map[string][]decision{}, told: map[string][]string{}}
}

// of are the rules that a failure is told by, the most telling first.
func (m *subjects) of(ctx context.Context, s *Scenario, release string, f *Failure, expected *script.Variant) []string {
	block := f.Block - 1
	if own := s.File.Blocks[block].Rules; len(own) > 0 {
		return own
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	place := fmt.Sprintf("%s %s %p", release, s.Name, s.File)
	decided, ok := m.decided[place]
	if !ok {
		decided = s.decisions(ctx, release)
		m.decided[place] = decided
	}
	if block >= len(decided) {
		return s.File.Rules
	}
	key := place + " " + f.got()
	rules, ok := m.told[key]
	if !ok {
		e := evidence{file: s.File.Rules, decided: decided[:block+1], expected: expected.Texts(), got: f.Got, at: expected.Diff(f.Got)}
		if rules = e.broken(func(rule string) bool { return s.givesWithout(ctx, release, rule, block, f.Got) }); len(rules) == 0 {
			rules = e.likely()
		}
		m.told[key] = rules
	}
	return rules
}

// ending is the scenario up to a block that expects the given text.
func (s *Scenario) ending(block int, text []string) *Scenario {
	f, last := *s.File, *s.File.Blocks[block]
	v := script.Variant{}
	for _, l := range text {
		v.Lines = append(v.Lines, script.NewExpect(l))
	}
	last.Variants = []script.Variant{v}
	f.Blocks = append(slices.Clone(f.Blocks[:block]), &last)
	c := *s
	c.File = &f
	return &c
}

// evidence is what there is to tell the rule by that a text breaks.
type evidence struct {
	file          []string   // the rules of the scenario
	decided       []decision // of the blocks up to the one that differs
	expected, got []string
	at            int // the line that differs
}

// broken are the rules that have been at work and whose breaking alone gives just the text that came. The scenario's own come first, then those that decided
// the line. What a quirk explains is held against nobody as more; of the others the strictest count, since all of them are broken.
func (e *evidence) broken(explains func(rule string) bool) []string {
	line, last := e.line().rules, e.decided[len(e.decided)-1].all
	var before []string
	for _, d := range e.decided {
		before = union(before, d.all)
	}
	tiers := [][]string{e.file, line, last, before}
	if e.shows(e.line().verb) { // what shows was decided before
		tiers = [][]string{e.file, before}
	}
	for i, rules := range tiers {
		found := slices.DeleteFunc(slices.Clone(rules), func(r string) bool { return !explains(r) })
		switch quirks := ofClass(found, classic.Quirk.String()); {
		case len(found) == 0:
			continue
		case i == 0:
			return found
		case len(quirks) > 0:
			return quirks
		}
		return strictest(found)
	}
	return nil
}

// likely are the rules that the failing line is about where no single one explains it.
func (e *evidence) likely() []string {
	line, block := e.line(), e.decided[len(e.decided)-1].all
	own := both(e.file, line.rules)
	switch carried := e.carried(line); {
	case e.unanswered() && len(line.rules) > 0: // somebody waits for it
		waits := func(id string) bool { return strings.HasSuffix(id, ".parks") }
		return told(slices.DeleteFunc(union(own, line.rules), waits), line.verb)
	case len(carried) > 0:
		return carried
	case len(own) > 0 && classOf(own[0]) == classic.Quirk.String(): // its own breaking would have explained it
		return strictest(own)
	case len(own) > 0:
		return own
	case e.shows(line.verb):
		return e.file // what shows was decided before
	case line.verb == "": // the runner's own word, as of form
		own = about(block, e.formed())
	case len(line.rules) > 0:
		own = told(line.rules, line.verb)
	default:
		own = both(e.file, block)
	}
	if len(own) == 0 {
		return e.file
	}
	return strictest(own)
}

// carried are the rules about what an answer carries, where the two say the same in other words.
func (e *evidence) carried(line decidedLine) []string {
	want, got := e.answers()
	first, _, _ := strings.Cut(want, " ")
	same := strings.HasPrefix(got, first+" ") || got == first
	switch {
	case line.verb == "join" && same && first != "NONE":
		return both([]string{classic.JoinReplyError.Rule().ID}, line.rules)
	case line.verb == "join" && same:
		return both([]string{ofField(want, got)}, union(e.file, line.rules))
	case line.verb == "fetch" && same && strings.Contains(want, "=none") && sameOffsets(want) == sameOffsets(got):
		return []string{classic.FetchNothing.Rule().ID}
	}
	return nil
}

// ofField is the rule about the first field in which two generations differ that JoinGroup tells of.
func ofField(want, got string) string {
	for _, f := range []struct {
		key  string
		rule classic.RuleID
	}{
		{"gen=", classic.JoinCompleteGeneration},
		{"leader=", classic.JoinCompleteLeader},
		{"protocol=", classic.JoinCompleteVote},
		{"members=", classic.JoinReplyLeader},
	} {
		_, w, _ := strings.Cut(want, f.key)
		_, g, _ := strings.Cut(got, f.key)
		w, _, _ = strings.Cut(w, " ")
		if g, _, _ = strings.Cut(g, " "); w != g {
			return f.rule.Rule().ID
		}
	}
	return ""
}

// sameOffsets is the answer to a fetch with one word for what is not there, and without the offsets of errors.
func sameOffsets(answer string) string { return nothing.ReplaceAllString(answer, "$1$2") }

var nothing = regexp.MustCompile(`(=)(?:none|-1:\S+)|(=[A-Z_]+):-1:\S+`)

// line is the one that differs.
func (e *evidence) line() decidedLine {
	if lines := e.decided[len(e.decided)-1].lines; e.at < len(lines) {
		return lines[e.at]
	}
	return decidedLine{}
}

// answers are the line's two answers, without whose they are.
func (e *evidence) answers() (want, got string) {
	_, want, _ = strings.Cut(lineOr(e.expected, e.at), ": ")
	_, got, _ = strings.Cut(lineOr(e.got, e.at), ": ")
	return want, got
}

// shows reports whether the line differs in what has come of earlier requests, and not in how it is said.
func (e *evidence) shows(verb string) bool {
	want, got := e.answers()
	w, g := strings.Fields(want), strings.Fields(got)
	switch verb {
	case "describe":
		return state(w) != state(g) || !sameNames(entryNames(want, "members=["), entryNames(got, "members=["))
	case "list":
		return !sameNames(entryNames(want, "["), entryNames(got, "["))
	case "fetch":
		return len(w) > 0 && len(g) > 0 && w[0] == g[0]
	}
	return false
}

// unanswered reports whether the text promises an answer and none came.
func (e *evidence) unanswered() bool {
	none := []string{"parked", closedText, unreadableText}
	want, got := e.answers()
	return slices.Contains(none, got) && !slices.Contains(none, want)
}

// formed is the verb of the request that form has not come past; the generation that it comes to is a matter of join.
func (e *evidence) formed() string {
	if _, got := e.answers(); strings.Contains(got, "(sync): ") {
		return "sync"
	}
	return "join"
}

// prefixOf begins the ids of the rules about the requests of a verb.
func prefixOf(verb string) string { return strings.TrimSuffix(verb, "-batch") + "." }

// about are the rules about the requests of a verb.
func about(rules []string, verb string) []string {
	return slices.DeleteFunc(slices.Clone(rules), func(id string) bool { return !strings.HasPrefix(id, prefixOf(verb)) })
}

// told are the rules of a decision that a difference in it is best told by: what differs breaks all that was decided, and so the strictest of it. Of these the
// verb's own come first.
func told(rules []string, verb string) []string {
	all := strictest(rules)
	return union(about(all, verb), all)
}

// strictest are the rules of the strictest class among them, each once, in their order.
func strictest(rules []string) []string {
	for _, c := range []classic.Class{classic.Contract, classic.Compat, classic.Quirk} {
		if found := ofClass(rules, c.String()); len(found) > 0 {
			return found
		}
	}
	return nil
}

func ofClass(rules []string, of string) []string {
	return union(nil, slices.DeleteFunc(slices.Clone(rules), func(id string) bool { return classOf(id) != of }))
}

func classOf(id string) string { return class([]string{id}) }

// both are those of the first list that are in the second, too.
func both(first, second []string) []string {
	return slices.DeleteFunc(slices.Clone(first), func(id string) bool { return !slices.Contains(second, id) })
}
