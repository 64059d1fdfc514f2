package verdict

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/muster-kafka/muster/internal/input"
	"github.com/muster-kafka/muster/model/classic"
)

// KnownList is a user's list of failures that are known, one a line: judge, rule and scenario, "-" for no rule, "*" for any scenario.
type KnownList struct {
	name    string
	entries []knownEntry
}

type knownEntry struct {
	judge, rule, scenario string
	line                  int
}

// ReadKnown reads a list. A rule that does not exist is an error, and so is a scenario that is not one of those given; nil allows any.
func ReadKnown(path string, scenarios []string) (*KnownList, error) {
	f, err := input.Open(context.Background(), path, input.Text)
	if err != nil {
		return nil, fmt.Errorf("the list of known failures cannot be read: %w; --write-known %s makes one", err, path)
	}
	defer f.Close()
	list := &KnownList{name: path}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		switch len(fields) {
		case 0:
		case 3:
			e := knownEntry{judge: fields[0], rule: fields[1], scenario: fields[2], line: n}
			if err := e.check(scenarios); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			list.entries = append(list.entries, e)
		default:
			if strings.Contains(text, " block=") {
				return nil, fmt.Errorf("%s:%d: this is a register, which tells each text and is for a go test (conformance.LoadRegister); --known takes the list that --write-known writes, a line \"judge rule scenario\" each", path, n)
			}
			return nil, fmt.Errorf("%s:%d: %q is not a known failure; want judge, rule and scenario, as in \"scenarios join.new.rebalances join-starts-rebalance\"", path, n, strings.TrimSpace(text))
		}
	}
	return list, lines.Err()
}

// check finds names that can only be slips: an entry with one would never be told from one whose failure is gone.
func (e knownEntry) check(scenarios []string) error {
	if !slices.Contains([]Judge{Scenarios, Exploration, Random, Linearizability, Ownership}, Judge(e.judge)) {
		return fmt.Errorf("no judge is called %q; there are scenarios, random, exploration, linearizability and ownership", e.judge)
	}
	if _, ok := classic.FindRule(e.rule); !ok && e.rule != "-" && (Judge(e.judge) != Ownership || !strings.HasPrefix(e.rule, string(Ownership)+".")) {
		return fmt.Errorf("no rule is called %q; muster explain lists the rules, - stands for none", e.rule)
	}
	if scenarios != nil && e.scenario != "*" && !slices.Contains(scenarios, e.scenario) {
		return fmt.Errorf("no scenario is called %q; muster list shows them, * stands for any", e.scenario)
	}
	return nil
}

// WriteKnown writes the list of all failures of v, those known already included, and of what the list that was given holds besides that which is not gone.
func (v *Verdict) WriteKnown(w io.Writer) error {
	seen := map[knownEntry]bool{}
	var lines []string
	add := func(e knownEntry) {
		if e.line = 0; !seen[e] {
			seen[e] = true
			lines = append(lines, fmt.Sprintf("%s %s %s\n", e.judge, e.rule, e.scenario))
		}
	}
	for _, f := range append(append([]Finding(nil), v.Failures...), v.Known...) {
		add(entryOf(f))
	}
	for _, e := range v.unmet {
		add(e)
	}
	sort.Strings(lines)
	_, err := fmt.Fprintf(w, "# Failures of %s that are known: judge, rule, scenario.\n%s", v.Target, strings.Join(lines, ""))
	return err
}

// entryOf names a finding for the list. Only scenarios keep their names from run to run.
func entryOf(f Finding) knownEntry {
	e := knownEntry{judge: string(f.Judge), rule: f.Rule, scenario: "*"}
	if e.rule == "" {
		e.rule = "-"
	}
	if f.Judge == Scenarios && f.Scenario != "" {
		e.scenario = f.Scenario
	}
	return e
}

func (e knownEntry) matches(f Finding) bool {
	of := entryOf(f)
	return e.judge == of.judge && e.rule == of.rule && (e.scenario == "*" || e.scenario == of.scenario)
}

func (l *KnownList) holds(f Finding) bool {
	if l == nil {
		return false
	}
	for _, e := range l.entries {
		if e.matches(f) {
			return true
		}
	}
	return false
}

// gone warns of entries that the run did not see although it looked.
func (l *KnownList) gone(v *Verdict) []string {
	if l == nil {
		return nil
	}
	var warnings []string
	for _, e := range l.entries {
		if !v.looked(e) || anyMatches(e, v.findings) || v.wavers(e) {
			continue
		}
		what := "is gone; take it off the list"
		if e.byChance() {
			what = "was not met this time; as what is done is drawn anew in each run, it may be met in the next"
		}
		warnings = append(warnings, fmt.Sprintf("%s:%d: the known failure \"%s %s %s\" %s", l.name, e.line, e.judge, e.rule, e.scenario, what))
	}
	return warnings
}

// unmet are the entries of which the run has seen nothing and which are not gone: it did not look, or looked somewhere else.
func (l *KnownList) unmet(v *Verdict) (all []knownEntry) {
	if l == nil {
		return nil
	}
	for _, e := range l.entries {
		if !anyMatches(e, v.findings) && (e.byChance() || !v.looked(e)) {
			all = append(all, e)
		}
	}
	return all
}

// byChance says whether what the entry's judge does is drawn anew in each run, so that what one run finds another may not.
func (e knownEntry) byChance() bool {
	return slices.Contains([]Judge{Random, Linearizability, Ownership}, Judge(e.judge))
}

// wavers reports whether what the entry speaks of was seen once and then not: it is not gone.
func (v *Verdict) wavers(e knownEntry) bool {
	return slices.ContainsFunc(v.wavered, func(w wavering) bool { return e.matches(w.finding.described()) })
}

func anyMatches(e knownEntry, findings []Finding) bool {
	for _, f := range findings {
		if e.matches(f) {
			return true
		}
	}
	return false
}

// looked reports whether the run judged what the entry speaks of.
func (v *Verdict) looked(e knownEntry) bool {
	if !v.finished[Judge(e.judge)] {
		return false
	}
	for _, s := range append(slices.Clone(v.Skipped), v.Unjudged...) {
		if s.Scenario == e.scenario {
			return false
		}
	}
	return true
}
