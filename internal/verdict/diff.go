package verdict

import "fmt"

// Diff is the judge that compares two targets on sequences drawn at random. Its findings are classes of differences; those whose reason is
// known are no failures.
const Diff Judge = "diff"

// DiffCounts is what muster diff did.
type DiffCounts struct {
	Sequences  int     `json:"sequences"`    // played on both targets
	Requests   int     `json:"requests"`     // of these
	PerSecond  float64 `json:"per_second"`   // sequences, while they were drawn
	Explained  int     `json:"explained"`    // classes whose reason is known
	Unknown    int     `json:"unexplained"`  // classes whose reason is not
	Unsteady   int     `json:"unsteady"`     // sequences that differed at first and did not when they were played again
	Choices    int     `json:"free_choices"` // sequences in which each target made another choice that it is free to make
	NotChecked int     `json:"not_checked"`  // sequences that differed, and there was no time to look at them
	Deaths     int     `json:"deaths"`       // how often a target's process ended by itself
	Lost       int     `json:"lost"`         // sequences that were at work when it did, which is why they do not count
}

// notPlayed says why muster diff has played nothing.
func (d *DiffCounts) notPlayed() string {
	if d.Deaths == 0 {
		return "no sequence was played to its end on both targets, so nothing is known; raise --budget"
	}
	return fmt.Sprintf("no sequence was played to its end on both targets, so nothing is known: a target ended by itself %s while %s at work; raise --budget",
		count(d.Deaths, "time", "times"), count(d.Lost, "sequence was", "sequences were"))
}

// lostMore says whether more was lost to deaths than was played: what is left does not speak for a target that ends by itself.
func (d *DiffCounts) lostMore() bool { return d.Deaths > 0 && d.Sequences > 0 && d.Lost > d.Sequences }

func (v *Verdict) diffRow() (howMuch, result string) {
	d := v.Diff
	howMuch = fmt.Sprintf("%s, %s, %.1f a second", count(d.Sequences, "sequence", "sequences"), count(d.Requests, "request", "requests"), d.PerSecond)
	result = fmt.Sprintf("%d unexplained, %d explained", d.Unknown, d.Explained)
	if d.Unsteady > 0 {
		result += fmt.Sprintf(" (%d unsteady)", d.Unsteady)
	}
	if !v.finished[Diff] {
		result += ", ended early"
	}
	return howMuch, result
}
