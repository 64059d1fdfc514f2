package main

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

// A walk in which the reference coordinator and the specification part is a failure, whatever rules the step cites and without --strict.
func TestWalkViolationsFail(t *testing.T) {
	t.Chdir(t.TempDir()) // for the saved walk
	for name, c := range map[string]struct {
		rules []classic.RuleID
		class string
	}{
		"compat first, contract after": {[]classic.RuleID{classic.JoinRepeatKeepsTimer, classic.JoinCompleteGeneration}, "contract"},
		"compat alone":                 {[]classic.RuleID{classic.LeavePending}, "compat"},
		"a quirk alone":                {[]classic.RuleID{classic.SyncParkedRemoved}, "quirk"},
		"no rule":                      {nil, "contract"},
	} {
		t.Run(name, func(t *testing.T) {
			v := verdict.New(version, "impl", "", 1)
			v.Random = &verdict.RandomCounts{}
			tellWalk(v, t.TempDir(), invocation{}, 1, lockstep.Report{Sequences: 1, Steps: 1, Violation: &lockstep.Violation{What: "timers", Rules: c.rules}}, nil)
			v.Finish(verdict.Random)
			v.Close(false, nil, time.Second)
			if v.Result != verdict.Fail || len(v.Failures) != 1 {
				t.Fatalf("%s, %d failures", v.Result, len(v.Failures))
			}
			if got := v.Failures[0].Class; got != c.class {
				t.Errorf("class %s, want %s", got, c.class)
			}
		})
	}
}
