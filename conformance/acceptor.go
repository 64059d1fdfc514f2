package conformance

import "github.com/muster-kafka/muster/conformance/target"

// Chooser is a target whose freedom is in the open: wherever the specification leaves a choice it asks. The runner tries every
// answer, so that such a target accepts a scenario's text or not; it has no text of its own to record.
//
// It must be deterministic: the same requests, the same clock and the same answers of choose give the same text.
type Chooser interface {
	target.Target

	// Reset forgets every group, connection and call, puts the clock back to its beginning, and from now on asks choose, which
	// returns a number in [0, n). It is not called with n < 2.
	Reset(choose func(n int) int)
}

// Told is implemented by a Chooser that wants to hear how its runs ended.
type Told interface {
	// Ended is called after each run: whether its whole text was the expected one.
	Ended(whole bool)
}

// Citing is a Chooser that says which rules decided what happened, by their ids.
type Citing interface {
	Cited() []string                    // since it was last asked
	Decided(call *target.Call) []string // how this call fared
}
