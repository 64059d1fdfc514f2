package verdict

import (
	"cmp"
	"slices"
	"strings"
)

// Unsteady is a scenario that failed at first, and passed when it was run again with more time for everything.
type Unsteady struct {
	Scenario string `json:"scenario"`
	Text     string `json:"text"`    // what came at first
	Stalled  bool   `json:"stalled"` // Muster's own machine was too busy meanwhile, which may be why
	Counts   bool   `json:"counts"`  // it is among the failures
}

// Wavered notes a scenario that failed at first, as the finding says, and passed when it was run again. It counts where somebody is answerable
// for the target and the machine that it runs on: those who started it, or ask for no leniency (Close with strict). Of a stranger it leaves the verdict
// open: the target is wrong now and then, or was busy, and only who runs it can tell. Where this machine was too busy it is a warning.
func (v *Verdict) Wavered(f Finding, stalled bool) {
	v.wavered = append(v.wavered, wavering{f, stalled})
}

// Own says that the target was started for this run, so that nothing but itself makes it unsteady.
func (v *Verdict) Own() { v.own = true }

type wavering struct {
	finding Finding
	stalled bool
}

// settleUnsteady turns what wavered into findings, reasons or warnings.
func (v *Verdict) settleUnsteady(strict bool, known *KnownList) {
	slices.SortStableFunc(v.wavered, func(a, b wavering) int { return cmp.Compare(a.finding.Scenario, b.finding.Scenario) })
	for _, w := range v.wavered {
		f := w.finding
		counts := (v.own || strict) && !w.stalled
		v.Unsteady = append(v.Unsteady, Unsteady{Scenario: f.Scenario, Text: f.Text, Stalled: w.stalled, Counts: counts})
		switch {
		case counts:
			f.Unsteady = true
			v.Find(f)
		case w.stalled:
			v.Warn("scenario %s failed at first and passed when it was run again with more time; Muster's own machine was too busy meanwhile. "+
				"On a quieter machine: %s\nat first:\n%s", f.Scenario, f.Replay, differing(f.Text))
		case known.holds(f.described()):
			v.Warn("scenario %s failed at first and passed when it was run again with more time, as --known has it. To see it: %s\nat first:\n%s", f.Scenario, f.Replay, differing(f.Text))
		default:
			v.CannotTell("scenario %s failed at first and passed when it was run again with more time, and Muster's own machine kept up: "+
				"the target is wrong now and then, or it was busy.\n"+
				"Run it a few times while nobody else uses the target: %s\n"+
				"If it fails so again, the target is wrong; with --strict once is enough to be a failure. At first:\n%s", f.Scenario, f.Replay, differing(f.Text))
		}
	}
}

// inOrder puts what scenarios handed in as they ended into the order of their names.
func (v *Verdict) inOrder() {
	byName := func(aj, bj Judge, a, b string) int {
		if aj != Scenarios || bj != Scenarios {
			return cmp.Compare(rank(aj), rank(bj))
		}
		return cmp.Compare(a, b)
	}
	slices.SortStableFunc(v.cases, func(a, b Case) int { return byName(a.Judge, b.Judge, a.Name, b.Name) })
	slices.SortStableFunc(v.findings, func(a, b Finding) int { return byName(a.Judge, b.Judge, a.Scenario, b.Scenario) })
	slices.SortStableFunc(v.Skipped, func(a, b Skip) int { return cmp.Compare(a.Scenario, b.Scenario) })
}

// rank is a judge's place in the table.
func rank(j Judge) int {
	return slices.Index([]Judge{Scenarios, Random, Exploration, Linearizability, Ownership}, j)
}

// unsteadyText says of a finding that it did not show each time.
const unsteadyText = "failed so at first, and passed when it was run again with more time"

// differing are the lines of a text in which expected and got differ, all of it where none is marked so.
func differing(text string) string {
	var marked []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "+ ") {
			marked = append(marked, line)
		}
	}
	if len(marked) == 0 {
		return text
	}
	return strings.Join(marked, "")
}
