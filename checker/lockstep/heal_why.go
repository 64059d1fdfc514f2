package lockstep

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/converge"
	"github.com/muster-kafka/muster/model/classic"
)

// apart is the violation of clients that have not got together.
func (h *healer) apart() *Violation {
	expected := fmt.Sprintf("after %v without faults all clients are in a Stable group, with what its leader gave them, and nobody else is", together)
	if h.requests > most {
		expected = fmt.Sprintf("all clients get together before they have sent %d requests", most)
	}
	for _, group := range h.w.gen.Groups() {
		d, v := h.describe(group)
		if v != nil || h.w.stats.Inconclusive != "" {
			return v
		}
		if d == nil || !h.groups[group].Whole(d) || slices.ContainsFunc(h.clients, func(c *patient) bool { return c.Group == group && !c.Settled() }) {
			return h.unhealed(group, d, expected)
		}
	}
	return nil // it was the last look that found them together
}

// lingers is the violation of a group that all have left.
func (h *healer) lingers(group string) *Violation {
	d, v := h.describe(group)
	if v != nil || h.w.stats.Inconclusive != "" {
		return v
	}
	h.groups[group].Members = nil
	return h.unhealed(group, d, fmt.Sprintf("the group is Empty %v after its last client has fallen silent", gone))
}

// unhealed says why.
func (h *healer) unhealed(group string, d *kmsg.DescribeGroupsResponseGroup, expected string) *Violation {
	why := h.groups[group].Why(d, converge.Sight{
		Now: h.w.machine.Now(), Who: h.w.gen.Who,
		Timer: func(kind classic.TimerKind, member string) string { return h.timer(group, kind, member) },
	})
	return h.w.violation(group, &difference{what: "convergence", expected: expected, got: why.Text, rules: why.Rules}, 0)
}

// timer says which timer is not set.
func (h *healer) timer(group string, kind classic.TimerKind, member string) string {
	if slices.ContainsFunc(h.w.armed, func(t checker.Timer) bool {
		return t.Group == group && t.Kind == kind && (kind != classic.SessionTimer || t.Member == member)
	}) {
		return ""
	}
	switch kind {
	case classic.SessionTimer:
		return ", whose session timer is not set"
	case classic.GroupJoinTimer:
		return "; its join timer is not set"
	default:
		return "; its sync timer is not set"
	}
}
