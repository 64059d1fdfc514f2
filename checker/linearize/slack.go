package linearize

import (
	"slices"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
)

// slack is how late a request may be taken up, a timer fire, and an answer arrive: by a fixed time, in which what stood still does not count.
// So only what was due at the time of a pause, or shortly before, may be later for it.
type slack struct {
	fixed int64
	still []observe.Window // when the target stood still, by instant, apart from each other
}

func newSlack(fixed time.Duration, faults []history.Fault) slack {
	s := slack{fixed: int64(fixed)}
	for _, f := range faults { // they come by their beginnings
		if f.Kind != history.Pause && f.Kind != history.AppendHangs { // while appends hang answers wait, and timers of no length
			continue
		}
		w := observe.Window{Earliest: f.At, Latest: f.End()}
		if n := len(s.still); n > 0 && w.Earliest <= s.still[n-1].Latest {
			s.still[n-1].Latest = max(s.still[n-1].Latest, w.Latest)
		} else {
			s.still = append(s.still, w)
		}
	}
	return s
}

// after is the last instant at which what is due at t may happen.
func (s *slack) after(t int64) int64 {
	rest := s.fixed
	first, _ := slices.BinarySearchFunc(s.still, t, func(w observe.Window, t int64) int {
		if w.Latest <= t {
			return -1
		}
		return 1
	})
	for _, w := range s.still[first:] {
		if w.Earliest >= t+rest {
			break
		}
		rest -= max(0, w.Earliest-t)
		t = w.Latest
	}
	return t + rest
}

// before is the last instant at which what has happened by t at the latest may have been due.
func (s *slack) before(t int64) int64 {
	rest := s.fixed
	for _, w := range slices.Backward(s.still) {
		if w.Earliest >= t {
			continue
		}
		if w.Latest <= t-rest {
			break
		}
		rest -= max(0, t-w.Latest)
		t = w.Earliest
	}
	return t - rest
}
