package verdict

import (
	"fmt"
	"io"
	"strings"
)

// explorationRows tells the runs of an exploration that was asked for by itself.
func (v *Verdict) explorationRows(w io.Writer) {
	fmt.Fprintf(w, "RUN\tSTATES\tTRANSITIONS\tDEPTH\tSECONDS\tRESULT\n")
	for _, r := range v.Exploration.Runs {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.1f\t%s\n", r.Name, r.States, r.Transitions, r.Depth, r.DurationS, r.result())
	}
}

func (r ExplorationRun) result() string {
	var parts []string
	if !r.Complete {
		parts = append(parts, fmt.Sprintf("not complete, frontier %d", r.Frontier))
	}
	if r.Broken > 0 {
		parts = append(parts, fmt.Sprintf("%d broken", r.Broken))
	}
	if r.Missing > 0 {
		parts = append(parts, "vacuous")
	}
	if r.Surprise {
		parts = append(parts, "another size")
	}
	if len(parts) == 0 {
		return "holds"
	}
	return strings.Join(parts, ", ")
}
