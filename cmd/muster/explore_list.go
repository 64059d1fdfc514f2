package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/muster-kafka/muster/checker/runs"
)

// listRuns shows runs, set by set.
func listRuns(w io.Writer, all []runs.Run) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	set := ""
	for _, r := range all {
		if r.Set != set {
			if set != "" {
				fmt.Fprintln(t)
			}
			set = r.Set
			for _, s := range runs.Sets() {
				if s.Name == set {
					fmt.Fprintf(t, "%s: %s\n", s.Name, s.For)
				}
			}
			fmt.Fprintln(t, "  RUN\tMEMBERS\tSTATES\tTRANSITIONS\tABOUT\tMADE BY\tWHAT FOR")
		}
		states, transitions, about := "not known", "-", "-"
		if k, ok := r.Known(); ok {
			states, transitions, about = fmt.Sprint(k.States), fmt.Sprint(k.Transitions), roughly(r.About(2))
		}
		fmt.Fprintf(t, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Members, states, transitions, about, madeBy[r.When], r.For)
	}
	fmt.Fprintln(t, "\nABOUT is for two workers on a quiet machine. --run takes the name of a run or of a set.")
	return t.Flush()
}

// listJudged shows what runs judge; those that judge the same stand together.
func listJudged(w io.Writer, all []runs.Run) error {
	for len(all) > 0 {
		judged := all[0].Judged()
		n := slices.IndexFunc(all, func(r runs.Run) bool { return !slices.Equal(r.Judged(), judged) })
		if n < 0 {
			n = len(all)
		}
		var names []string
		for _, r := range all[:n] {
			names = append(names, r.Name)
		}
		if _, err := fmt.Fprintf(w, "\nJudged in %s:\n  %s\n", strings.Join(names, "; "), strings.Join(judged, "\n  ")); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

var madeBy = map[runs.When]string{runs.Verdict: "verify, test", runs.Test: "test", runs.Judges: "test-judges", runs.Night: "explore"}

func roughly(d time.Duration) string {
	if d < time.Second {
		return "1s"
	}
	return d.Round(time.Second).String()
}
