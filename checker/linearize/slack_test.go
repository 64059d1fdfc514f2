package linearize

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
)

// pauses are faults from one millisecond to another, in pairs.
func pauses(at ...int64) (all []history.Fault) {
	for i := 0; i < len(at); i += 2 {
		all = append(all, history.Fault{Kind: history.Pause, At: at[i], Until: at[i+1]})
	}
	return all
}

// TestSlack asks how late what is due at an instant may be, where the target stood still before, at that time, and after.
func TestSlack(t *testing.T) {
	for _, test := range []struct {
		faults  []history.Fault
		t, want int64
	}{
		{nil, 100, 110},
		{pauses(50, 90), 100, 110},            // before
		{pauses(50, 100), 100, 110},           // until then
		{pauses(105, 200), 100, 205},          // shortly after: half of the slack is left then
		{pauses(110, 200), 100, 110},          // at its end
		{pauses(111, 200), 100, 110},          // after it
		{pauses(90, 200), 100, 210},           // at that time
		{pauses(90, 150, 120, 200), 100, 210}, // twice at a time
		{pauses(90, 200, 205, 300), 100, 305}, // and again, before the rest is used up
		{pauses(90, 200, 210, 300), 100, 210}, // at its end
		{pauses(90, 200, 211, 300), 100, 210}, // after
		{pauses(90, 200, 100, 120), 100, 210}, // one within the other
		{[]history.Fault{{Kind: history.Delay, At: 90, Until: 200}}, 100, 110},
	} {
		s := newSlack(10*time.Nanosecond, test.faults)
		if got := s.after(test.t); got != test.want {
			t.Errorf("what is due at %d may happen until %d, want %d, with %v", test.t, got, test.want, s.still)
		}
	}
}

// TestSlackBackwards holds that before and after belong together: what was due by then may happen as late as that, and nothing that was due later must
// have happened.
func TestSlackBackwards(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		var at []int64
		now := int64(0)
		for range r.IntN(4) {
			now += r.Int64N(40)
			at = append(at, now, now+1+r.Int64N(40))
			now = at[len(at)-1] + 1
		}
		s := newSlack(time.Duration(r.Int64N(30)), pauses(at...))
		for end := range int64(200) {
			due := s.before(end)
			if s.after(due) > end {
				t.Fatalf("before(%d) is %d, but what is due then may happen until %d; slack %d, %v", end, due, s.after(due), s.fixed, s.still)
			}
			for later := due + 1; later <= end; later++ {
				if s.after(later) < end {
					t.Fatalf("before(%d) is %d, but what is due at %d has happened by %d; slack %d, %v", end, due, later, s.after(later), s.fixed, s.still)
				}
			}
		}
	}
}
