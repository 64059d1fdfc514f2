package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/internal/verdict"
)

func checkCommand() *cobra.Command {
	var limits linearize.Limits
	cmd := &cobra.Command{
		Use:     "check FILE",
		Short:   "Judge a saved history again",
		Long:    "Check judges a history that Muster saved when it found a failure. The exit code is that of verify.",
		Example: "  muster check muster-out/history-42.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return check(cmd, args[0], limits) },
	}
	cmd.Flags().DurationVar(&limits.Timeout, "timeout", 30*time.Second, "time for each group of the history")
	return cmd
}

func check(cmd *cobra.Command, path string, limits linearize.Limits) error {
	v, h, err := linearize.CheckFile(cmd.Context(), path, limits)
	if err != nil {
		return usage("%s cannot be judged: %v\na history is a .jsonl file that a failed run left in %s", path, err, outDir)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: a history of %s, seed %d\n", path, h.Header.Target, h.Header.Seed)
	for _, g := range v.Groups {
		fmt.Fprintf(out, "  group %s: %d calls, at most %d at a time: %v", g.Group, g.Calls, g.Overlap, g.Result)
		if g.Reason != "" {
			fmt.Fprintf(out, " (%s)", g.Reason)
		}
		fmt.Fprintln(out)
	}
	for _, p := range v.Problems {
		fmt.Fprintf(out, "  the record itself: %v\n", p)
	}
	for _, g := range v.Groups {
		if g.Result != linearize.Illegal {
			continue
		}
		f, err := linearize.Explain(cmd.Context(), h, g.Group, linearize.Options{Limits: limits, Out: outDir})
		if err != nil {
			return unavailable(err)
		}
		if _, err := fmt.Fprintf(out, "\n%s\n", f.Text); err != nil {
			return unavailable(err)
		}
	}
	switch v.Result {
	case linearize.Legal:
		_, err := fmt.Fprintln(out, "legal: the specification explains all of it")
		return unavailable(err)
	case linearize.Illegal:
		return &codedError{code: verdict.ExitFail}
	default:
		return &codedError{verdict.ExitInconclusive, fmt.Errorf("%s: not decided: %s", path, v.Reason)}
	}
}
