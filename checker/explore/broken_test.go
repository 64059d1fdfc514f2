package explore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

// breaking is the group in which rules are broken.
func breaking(members int, rule classic.RuleID) Group {
	g := Group{
		Name: rule.String(), Profile: classic.Java, Members: members, Lists: []string{"ab", "b"},
		AnySubset: true, WriteFailures: true, Offsets: true, Broken: []classic.RuleID{rule},
	}
	of := func(first, last classic.RuleID) bool { return rule >= first && rule <= last }
	// Rules of a subject need what it is about, and nothing else that costs time.
	switch {
	case of(classic.StaticJoins, classic.LeaveInstance):
		g.Lists, g.Static, g.AnySubset, g.Offsets = []string{"ab", "ba"}, true, false, false
		if rule == classic.StaticReplacedSubscribed {
			g.Lists, g.Subscriptions, g.Metadata = g.Lists[:1], true, 2
		}
	case rule == classic.LeaveOneByOne:
		g.Profile, g.Members, g.Lists = classic.Scala, 3, g.Lists[:1] // two that leave, and one that stays
	case of(classic.DelayWaits, classic.DelayFlag), rule == classic.SyncProtocolEarly:
		g.Lists, g.Delay, g.Offsets = g.Lists[:1], true, false
	case of(classic.MaxSizeRefuses, classic.MaxSizeLoad):
		g.MaxSize, g.Failover, g.Offsets = 1, true, false
	case of(classic.CommitGroupIDFree, classic.CleanupPending):
		g.Lists, g.Subscriptions, g.Metadata, g.Removal, g.AnySubset = g.Lists[:1], true, 2, true, false
		g.Types = rule == classic.OffsetDeleteOtherType
	case of(classic.LoadingRefuses, classic.LoadEpoch):
		g.Lists, g.Failover, g.Removal, g.AnySubset = g.Lists[:1], true, true, false
	}
	return g
}

// elsewhere says who sees the rules broken that exploration does not: none of them is a decision of the model (classic.Breakable).
var elsewhere = map[string][]classic.RuleID{
	"scenarios, which compare encoded answers":   {classic.StaticReplacedClient, classic.StaticListed, classic.GroupUnseen, classic.CommitGroupIDFree, classic.CommitTopicID, classic.CommitDuplicates, classic.FetchEachGroup, classic.FetchOldErrors, classic.TxnVerified, classic.LoadingList, classic.JoinReplyError, classic.DescribeUnknown, classic.DescribeUnknownCode, classic.DescribeState, classic.DescribeMembers, classic.DescribeRebalancingAssignment, classic.ListState, classic.ListFilters, classic.CommitUnknownTopic, classic.FetchAll, classic.FindCoordinatorGroup, classic.FindCoordinatorBatch},
	"lock-step, which resolves ids to slots":     {classic.SyncAssignsMembersOnly},
	"lock-step and histories, which know time":   {classic.JoinTimerFixed, classic.JoinZeroVersion, classic.ExpiryExplicit, classic.CommitRetention},
	"lock-step and histories, which know values": {classic.FetchCommitted, classic.FetchNothing, classic.FetchUnstable, classic.FetchUnstablePlain, classic.TxnNewerWins, classic.ExpiryPending},
	"histories with restarts":                    {classic.LoadOneProtocol, classic.LoadEpoch},
	"nobody: it wedges a broker for good":        {classic.JoinDuplicateProtocol},
}

// Every rule that the model can break is noticed, by the property that is made for it among others. The table says with how many
// steps, with two members and with three, and how many other properties notice too with two.
func TestBrokenRulesAreNoticed(t *testing.T) {
	notBroken := map[string]bool{}
	for _, p := range Properties()[len(classic.Invariants()):] {
		notBroken[p] = true
	}
	var table strings.Builder
	noticed := 0
	for i := range classic.Rules() {
		rule := classic.RuleID(i)
		if ok, _ := classic.Breakable(rule); !ok {
			continue
		}
		g := breaking(2, rule)
		two := Run(context.Background(), g.Name, g.Machine, Options{Workers: 2})
		g = breaking(3, rule)
		three := Run(context.Background(), g.Name, g.Machine, Options{Workers: 2, StopAtViolation: true})
		if !two.Complete {
			t.Errorf("%s", two)
		}
		for _, v := range two.Violations {
			delete(notBroken, v.Property)
		}
		own, others := ownViolation(two, rule)
		if own.Property == "" || len(three.Violations) == 0 {
			t.Errorf("%v is broken and its own property does not notice: %s", rule, two)
			continue
		}
		noticed++
		fmt.Fprintf(&table, "%-36s %-8s %d steps, %d with three; %d more; %s\n",
			rule, rule.Rule().Class, len(own.Trace), len(three.Violations[0].Trace), others, own.Property)
	}
	golden.Testdata(t, "broken.txt", table.String())
	t.Logf("%d rules broken and noticed", noticed)

	// A property that nothing can break shows nothing.
	for p := range notBroken {
		if unbroken[p] == nil {
			t.Errorf("no broken rule breaks %q", p)
		}
	}
	for p := range unbroken {
		if !notBroken[p] {
			t.Errorf("%q is broken after all", p)
		}
	}
}

// unbroken lists properties that no single broken rule reaches: the model has no branch where it could go wrong so. Each comes with
// a transition, made by hand, that breaks it.
var unbroken = map[string]func() *view{
	"reading changes nothing": func() *view {
		v := stableView(classic.Event{Kind: classic.OffsetFetch})
		v.t.Next.Slots[0].Timed = false
		return v
	},
	"a leader that rejoins stays leader": func() *view {
		v := stableView(classic.Event{Kind: classic.JoinTimer})
		v.s.Phase, v.t.Next.Phase, v.s.Slots[0].Joining = classic.PreparingRebalance, classic.CompletingRebalance, true
		v.t.Next.Slots[0].Leader, v.t.Next.Slots[1].Leader = false, true
		return v
	},
	"a generation restarts only with the group": func() *view {
		v := stableView(classic.Event{Kind: classic.Heartbeat})
		v.t.Generation = classic.ResetGeneration
		return v
	},
	"a written assignment makes the group Stable": func() *view {
		v := stableView(classic.Event{Kind: classic.WriteDone})
		v.t.Next.Phase = classic.CompletingRebalance
		return v
	},
	"only the JoinGroup of an instance gives its member another id": func() *view {
		v := stableView(classic.Event{Kind: classic.Heartbeat})
		v.t.Rekeyed = 0
		return v
	},
	"the end of a transaction without offsets here changes nothing": func() *view {
		v := stableView(classic.Event{Kind: classic.TxnMarker})
		v.t.Next.Offsets = true
		return v
	},
	"a request without group id is refused before anything else": func() *view {
		v := stableView(classic.Event{Kind: classic.Heartbeat, BadGroup: true})
		*v.s = loading
		return v
	},
	"a new member that waits is removed when its time is over": func() *view {
		v := stableView(classic.Event{Kind: classic.MemberTimer})
		v.s.Slots[0].New = true
		return v
	},
}

// stableView is an event in a Stable group of two that nothing comes of.
func stableView(e classic.Event) *view {
	s := classic.State{Phase: classic.Stable, Type: groupType, Protocol: 1}
	s.Slots[0] = classic.Slot{Kind: classic.Member, Leader: true, Timed: true, List: 1}
	s.Slots[1] = classic.Slot{Kind: classic.Member, Timed: true, List: 1}
	lexicon := &classic.Lexicon{Lists: []classic.List{{}, {Names: []uint8{1}}}}
	return &view{
		s: &s, e: &e, t: &classic.Transition{Next: s, Minted: -1, Rekeyed: -1, Updated: -1}, group: &Group{Members: 2}, profile: &classic.Java, lexicon: lexicon,
	}
}

func TestPropertiesThatNoRuleBreaks(t *testing.T) {
	for _, list := range everyProperty() {
		for _, p := range list {
			if unbroken[p.name] == nil {
				continue
			}
			v := unbroken[p.name]()
			v.meet()
			v.derive(v.t.Next != *v.s)
			if !p.broken(v) {
				t.Errorf("%q holds for %+v -> %+v", p.name, *v.e, *v.t)
			}
		}
	}
}

// ownViolation finds the violation of a rule by the property that is made for it, and counts the others.
func ownViolation(r Report, rule classic.RuleID) (own Violation, others int) {
	for _, v := range r.Violations {
		if v.Rule == rule.String() && own.Property == "" {
			own = v
		} else {
			others++
		}
	}
	return own, others
}

func TestEveryRuleHasAJudge(t *testing.T) {
	judged := map[classic.RuleID]bool{}
	for who, rules := range elsewhere {
		for _, rule := range rules {
			if ok, _ := classic.Breakable(rule); ok {
				t.Errorf("%v is left to %s, but exploration can break it", rule, who)
			}
			judged[rule] = true
		}
	}
	for i := range classic.Rules() {
		rule := classic.RuleID(i)
		if ok, why := classic.Breakable(rule); !ok && (!judged[rule] || why == "") {
			t.Errorf("%v cannot be broken in the model and has no other judge", rule)
		}
	}
}

// find returns the violation of a property.
func find(t *testing.T, r Report, property string) Violation {
	t.Helper()
	for _, v := range r.Violations {
		if v.Property == property {
			return v
		}
	}
	t.Fatalf("%s: nobody broke %q", r, property)
	return Violation{}
}

// A JoinGroup that is never answered is seen as a closed component of states in which it waits.
func TestJoinGroupNeverAnswered(t *testing.T) {
	g := breaking(2, classic.JoinCompleteTimeout)
	r := Run(context.Background(), g.Name, g.Machine, Options{Workers: 2})
	v := find(t, r, neverAnswered)
	if v.Rule != classic.JoinCompleteTimeout.String() {
		t.Errorf("rule %s", v.Rule)
	}
	golden.Testdata(t, "never-answered-join.txt", v.String())
}

func TestSyncGroupNeverAnswered(t *testing.T) {
	g := breaking(2, classic.SyncAborted)
	r := Run(context.Background(), g.Name, g.Machine, Options{Workers: 2})
	golden.Testdata(t, "never-answered-sync.txt", find(t, r, neverAnswered).String())
}
