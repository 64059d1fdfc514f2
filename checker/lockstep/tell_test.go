package lockstep

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// The first rule is the one that a reader is told of, and its class the strictest.
func TestMostTellingRuleFirst(t *testing.T) {
	session, sync, sync2 := timer{classic.SessionTimer, "A", 1}, timer{classic.GroupSyncTimer, "", 1}, timer{classic.GroupSyncTimer, "", 2}
	for name, c := range map[string]struct {
		d    difference
		want []classic.RuleID
	}{
		"contract before compat before quirk": {
			difference{what: "answer", api: "Heartbeat", rules: []classic.RuleID{classic.JoinParkedSuperseded, classic.JoinReplyFollower, classic.JoinCompleteGeneration}},
			[]classic.RuleID{classic.JoinCompleteGeneration, classic.JoinReplyFollower, classic.JoinParkedSuperseded},
		},
		"the API that differs first": {
			difference{what: "answer", api: "SyncGroup", rules: []classic.RuleID{classic.JoinCompleteGeneration, classic.SyncLeaderAssigns}},
			[]classic.RuleID{classic.SyncLeaderAssigns, classic.JoinCompleteGeneration},
		},
		"a timer's own rule before the step's": {
			difference{what: "timers", rules: []classic.RuleID{classic.JoinCompleteGeneration}, timer: ofTimers([]timer{session, sync}, []timer{session, sync2})},
			[]classic.RuleID{classic.SyncTimerExpels, classic.JoinCompleteGeneration},
		},
		"timers of two kinds": {
			difference{what: "timers", rules: []classic.RuleID{classic.JoinCompleteGeneration}, timer: ofTimers([]timer{session, sync}, nil)},
			[]classic.RuleID{classic.JoinCompleteGeneration},
		},
		"a rule is named once": {
			difference{what: "timers", rules: []classic.RuleID{classic.JoinCompleteGeneration, classic.SyncTimerExpels}, timer: ofTimers(nil, []timer{sync})},
			[]classic.RuleID{classic.SyncTimerExpels, classic.JoinCompleteGeneration},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(ruleNames(c.want), ruleNames(c.d.telling())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A sync timer of the wrong length is told as what it is, although the step that arms it cites compat rules too.
func TestSyncTimerOfTheWrongLength(t *testing.T) {
	r := Rapid(func() checker.Machine {
		return &faulty{Machine: observe.NewMachine(observe.NewWorld(config(classic.Java)), nil), timers: func(_ *faulty, ts []checker.Timer) []checker.Timer {
			for i := range ts {
				if ts[i].Kind == classic.GroupSyncTimer {
					ts[i].Deadline = ts[i].Deadline.Add(-time.Millisecond)
				}
			}
			return ts
		}}
	}, Options{Checks: 100, Steps: 60, World: config(classic.Java), Setup: gen.Setup{Clients: 3}})
	if r.Err != nil || r.Violation == nil {
		t.Fatalf("error %v, violation %v", r.Err, r.Violation)
	}
	if v := r.Violation; v.What != "timers" || v.Rules[0] != classic.SyncTimerExpels {
		t.Errorf("blames %s, rules %s", v.What, ruleNames(v.Rules))
	}
}
