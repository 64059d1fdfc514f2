package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// anyNumber is how many arguments a command takes that takes several.
const anyNumber = -1

// takes says how many arguments a command takes, and what they are: cobra's own words count them only.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most == anyNumber || len(args) <= most) {
			return nil
		}
		given := "nothing was given"
		if len(args) > 0 {
			words := make([]string, len(args))
			for i, a := range args {
				words[i] = quoted(a)
			}
			given = "given was: " + strings.Join(words, " ")
		}
		example := ""
		if cmd.Example != "" {
			example = "\nfor example:\n" + cmd.Example
		}
		return fmt.Errorf("%s takes %s; %s%s", cmd.CommandPath(), what, given, example)
	}
}

// takesNothing is of a command that takes flags alone.
func takesNothing() cobra.PositionalArgs { return takes(0, 0, "no arguments") }
