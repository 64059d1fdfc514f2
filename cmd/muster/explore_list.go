package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/muster-kafka/muster/checker/runs"
)

// listRuns shows the catalogue, set by set.
func listRuns(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	set := ""
	for _, r := range runs.All() {
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

var madeBy = map[runs.When]string{runs.Verdict: "verify, test", runs.Test: "test", runs.Night: "explore"}

func roughly(d time.Duration) string {
	if d < time.Second {
		return "1s"
	}
	return d.Round(time.Second).String()
}
