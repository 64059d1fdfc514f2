package campaign

import (
	"context"
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
)

// The thread of a target's timers may wait for a processor while those of its requests do not, so that nobody who looks sees it stand still. On a machine that was busy
// compiling, one group in a thousand of real Kafka could be explained only with a timer that was half a second late. A coordinator whose timers are wrong has them wrong in each group.

// tardiness is by how many times more than the slack a timer may be late then.
const tardiness = 3

// mostTardy is how many groups may take that: one, and one more for each two hundred that are legal.
func (r *Report) mostTardy() int { return 1 + r.Legal/200 }

// tardy takes groups that are illegal for those that could not be decided, where a timer that was later than any may be explains them. Beyond what chance does they are illegal.
func (c *campaign) tardy(ctx context.Context, h *history.History, v *linearize.Verdict) {
	if v.Result != linearize.Illegal {
		return
	}
	for i := range v.Groups {
		g := &v.Groups[i]
		if g.Result == linearize.Illegal && c.explainedTardily(ctx, h, g.Group) {
			g.Result = linearize.Unknown
			g.Reason = fmt.Sprintf("it can be explained only if a timer was later than %v, by up to three times that", h.Header.Lateness())
		}
	}
	v.Result = worst(v.Groups)
}

func (c *campaign) explainedTardily(ctx context.Context, h *history.History, group string) bool {
	c.mu.Lock()
	over := c.report.Tardy >= c.report.mostTardy()
	c.mu.Unlock()
	if over {
		return false
	}
	later := h.Keep(func(one *history.Call) bool { return slices.Contains(one.Groups, group) })
	later.Header.Slack = tardiness*h.Header.Lateness() - h.Header.Stall
	again, err := linearize.Check(ctx, later, c.o.Limits)
	at := slices.IndexFunc(again.Groups, func(g linearize.GroupVerdict) bool { return g.Group == group })
	if err != nil || at < 0 || again.Groups[at].Result != linearize.Legal {
		return false
	}
	c.mu.Lock()
	c.report.Tardy++
	c.mu.Unlock()
	return true
}
