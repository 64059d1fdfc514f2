package embedded_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/model/classic"
)

var checks = flag.Int("lockstep-checks", 40, "sequences of each lock-step run")

// The coordinator and the specification, two readings of one fact sheet, agree on every step of random walks of each kind, and come by the
// rules of everything that the kinds are about.
func TestLockstep(t *testing.T) {
	seen := map[classic.RuleID]int64{}
	for seed := range uint64(6 * len(embedded.WalkKinds)) {
		t.Run(fmt.Sprintf("%s/%d", embedded.WalkKinds[seed%uint64(len(embedded.WalkKinds))], seed), func(t *testing.T) {
			for id, n := range walk(t, seed, lockstep.Options{Checks: *checks, Steps: 100}) {
				seen[id] += n
			}
		})
	}
	for _, rule := range []classic.RuleID{
		classic.StaticFenced, classic.StaticReplacedStable, classic.TxnCommits, classic.TxnAborts, classic.OffsetDeleteSubscribed,
		classic.ExpiryUnsubscribed, classic.TopicDeleted, classic.LoadSessions, classic.LoadEpoch, classic.DelayWaits, classic.MaxSizeRefuses,
		classic.CommitWriteFails,
	} {
		if seen[rule] == 0 {
			t.Errorf("no walk came by %s", rule)
		}
	}
}

// They agree too on what clients seldom do, and what logs seldom say.
func TestLockstepAtTheEdges(t *testing.T) {
	seen := map[classic.RuleID]int64{}
	for seed := range uint64(2 * len(embedded.WalkKinds)) {
		settings, options := embedded.WalkEdges(seed)
		t.Run(fmt.Sprintf("%s/%d", embedded.WalkKinds[seed%uint64(len(embedded.WalkKinds))], seed), func(t *testing.T) {
			for id, n := range walkWith(t, seed, settings, options, lockstep.Options{Checks: *checks / 2, Steps: 80}) {
				seen[id] += n
			}
		})
	}
	for _, rule := range []classic.RuleID{classic.CommitTopicID, classic.CommitWriteFails, classic.SyncWriteFails, classic.StaticWriteFails} {
		if seen[rule] == 0 {
			t.Errorf("no walk came by %s", rule)
		}
	}
}

// They agree where heartbeats go the way that a server has for them.
func TestLockstepOfBeats(t *testing.T) {
	for seed := range uint64(2 * len(embedded.WalkKinds)) {
		settings, options := embedded.WalkEdges(seed)
		options.Checks, options.Steps = *checks/4, 60
		r := lockstep.Rapid(func() checker.Machine { return embedded.NewBeating(settings) }, options)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if r.Violation != nil {
			t.Fatalf("seed %d:\n%s", seed, r.Violation.String())
		}
	}
}

// After whatever has happened, the clients of the coordinator get together again, and a group that all have left becomes Empty; every step of
// that is judged in lock-step too.
func TestClientsHeal(t *testing.T) {
	for seed := range uint64(len(embedded.WalkKinds)) {
		t.Run(embedded.WalkKinds[seed], func(t *testing.T) {
			walk(t, seed, lockstep.Options{Checks: *checks / 5, Steps: 60, Heal: true})
		})
	}
}

// walk walks for as long as the options say and returns how often each rule decided a step.
func walk(t *testing.T, seed uint64, o lockstep.Options) map[classic.RuleID]int64 {
	settings, options := embedded.Walk(seed)
	return walkWith(t, seed, settings, options, o)
}

func walkWith(t *testing.T, seed uint64, settings embedded.Options, options, o lockstep.Options) map[classic.RuleID]int64 {
	t.Helper()
	var machines []*embedded.Machine
	options.Checks, options.Steps, options.Heal = o.Checks, o.Steps, o.Heal
	r := lockstep.Rapid(func() checker.Machine {
		m := embedded.NewMachineWith(settings)
		machines = append(machines, m)
		return m
	}, options)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if r.Violation != nil {
		t.Fatalf("seed %d:\n%s", seed, r.Violation.String())
	}
	for _, m := range machines {
		for _, err := range m.Reported() {
			var inconsistent *core.InconsistencyError
			if errors.As(err, &inconsistent) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
	t.Logf("%d sequences, %d steps, %d rules; together in %v, Empty in %v", r.Sequences, r.Steps, len(r.Rules), r.Healed, r.Emptied)
	return r.Rules
}
