package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/internal/nearest"
	"github.com/muster-kafka/muster/model/classic"
)

// profileNames are the broker settings that "# profile:" may ask for; docs/scenarios.md says what they are. A target that has not those of a
// scenario skips it.
var profileNames = slices.Sorted(maps.Keys(profileMeans))

// ownFile is where the scenario was read, empty for one that comes with Muster.
func (s *Scenario) ownFile() string {
	if s.BuiltIn {
		return ""
	}
	return s.Path
}

// Prose is what the scenario says of itself: what it shows, and why that matters to somebody.
func (s *Scenario) Prose() string {
	var prose []string
	for _, l := range s.File.Header {
		if l = strings.TrimSpace(strings.TrimPrefix(l, "#")); l == "" || isField(l) {
			break
		}
		prose = append(prose, l)
	}
	return strings.Join(prose, " ")
}

// About is the first sentence of the scenario's prose: what it shows.
func (s *Scenario) About() string {
	text := s.Prose()
	if first, _, more := strings.Cut(text, ". "); more {
		return first + "."
	}
	return text
}

func isField(line string) bool {
	key, _, ok := strings.Cut(line, ":")
	return ok && slices.Contains([]string{"rule", "profile", "slow", "requires"}, key)
}

// Cited are the rules that the scenario is about, then those of its blocks.
func (s *Scenario) Cited() []string {
	cited := slices.Clone(s.File.Rules)
	for _, b := range s.File.Blocks {
		for _, id := range b.Rules {
			if !slices.Contains(cited, id) {
				cited = append(cited, id)
			}
		}
	}
	return cited
}

// Sources say where the scenario's texts come from: the release of the first one of each block, then the conditions and reasons of the
// others.
func (s *Scenario) Sources() []string {
	told := []string{"Kafka " + script.BaseRelease}
	for _, b := range s.File.Blocks {
		for i := range b.Variants {
			v := &b.Variants[i]
			if title := strings.TrimSpace(v.Title() + " " + v.Reason); title != "" && !slices.Contains(told, title) {
				told = append(told, title)
			}
		}
	}
	return told
}

// Cites reports whether the scenario, or a block of it, is about the rule.
func (s *Scenario) Cites(rule string) bool {
	return slices.Contains(s.Cited(), rule)
}

// checkFields looks at the rules and the profile that comment lines name: a slip in a rule's id would change the class of a failure.
func checkFields(file string, src []byte) error {
	for i, l := range strings.Split(string(src), "\n") {
		l = strings.TrimRight(l, " \t\r")
		if ids, ok := strings.CutPrefix(l, "# rule:"); ok {
			for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' || r == ' ' }) {
				if err := checkRule(file, i+1, id); err != nil {
					return err
				}
			}
		}
		if name, ok := strings.CutPrefix(l, "# profile:"); ok && !slices.Contains(profileNames, strings.TrimSpace(name)) {
			return &script.Error{File: file, Line: i + 1, What: fmt.Sprintf("no broker profile %q; there are: %s", strings.TrimSpace(name), strings.Join(profileNames, " "))}
		}
	}
	return nil
}

// checkRules looks at the rules that expected texts name.
func (s *Scenario) checkRules() error {
	for _, b := range s.File.Blocks {
		for _, v := range b.Variants {
			for _, id := range []string{v.Contract, v.Rule} {
				if id == "" {
					continue
				}
				if err := checkRule(s.File.Name, v.Line, id); err != nil {
					return err
				}
			}
			for n, l := range v.Lines {
				if l.Free == "" {
					continue
				}
				if err := checkRule(s.File.Name, v.Line+1+n, l.Free); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func checkRule(file string, line int, id string) error {
	if _, ok := classic.FindRule(id); ok {
		return nil
	}
	what := fmt.Sprintf("no rule %q", id)
	var ids []string
	for _, r := range classic.Rules() {
		ids = append(ids, r.ID)
	}
	if near := Nearest(id, ids); near != "" {
		what += fmt.Sprintf("; do you mean %s?", near)
	}
	return &script.Error{File: file, Line: line, What: what + " (muster explain lists the rules)"}
}

// Nearest is the name that is most like the given one, by its letters or by the words that it is made of; empty where none is like it.
func Nearest(given string, names []string) string { return nearest.To(given, names) }
