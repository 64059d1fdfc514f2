package lockstep

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
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
		if d == nil || !h.whole(group, d) || slices.ContainsFunc(h.clients, func(c *patient) bool { return c.Group == group && !c.settled() }) {
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
	h.clients = nil
	return h.unhealed(group, d, fmt.Sprintf("the group is Empty %v after its last client has fallen silent", gone))
}

// unhealed says why.
func (h *healer) unhealed(group string, d *kmsg.DescribeGroupsResponseGroup, expected string) *Violation {
	r := &reasons{h: h, group: group, d: d}
	for _, c := range h.clients {
		if c.Group == group {
			r.client(c)
		}
	}
	state := "Dead"
	if d != nil {
		state = d.State
		r.texts = append([]string{r.waits()}, r.texts...)
	}
	if rule, ok := ruleOfPhase[state]; ok && (len(r.rules) == 0 || state != "Stable") {
		r.rules = append(r.rules, rule)
	}
	return h.w.violation(group, &difference{what: "convergence", expected: expected, got: strings.Join(r.texts, "; "), rules: r.rules}, 0)
}

// reasons collects why a group's clients are not together, and the rules by which they would be.
type reasons struct {
	h     *healer
	group string
	d     *kmsg.DescribeGroupsResponseGroup // what the coordinator says of the group, or nil
	texts []string
	rules []classic.RuleID
}

func (r *reasons) because(rule classic.RuleID, format string, args ...any) {
	r.texts = append(r.texts, fmt.Sprintf(format, args...))
	if !slices.Contains(r.rules, rule) {
		r.rules = append(r.rules, rule)
	}
}

// waits says what the group waits for, and which timers will not end that.
func (r *reasons) waits() string {
	d, text := r.d, "the group is "+r.d.State
	var missing []string
	for _, m := range d.Members {
		who := r.h.w.gen.Who(m.MemberID)
		i := slices.IndexFunc(r.h.clients, func(c *patient) bool { return c.ID() == m.MemberID })
		if i >= 0 && (d.State != "PreparingRebalance" || r.h.clients[i].Joins > 0) {
			continue
		}
		if !r.armed(classic.SessionTimer, m.MemberID) {
			who += ", whose session timer is not set"
		}
		missing = append(missing, who)
	}
	switch {
	case len(missing) > 0 && d.State == "PreparingRebalance":
		text += " and waits for the join of " + strings.Join(missing, " and of ")
	case len(missing) > 0:
		text += " with members that nobody is any more: " + strings.Join(missing, ", ")
		r.rules = append(r.rules, classic.SessionExpires)
	}
	switch {
	case d.State == "PreparingRebalance" && !r.armed(classic.GroupJoinTimer, ""):
		text += "; its join timer is not set"
	case d.State == "CompletingRebalance" && !r.armed(classic.GroupSyncTimer, ""):
		text += "; its sync timer is not set"
	}
	return text
}

func (r *reasons) armed(kind classic.TimerKind, member string) bool {
	return slices.ContainsFunc(r.h.w.armed, func(t checker.Timer) bool {
		return t.Group == r.group && t.Kind == kind && (kind != classic.SessionTimer || t.Member == member)
	})
}

// client says what a client waits for, or is told again and again.
func (r *reasons) client(c *patient) {
	ago := r.h.w.machine.Now().Sub(c.asked).Round(time.Second)
	if c.unanswered > 0 {
		r.texts = append(r.texts, fmt.Sprintf("%s has never had an answer to %d of its requests", c.Name, c.unanswered))
	}
	switch {
	case c.Joins > 0:
		r.because(classic.JoinCompleteAll, "%s has waited %v for the answer to its JoinGroup", c.Name, ago)
		return
	case c.Syncs > 0:
		r.because(classic.SyncLeaderAssigns, "%s has waited %v for the answer to its SyncGroup", c.Name, ago)
		return
	case !c.settled():
		r.texts = append(r.texts, fmt.Sprintf("%s asks again and again, and was told last %s", c.Name, c.told))
		return
	case r.d == nil:
		return
	}
	i := slices.IndexFunc(r.d.Members, func(m kmsg.DescribeGroupsResponseGroupMember) bool { return m.MemberID == c.ID() })
	given, is := r.h.owed(c)
	switch {
	case i < 0:
		r.because(classic.HeartbeatUnknownMember, "%s believes to be a member of generation %d, and is none", c.Name, c.Generation)
	case is == passedOver:
		r.because(classic.JoinStartsRebalance, "the leader of generation %d has not heard of %s, which is in it", c.Generation, c.Name)
	case is == made && given != c.has:
		r.because(classic.SyncLeaderAssigns, "the leader gave %s %s, and it was told %s", c.Name, given, bytes([]byte(c.has)))
	case is == made && given != string(r.d.Members[i].MemberAssignment):
		r.because(classic.SyncLeaderAssigns, "the leader gave %s %s, and the group has %s for it", c.Name, given, bytes(r.d.Members[i].MemberAssignment))
	}
}
