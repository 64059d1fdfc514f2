package verdict

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
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

// ReadKnown reads a list.
func ReadKnown(path string) (*KnownList, error) {
	f, err := os.Open(path)
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
			list.entries = append(list.entries, knownEntry{judge: fields[0], rule: fields[1], scenario: fields[2], line: n})
		default:
			return nil, fmt.Errorf("%s:%d: %q is not a known failure; want judge, rule and scenario, as in \"scenarios join.new.rebalances join-stable-new-member\"", path, n, strings.TrimSpace(text))
		}
	}
	return list, lines.Err()
}

// WriteKnown writes the list of all failures of v, those known already included.
func (v *Verdict) WriteKnown(w io.Writer) error {
	seen := map[knownEntry]bool{}
	var lines []string
	for _, f := range append(append([]Finding(nil), v.Failures...), v.Known...) {
		if e := entryOf(f); !seen[e] {
			seen[e] = true
			lines = append(lines, fmt.Sprintf("%s %s %s\n", e.judge, e.rule, e.scenario))
		}
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
		if v.looked(e) && !anyMatches(e, v.findings) {
			warnings = append(warnings, fmt.Sprintf("%s:%d: the known failure \"%s %s %s\" is gone; take it off the list", l.name, e.line, e.judge, e.rule, e.scenario))
		}
	}
	return warnings
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
	for _, s := range v.Skipped {
		if s.Scenario == e.scenario {
			return false
		}
	}
	return true
}
