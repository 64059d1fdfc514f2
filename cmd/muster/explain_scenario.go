package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/model/classic"
)

// scenarioCalled is the scenario of that name, or in that file.
func scenarioCalled(name string, all []*conformance.Scenario) (*conformance.Scenario, error) {
	for _, s := range all {
		if s.Name == strings.TrimSuffix(name, ".txt") {
			return s, nil
		}
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		loaded, err := conformance.Load(name)
		if err != nil {
			return nil, usage("%v", err)
		}
		return loaded[0], nil
	}
	return nil, neither(name, all)
}

// neither is the error about a name that no rule and no scenario has, with those that may be meant.
func neither(name string, all []*conformance.Scenario) error {
	var near []string
	if n := conformance.Nearest(name, ruleIDs()); n != "" {
		near = append(near, "the rule "+n)
	}
	if n := conformance.Nearest(strings.TrimSuffix(name, ".txt"), scenarioNames(all)); n != "" {
		near = append(near, "the scenario "+n)
	}
	hint := ""
	if len(near) > 0 {
		hint = fmt.Sprintf("; do you mean %s?", strings.Join(near, ", or "))
	}
	if n := beginning(name, all); n > 1 {
		hint = fmt.Sprintf("; %s begin so: muster list %s", counted(n, "scenario"), quoted(name))
	}
	return usage("no rule and no scenario is called %q, and no rule's id begins so%s\nmuster explain lists the rules, muster list the scenarios", name, hint)
}

func ruleIDs() []string {
	var ids []string
	for _, r := range classic.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// beginning counts the scenarios whose names begin so.
func beginning(name string, all []*conformance.Scenario) int {
	n := 0
	for _, s := range all {
		if strings.HasPrefix(s.Name, name) {
			n++
		}
	}
	return n
}

// explainScenario tells what a scenario shows, what it needs, where it was recorded and how it is run, and then its text.
func explainScenario(w io.Writer, s *conformance.Scenario) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n  rules:\n", s.Name, s.Prose())
	for _, id := range s.Cited() {
		if rule, ok := classic.FindRule(id); ok {
			fmt.Fprintf(&b, "    %s (%s): %s\n", id, rule.Rule().Class, rule.Rule().Sentence)
		}
	}
	for _, need := range s.Needs() {
		fmt.Fprintf(&b, "  needs: %s\n", need)
	}
	if s.File.Slow != "" {
		fmt.Fprintf(&b, "  runs only when asked for, on targets with real time: %s\n", s.File.Slow)
	}
	which := quoted(s.Path)
	if s.BuiltIn {
		which = s.Name
		recorded := s.Sources()
		fmt.Fprintf(&b, "  recorded from: %s\n", recorded[0])
		for _, other := range recorded[1:] {
			fmt.Fprintf(&b, "    with another text: %s\n", other)
		}
		fmt.Fprintf(&b, "  file: %s\n", path.Join("conformance", s.Path))
	}
	fmt.Fprintf(&b, "  run it: muster run %s --target TARGET\n\n", which)
	for line := range strings.Lines(string(script.Print(s.File))) {
		b.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
