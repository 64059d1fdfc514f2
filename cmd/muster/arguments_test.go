package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Whoever gives a command too much or too little is told what it takes, in no command by cobra's bare count, and with an example where one could help.
func TestArgumentsAreNamed(t *testing.T) {
	root := rootCommand()
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			each(sub)
		}
		if cmd == root {
			return
		}
		if cmd.Args == nil {
			t.Errorf("%s takes whatever it is given", cmd.CommandPath())
			return
		}
		refused := false
		for n := range 4 {
			err := cmd.Args(cmd, slices.Repeat([]string{"word"}, n))
			if err == nil {
				continue
			}
			refused = true
			example := cmd.Example
			if cmd.Name() == "check" && n == 0 { // it names the files that there are
				example = ""
			}
			if text := err.Error(); !strings.Contains(text, " takes ") || strings.Contains(text, "arg(s)") || !strings.Contains(text, example) {
				t.Errorf("%s with %d arguments: %s", cmd.CommandPath(), n, text)
			}
		}
		if !refused && cmd.Name() != "run" {
			t.Errorf("%s takes any number of arguments", cmd.CommandPath())
		}
	}
	each(root)
}
