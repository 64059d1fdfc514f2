package converge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// ruleOfPhase is the rule that gets a group out of a phase in the end.
var ruleOfPhase = map[string]classic.RuleID{
	"PreparingRebalance": classic.JoinCompleteTimeout, "CompletingRebalance": classic.SyncTimerExpels, "Stable": classic.SessionExpires,
	"Empty": classic.JoinEmptyRebalances, "Dead": classic.JoinCreatesGroup,
}

// Sight is what else a driver knows when it asks why clients are not together.
type Sight struct {
	Now time.Time
	Who func(member string) string // what people call a member id

	// Timer says in words what is wrong with a timer of the group that should end its waiting, with a beginning such as ", whose "; empty
	// where nothing is, or timers cannot be seen. member is that of a session.
	Timer func(kind classic.TimerKind, member string) string
}

// Reason is why clients are not together.
type Reason struct {
	Text  string           // in words
	Rules []classic.RuleID // those by which they would be, the most telling first
}

// Why says why the members are not together, with what DescribeGroups tells of their group, or nil. Of a group that all have left it says why
// it is not Empty.
func (g *Group) Why(d *kmsg.DescribeGroupsResponseGroup, s Sight) Reason {
	r := &reasons{g: g, d: d, s: s}
	for _, m := range g.inside() {
		r.member(m)
	}
	state, first := "Dead", "the coordinator does not say what the group is"
	if d != nil {
		state, first = d.State, r.waits()
	}
	r.texts = append([]string{first}, r.texts...)
	if rule, ok := ruleOfPhase[state]; ok && (len(r.rules) == 0 || state != "Stable") {
		r.rules = append(r.rules, rule)
	}
	return Reason{strings.Join(r.texts, "; "), r.rules}
}

// reasons collects texts and rules.
type reasons struct {
	g     *Group
	d     *kmsg.DescribeGroupsResponseGroup
	s     Sight
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
		i := slices.IndexFunc(r.g.Members, func(own *Member) bool { return own.ID() == m.MemberID })
		if i >= 0 && (d.State != "PreparingRebalance" || r.g.Members[i].Joins > 0) {
			continue
		}
		missing = append(missing, r.s.Who(m.MemberID)+r.s.Timer(classic.SessionTimer, m.MemberID))
	}
	switch {
	case len(missing) > 0 && d.State == "PreparingRebalance":
		text += " and waits for the join of " + strings.Join(missing, " and of ")
	case len(missing) > 0:
		text += " with members that nobody is any more: " + strings.Join(missing, ", ")
		r.rules = append(r.rules, classic.SessionExpires)
	}
	switch d.State {
	case "PreparingRebalance":
		text += r.s.Timer(classic.GroupJoinTimer, "")
	case "CompletingRebalance":
		text += r.s.Timer(classic.GroupSyncTimer, "")
	}
	return text
}

// often is how many errors a client may be told on its way: more send it round in circles.
const often = 5

// member says what a client waits for, or is told again and again.
func (r *reasons) member(m *Member) {
	ago := r.s.Now.Sub(m.Asked).Round(time.Second)
	if m.Unanswered > 0 {
		r.texts = append(r.texts, fmt.Sprintf("%s has never had an answer to %d of its requests", m.Name, m.Unanswered))
	}
	if m.tolds > often && ago < time.Second { // what it happens to wait for is not why
		r.texts = append(r.texts, m.again())
		return
	}
	switch {
	case m.Joins > 0:
		r.because(classic.JoinCompleteAll, "%s has waited %v for the answer to its JoinGroup", m.Name, ago)
		return
	case m.Syncs > 0:
		r.because(classic.SyncLeaderAssigns, "%s has waited %v for the answer to its SyncGroup", m.Name, ago)
		return
	case !m.Settled():
		r.texts = append(r.texts, m.again())
		return
	case r.d == nil:
		return
	}
	i := slices.IndexFunc(r.d.Members, func(told kmsg.DescribeGroupsResponseGroupMember) bool { return told.MemberID == m.ID() })
	given, is := r.g.owed(m)
	switch {
	case i < 0:
		r.because(classic.HeartbeatUnknownMember, "%s believes to be a member of generation %d, and is none", m.Name, m.Generation)
	case is == passedOver:
		r.because(classic.JoinStartsRebalance, "the leader of generation %d has not heard of %s, which is in it", m.Generation, m.Name)
	case is == made && given != m.has:
		r.because(classic.SyncLeaderAssigns, "the leader gave %s %s, and it was told %s", m.Name, given, bytes([]byte(m.has)))
	case is == made && given != string(r.d.Members[i].MemberAssignment):
		r.because(classic.SyncLeaderAssigns, "the leader gave %s %s, and the group has %s for it", m.Name, given, bytes(r.d.Members[i].MemberAssignment))
	}
}

// again says that a member goes round in circles, and what it was told last: an error, unless it never was.
func (m *Member) again() string {
	if m.told == "" {
		return m.Name + " asks again and again, though it was never told an error"
	}
	return fmt.Sprintf("%s asks again and again, and was told last %s", m.Name, m.told)
}
