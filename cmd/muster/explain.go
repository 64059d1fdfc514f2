package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/model/classic"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain [RULE]",
		Short:   "Tell what a rule says and what a client suffers where it is broken",
		Long:    "Explain prints one rule of the specification. With the beginning of an id it prints all rules that begin so, without one it lists all.",
		Example: "  muster explain join.new.member-id-required\n  muster explain sync",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unavailable(listRules(cmd.OutOrStdout()))
			}
			found := rulesLike(args[0])
			if len(found) == 0 {
				return usage("no rule is called %q, and none begins so; muster explain lists them all", args[0])
			}
			for i, r := range found {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := explainRule(cmd.OutOrStdout(), r); err != nil {
					return unavailable(err)
				}
			}
			return nil
		},
	}
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
	_, err := fmt.Fprintf(w, "%s\n  %s\n  class: %s (%s)\n  where it is broken: %s\n  seen in Kafka: %s\n  source: fact sheet %s\n",
		r.ID, r.Sentence, r.Class, classMeans[r.Class], r.Suffers, r.Releases, r.Source)
	return err
}
