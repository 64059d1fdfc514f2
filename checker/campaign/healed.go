package campaign

import (
	"fmt"
	"time"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/traffic"
)

// Convergence is what has become of groups whose clients were left alone in the end: see package converge.
type Convergence struct {
	Together int           // groups whose clients have got together
	Longest  time.Duration // that this took
	Apart    int           // groups whose clients have not, and should have
	Whys     []string      // why, of the first few of these
	Untold   int           // groups of which that cannot be told
	Reasons  []string      // why, of the first few that had time enough
}

// patientStall is the longest stall that cannot expel a client that heals: its session is twice as long.
const patientStall = time.Second

// haltingShare is the share of the time that clients had to come together which may be stalled before nothing can be said.
const haltingShare = 0.2

// converges takes up what has become of a group, whose history was judged, and returns why its clients should be together and are not; empty
// where they are, or nothing can be told.
func (c *campaign) converges(one *cell, g linearize.GroupVerdict) (apart *traffic.Healed) {
	for i := range one.healed {
		h := &one.healed[i]
		if h.Group != g.Group {
			continue
		}
		var worst, total time.Duration
		for _, s := range c.canary.between(h.Began, one.ended) {
			if worst = max(worst, s.late); s.late > c.o.Slack {
				total += s.late
			}
		}
		slow := worst > patientStall || float64(total) > haltingShare*float64(h.Took)
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.report.Convergence.add(h, g.Result, slow, one.plan.Seed)
	}
	return nil
}

// add counts a group. Clients that are apart accuse the target, unless the machine stood still meanwhile, or the specification explains all of
// their calls: by it every group converges, so they only had too little time.
func (r *Convergence) add(h *traffic.Healed, result linearize.Result, slow bool, seed uint64) *traffic.Healed {
	doubt := ""
	switch {
	case h.Result == traffic.Together:
		r.Together++
		r.Longest = max(r.Longest, h.Took)
		return nil
	case h.Result == traffic.Untold:
		r.Untold++
		return nil
	case slow:
		doubt = "this machine or the target stood still for too much of that"
	case result == linearize.Legal:
		doubt = "the specification explains all their calls, so the time was too short"
	default:
		if r.Apart++; len(r.Whys) < maxReasons {
			r.Whys = append(r.Whys, fmt.Sprintf("seed %d, group %q, after %v: %s", seed, h.Group, h.Took.Round(time.Millisecond), h.Why.Text))
		}
		return h
	}
	r.Untold++
	if len(r.Reasons) < maxReasons {
		r.Reasons = append(r.Reasons, fmt.Sprintf("seed %d, group %q: its clients were not together after %v (%s), but %s", seed, h.Group, h.Took.Round(time.Millisecond), h.Why.Text, doubt))
	}
	return nil
}

// doubts are why it cannot be told whether the target lets clients get together.
func (r *Convergence) doubts() (all []string) {
	if r.Together+r.Apart == 0 && r.Untold > 0 {
		all = append(all, fmt.Sprintf("of none of %d groups it could be seen whether its clients get together when they are left alone; give more budget", r.Untold))
	}
	return append(all, r.Reasons...)
}
