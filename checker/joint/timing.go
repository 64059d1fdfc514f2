package joint

import (
	"slices"
	"time"
)

// Exploration lets any timer fire at any moment. A trace has concrete times if there are any with which each timer of it fires when it is due,
// and no other one before its time.

// moment is a step of a trace, as far as time is concerned.
type moment struct {
	fires   *Timer
	armed   []Armed
	running []Timer // after the step
}

// instant keeps two timers apart.
const instant = time.Millisecond

// solve returns when each step of a trace happens, at the earliest; false where no timing allows it.
func solve(steps []moment) ([]time.Duration, bool) {
	type atLeast struct {
		from, to int
		d        time.Duration
	}
	var all []atLeast
	since := map[Timer]int{}
	lasts := map[Timer]time.Duration{}
	for i, s := range steps {
		if i > 0 {
			all = append(all, atLeast{i - 1, i, 0})
		}
		for t, j := range since {
			if s.fires != nil && *s.fires == t {
				all = append(all, atLeast{j, i, lasts[t]}, atLeast{i, j, -lasts[t]})
			} else {
				all = append(all, atLeast{i, j, instant - lasts[t]})
			}
		}
		for _, a := range s.armed {
			since[a.Timer], lasts[a.Timer] = i, a.After
		}
		for t := range since {
			if !slices.Contains(s.running, t) {
				delete(since, t)
			}
		}
	}
	at := make([]time.Duration, len(steps))
	for range len(steps) + 1 {
		changed := false
		for _, c := range all {
			if t := at[c.from] + c.d; t > at[c.to] {
				at[c.to], changed = t, true
			}
		}
		if !changed {
			return at, true
		}
	}
	return nil, false
}
