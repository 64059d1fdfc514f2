package clients

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

var deep = flag.Bool("deep", false, "break every rule (ten seconds)")

type needed struct {
	rule   classic.RuleID
	static int
}

// hurts are the rules without which clients do not get together again, or a group that all have left does not become Empty; and how many of
// the two clients have to be static for that.
var hurts = []needed{
	{classic.JoinPendingJoins, 0},
	{classic.JoinPendingExpires, 0},
	{classic.JoinUnknownMember, 0},
	{classic.JoinEmptyRebalances, 0},
	{classic.JoinPreparingParks, 0},
	{classic.JoinCompleteTimeout, 0},
	{classic.JoinCompleteLeader, 0},
	{classic.SyncPreparing, 1},
	{classic.SyncFollowerParks, 0},
	{classic.SyncLeaderAssigns, 0},
	{classic.SyncAborted, 1},
	{classic.HeartbeatPreparing, 0},
	{classic.HeartbeatStable, 0},
	{classic.SessionExpires, 0},
	{classic.SessionRenewedByCompletion, 0},
	{classic.GenerationFence, 0},
	{classic.StaticJoins, 1},
	{classic.LoadSessions, 0},
}

func hurt(rule classic.RuleID, static int) Run {
	return Run{
		Name: rule.String(), Profile: classic.Java, Clients: 2, Static: static, Lists: []string{"a"},
		WriteInFlight: true, WriteFailures: true, Crash: Forget, Converge: true, Broken: []classic.RuleID{rule},
	}
}

var converging = []string{getTogether, comeToRest, getEmpty}

// unhealed is the first violation of convergence.
func unhealed(r explore.Report) (explore.Violation, bool) {
	i := slices.IndexFunc(r.Violations, func(v explore.Violation) bool { return slices.Contains(converging, v.Property) })
	if i < 0 {
		return explore.Violation{}, false
	}
	return r.Violations[i], true
}

// Each rule that clients need to get together again is missed by convergence, which says in words what is waited for.
func TestRulesThatConvergenceMisses(t *testing.T) {
	var table strings.Builder
	for _, h := range hurts {
		r := hurt(h.rule, h.static)
		report, _ := r.Explore(context.Background(), explore.Options{Workers: 2, StopAtViolation: true})
		v, found := unhealed(report)
		if !found {
			t.Errorf("%v is broken, and clients get together all the same: %s", h.rule, report)
			continue
		}
		fmt.Fprintf(&table, "%s\n  %s (%d steps)\n  %s\n", h.rule, v.Property, len(v.Trace), v.Trace[len(v.Trace)-1].State)
	}
	golden.Testdata(t, "unhealed.txt", table.String())
}

// Two of them with their traces: one that ends, and one that goes round.
func TestTracesOfConvergence(t *testing.T) {
	for rule, file := range map[classic.RuleID]string{
		classic.JoinPendingExpires: "pending-never-expires.txt", classic.HeartbeatStable: "heartbeats-for-nothing.txt",
	} {
		r := hurt(rule, 0)
		report, _ := r.Explore(context.Background(), explore.Options{Workers: 2, StopAtViolation: true})
		v, found := unhealed(report)
		if !found {
			t.Fatalf("%v is broken, and clients get together all the same: %s", rule, report)
		}
		golden.Testdata(t, file, v.String())
	}
}

// No other rule is needed: clients get together without it, if more slowly.
func TestRulesThatConvergenceDoesNotMiss(t *testing.T) {
	if !*deep {
		t.Skip("ten seconds; go test -deep runs it")
	}
	for i := range classic.Rules() {
		rule := classic.RuleID(i)
		ok, _ := classic.Breakable(rule)
		if !ok || slices.ContainsFunc(hurts, func(h needed) bool { return h.rule == rule }) {
			continue
		}
		for static := range 2 {
			r := hurt(rule, static)
			report, _ := r.Explore(context.Background(), explore.Options{Workers: 2})
			if v, found := unhealed(report); found {
				t.Errorf("%v: %s", rule, v)
			}
		}
	}
}

// What a crash leaves true is broken by the rule that it stands for.
func TestBrokenAfterACrash(t *testing.T) {
	for _, test := range []struct {
		rule     classic.RuleID
		property string
	}{
		{classic.SyncWriteFails, "a Stable group is what its log says"},
		{classic.LoadState, "a crash brings back what the log has, and nobody else"},
		{classic.LoadSessions, "a crash brings back what the log has, and nobody else"},
		{classic.LoadNoSync, "a crash brings back what the log has, and nobody else"},
		{classic.GenerationFence, "no request of another generation than that of memory succeeds"},
		{classic.HeartbeatUnknownMember, "no request of whoever is not in memory succeeds"},
		{classic.SyncUnknownMember, "no request of whoever is not in memory succeeds"},
	} {
		r := Run{
			Name: test.rule.String(), Profile: classic.Java, Clients: 2, Lists: []string{"a"}, WriteFailures: true, Crash: Log,
			Broken: []classic.RuleID{test.rule},
		}
		report, _ := r.Explore(context.Background(), explore.Options{Workers: 2, StopAtViolation: true})
		if !slices.ContainsFunc(report.Violations, func(v explore.Violation) bool { return v.Property == test.property }) {
			t.Errorf("%v is broken and %q does not notice: %s", test.rule, test.property, report)
		}
	}
}
