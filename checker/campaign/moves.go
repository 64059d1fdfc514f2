package campaign

import (
	"slices"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
)

// A broker that is late for seconds is taken for dead by its controller. It gives its groups up then, and loads them again: what was only in memory is
// gone, as after a crash, but nobody knows when. And Kafka of 4.0 and later may serve a part of its groups after a start for which the machine was too
// busy, and load them again and again (conformance/targets/kafka/loads.go). Histories of such a time on a broker of our own are thrown away. Somebody
// else's target, which nothing was done to, has to explain why it does not serve.

// own says whether Muster has started the target.
func (c *campaign) own() bool {
	_, mortal := c.target.(Mortal)
	return mortal
}

// lostGroups says whether a target of our own did not serve while a history was made, which is to be thrown away then.
func (c *campaign) lostGroups(one *cell) bool {
	return c.own() && (one.moved || gaveUp(one.history))
}

// moves notes that the target does not serve its groups now, although nobody has killed it.
func (a *around) moves() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.cells {
		c.moved = true
	}
}

// moved says whether the target has not served for a while since the cell began.
func (a *around) moved(c *cell) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return c.moved
}

// gaveUp says whether an answer of a history tells that the target did not serve, at a time when nobody had killed it.
func gaveUp(h *history.History) bool {
	return slices.ContainsFunc(h.Calls, func(c history.Call) bool {
		if c.Outcome != history.Answered || slices.ContainsFunc(h.Faults, func(f history.Fault) bool {
			return f.Restarts() && c.Call <= f.End() && c.Return >= f.At
		}) {
			return false
		}
		resp, err := c.DecodeResponse()
		return err == nil && linearize.Moved(resp)
	})
}
