package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list [BEGINNING]",
		Short:   "List the scenarios that come with Muster",
		Long:    "List prints the scenarios that come with Muster, or those whose names begin so: what each shows, and the rules that it puts to the test. muster explain NAME tells all of one.",
		Example: "  muster list\n  muster list join-\n  muster explain join-starts-rebalance\n  muster run join-starts-rebalance --target 127.0.0.1:9092",
		Args:    takes(0, 1, "one BEGINNING of names, or nothing to list all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := conformance.Scenarios()
			if err != nil {
				return unavailable(err)
			}
			beginning, shown := strings.Join(args, ""), 0
			for _, s := range all {
				if !strings.HasPrefix(s.Name, beginning) {
					continue
				}
				shown++
				slow := ""
				if s.File.Slow != "" {
					slow = " (slow)"
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s%s\n  %s\n  rules: %s\n", s.Name, slow, s.About(), strings.Join(s.File.Rules, ", ")); err != nil {
					return unavailable(err)
				}
			}
			if shown == 0 {
				hint := ""
				if near := conformance.Nearest(beginning, scenarioNames(all)); near != "" {
					hint = fmt.Sprintf("; do you mean %s?", near)
				}
				return usage("no scenario has a name that begins with %q%s\nmuster list shows all", beginning, hint)
			}
			return nil
		},
	}
}
