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
}

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
