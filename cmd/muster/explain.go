package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE|SCENARIO]",
		Short: "Tell what a rule says and what a client suffers where it is broken, or what a scenario shows",
		Long: "Explain prints one rule of the specification, or one scenario: what it shows, its rules, where it was recorded, how to run it, and its text. " +
			"With the beginning of a rule's id it prints all rules that begin so, without anything it lists the rules; muster list lists the scenarios.",
		Example: "  muster explain join.new.member-id-required\n  muster explain sync\n  muster explain join-parked-removed",
		Args:    takes(0, 1, "one RULE or SCENARIO, or nothing to list the rules"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unavailable(listRules(cmd.OutOrStdout()))
			}
			return explain(cmd.OutOrStdout(), args[0])
		},
	}
}

// explain tells of what has the name: a rule, a scenario, or all rules that begin so.
func explain(w io.Writer, name string) error {
	all, err := conformance.Scenarios()
	if err != nil {
		return unavailable(err)
	}
	found := rulesLike(name)
	if strings.HasPrefix(name, "doctor.") {
		return usage("%s is a finding of muster doctor: docs/doctor.md explains each of them", name)
	}
	if len(found) == 0 && strings.HasPrefix(name, string(verdict.Ownership)) {
		return explainOwnership(w, name)
	}
	if len(found) == 0 {
		scenario, err := scenarioCalled(name, all)
		if err != nil {
			return err
		}
		return unavailable(explainScenario(w, scenario))
	}
	for i, r := range found {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := explainRule(w, r); err != nil {
			return unavailable(err)
		}
	}
	return nil
}

// rulesLike is the rule with that id, or all whose ids begin so.
func rulesLike(id string) []classic.Rule {
	if exact, ok := classic.FindRule(id); ok {
		return []classic.Rule{exact.Rule()}
	}
	var found []classic.Rule
	for _, r := range classic.Rules() {
		if strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	return found
}

func listRules(w io.Writer) error {
	for _, r := range classic.Rules() {
		if _, err := fmt.Fprintf(w, "%-32s %-9s %s\n", r.ID, r.Class, r.Sentence); err != nil {
			return err
		}
	}
	return nil
}

var classMeans = map[classic.Class]string{
	classic.Contract: "breaking it loses data, hangs a member, splits the group or sends a client the wrong way; always a violation",
	classic.Compat:   "every release answers so and a client may rely on it; a difference, and a failure under --strict",
	classic.Quirk:    "an accident of some releases that harms no client; never demanded of others",
}

func explainRule(w io.Writer, r classic.Rule) error {
	_, err := fmt.Fprintf(w, "%s\n  %s\n  class: %s (%s)\n  where it is broken: %s\n  seen in Kafka: %s\n%s",
		r.ID, r.Sentence, r.Class, classMeans[r.Class], r.Suffers, r.Releases, proof(r.ID))
	return err
}

// issues are the tickets and proposals of Kafka that have to do with the rule: of its known defects, and of texts in which releases differ.
func issues(rule string, about []*conformance.Scenario) []string {
	var all []string
	note := func(text string) { all = append(all, issue.FindAllString(text, -1)...) }
	for _, d := range classic.Defects() {
		if d.Rule.String() == rule {
			note(d.Issue)
		}
	}
	for _, s := range about {
		for _, b := range s.File.Blocks {
			is := b.Rules
			if len(is) == 0 {
				is = s.File.Rules[:1]
			}
			for _, v := range b.Variants {
				if v.Rule == rule || v.Rule == "" && slices.Contains(is, rule) {
					note(v.Reason)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var issue = regexp.MustCompile(`(KAFKA|KIP)-[0-9]+`)

// proof names the scenarios whose text shows the rule as recorded from real Kafka, and how to run one.
func proof(rule string) string {
	all, err := conformance.Scenarios()
	if err != nil {
		return ""
	}
	var names []string
	var about []*conformance.Scenario
	for _, s := range all {
		if s.Cites(rule) {
			names, about = append(names, s.Name), append(about, s)
		}
	}
	if len(names) == 0 {
		return "  no scenario puts it to the test\n"
	}
	told := ""
	if found := issues(rule, about); len(found) > 0 {
		told = "  in Kafka's tracker: " + strings.Join(found, ", ") + "\n"
	}
	return told + fmt.Sprintf("  recorded from Kafka %s in: %s\n  put it to the test: muster run %s --target TARGET\n", script.BaseRelease, strings.Join(names, ", "), strings.Join(names, " "))
}
