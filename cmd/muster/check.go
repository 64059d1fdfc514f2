package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/internal/verdict"
)

func checkCommand() *cobra.Command {
	var limits linearize.Limits
	var report, asJSON string
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Judge a history of concurrent calls",
		Long: "Check judges a history: one that Muster saved, muster-out/history-SEED.jsonl of a whole run or history-SEED-GROUP.jsonl made small, or one that you have " +
			"recorded yourself in the form of docs/history.md. It writes nothing but the pages of --report and the file of --json. The exit code is that of verify.",
		Example: "  muster check muster-out/history-42.jsonl",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return noHistory(cmd)
			}
			return takes(1, 1, "the FILE of one history")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return check(cmd, args[0], report, asJSON, limits) },
	}
	cmd.Flags().DurationVar(&limits.Timeout, "timeout", 30*time.Second, "time for each group of a history, or for all of a log of ownership")
	cmd.Flags().StringVar(&report, "report", "", "write a page for each group that cannot be explained to this `folder`")
	cmd.Flags().StringVar(&asJSON, "json", "", "write the verdict as JSON to this `file` (docs/history.md)")
	return cmd
}

func check(cmd *cobra.Command, path, report, asJSON string, limits linearize.Limits) error {
	if err := notHistory(path); err != nil {
		return err
	}
	doc := newChecked(path)
	var outputs []output
	if asJSON != "" {
		outputs = append(outputs, output{"json", asJSON, doc.write})
	}
	if err := writable(outputs); err != nil {
		return err
	}
	var err error
	if ownership.IsFile(cmd.Context(), path) {
		err = checkOwnership(cmd, path, limits.Timeout, doc)
	} else {
		err = checkHistory(cmd, path, report, limits, doc)
	}
	doc.ended(err)
	failed := writeAll(outputs)
	if err == nil || failed == nil {
		return cmp.Or(err, unavailable(failed))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "muster: %v\n", failed)
	return err
}

func checkHistory(cmd *cobra.Command, path, report string, limits linearize.Limits, doc *checked) error {
	v, h, err := linearize.CheckFile(cmd.Context(), path, limits)
	if err != nil && cmd.Context().Err() != nil {
		return &codedError{verdict.ExitInconclusive, fmt.Errorf("%s: interrupted", path)}
	}
	doc.problems(v.Problems)
	if err != nil {
		told := ""
		for _, p := range v.Problems {
			told += fmt.Sprintf("\n  the record itself: %v", p)
		}
		return usage("%s cannot be judged: %v%s\na history is a .jsonl file in the form of docs/history.md, such as a run leaves in %s where linearizability failed", path, err, told, outDir)
	}
	doc.history(v, h)
	out := plain{cmd.OutOrStdout()}
	fmt.Fprintf(out, "%s: a history of %s, seed %d\n", path, h.Header.Target, h.Header.Seed)
	for _, g := range v.Groups {
		fmt.Fprintf(out, "  group %s: %s, at most %d at a time: %v", g.Group, counted(g.Calls, "call"), g.Overlap, g.Result)
		if g.Cleaned {
			fmt.Fprintf(out, ", if the target has removed it while it was Empty and had no offsets, as it does every %v", h.Header.Cleanup)
		}
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
		f, err := linearize.Explain(cmd.Context(), h, g.Group, linearize.Explaining{Limits: limits, Again: true, Out: report, Whole: path})
		if err != nil { // the verdict stands
			fmt.Fprintf(cmd.ErrOrStderr(), "muster: --report: %v; give a folder that can be written\n", err)
		}
		doc.explained(g.Group, f.Text, f.Page)
		if f.Page != "" {
			f.Text += "\nIts page: " + f.Page + "\n"
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

// noHistory says what check takes, where such files come from, and which there are.
func noHistory(cmd *cobra.Command) error {
	here := "there is none in " + outDir + " here"
	if found, _ := filepath.Glob(filepath.Join(outDir, "history-*.jsonl")); len(found) > 0 {
		here = "here there is:"
		for _, f := range found {
			here += "\n  muster check " + quoted(f)
		}
	}
	return usage("check takes the FILE of a history. A run of muster verify or muster campaign leaves one where the judge of linearizability finds a failure: "+
		"%s/history-SEED.jsonl has the whole run, history-SEED-GROUP.jsonl the calls that are enough; %s\nsee: %s --help", outDir, here, cmd.CommandPath())
}

// notHistory refuses the other files that runs leave, with the command that takes them.
func notHistory(path string) error {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "walk-") && strings.HasSuffix(name, ".txt"):
		seed := strings.TrimSuffix(strings.TrimPrefix(name, "walk-"), ".txt")
		return usage("%s is a random walk, not a history; it is made again by: muster verify impl --seed %s", path, seed)
	case strings.HasSuffix(name, ".txt"):
		scenario, _, _ := strings.Cut(name, ".")
		return usage("%s is no history but text to read; if it tells of a scenario, that is run again by: muster run %s --target TARGET", path, scenario)
	case strings.HasSuffix(name, ".html"):
		return usage("%s is a picture for a browser; judge the history beside it: muster check %s", path, strings.TrimSuffix(path, ".html")+".jsonl")
	}
	return nil
}
