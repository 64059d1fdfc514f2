package campaign

import (
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
)

// A target that is somebody's removes groups that are Empty and have no offsets every ten minutes or so, which explains generations that begin anew. One that forgets its groups is
// explained so too, each time: no more groups may take that than such a target removes.

// mostCleaned is how many groups may take that they were removed: three times those that would be there at an instant at which the target looks, and one.
func (c *campaign) mostCleaned() int {
	if c.caps.Cleanup <= 0 {
		return 0
	}
	return 1 + int(3*float64(c.o.Parallel)*c.o.Budget.Seconds()/c.caps.Cleanup.Seconds())
}

// cleaned counts the groups of a verdict that take it that they were removed. Beyond what is possible they are illegal, and the history says from then on that nobody removes them.
func (c *campaign) cleaned(h *history.History, v *linearize.Verdict) {
	for i := range v.Groups {
		g := &v.Groups[i]
		if !g.Cleaned {
			continue
		}
		c.mu.Lock()
		c.report.Cleaned++
		over := c.report.Cleaned > c.mostCleaned()
		c.mu.Unlock()
		if over {
			h.Header.Cleanup, g.Cleaned = 0, false
			g.Result, v.Result = linearize.Illegal, linearize.Illegal
		}
	}
}
