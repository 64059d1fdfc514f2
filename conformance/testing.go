package conformance

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

// Run judges the target in a go test: a subtest for each scenario that comes with Muster. On a network several run at a time. As with the
// command, only a broken contract fails a subtest; other differences are logged.
func Run(t *testing.T, tg target.Target) {
	t.Helper()
	RunSuite(t, tg, Suite{})
}

// RunSuite is Run with other scenarios or settings: Strict, Known and Exact say what fails.
func RunSuite(t *testing.T, tg target.Target, s Suite) {
	t.Helper()
	if s.Scenarios == nil {
		all, err := Scenarios()
		if err != nil {
			t.Fatal(err)
		}
		s.Scenarios = all
	}
	if s.OutDir == "" {
		s.OutDir = "muster-out"
	}
	s.health, s.subjects = newHealth(), newSubjects()
	results := s.ahead(t.Context(), tg)
	for i, sc := range s.Scenarios {
		t.Run(sc.Name, func(t *testing.T) {
			res := results(i)
			for _, g := range res.Leftover {
				t.Errorf("group %s could not be removed", g)
			}
			if res.Unsteady != nil {
				tell := t.Logf
				if (s.Strict || s.Exact) && !res.Unsteady.Stalled && res.Status != Broken {
					tell = t.Errorf
				}
				tell("%s:\n%s", res.wavered(), res.Unsteady)
				if res.Status == Pass && !res.Unsteady.Stalled && !t.Failed() {
					t.Skip("not judged: it failed at first, see above; run it again, a few times, while the target has nothing else to do. Suite.Strict makes it a failure")
				}
			}
			switch res.Status {
			case Skip:
				t.Skip(res.Reason)
			case Broken:
				t.Fatal(res.Reason)
			case Fail:
				for _, f := range res.Failures() {
					fails, why := s.fails(f)
					if fails {
						t.Error(f)
					} else {
						t.Logf("%s\n%s", why, f)
					}
				}
			}
		})
	}
	for _, r := range s.health.remarks() {
		t.Log(r)
	}
}

// wavered says what became of a failure that did not show again in the same way.
func (r *Result) wavered() string {
	switch r.Status {
	case Fail:
		return "beside what is told as failed, this failed once and did not when time went by more slowly; the machine is busy, or the target not steady"
	case Skip:
		return "failed at first, and did not come as far when it was run again"
	case Broken:
		return "failed at first, and could not be judged in the end"
	default:
		return "failed at first and passed when time went by more slowly; the machine is busy, or the target not steady"
	}
}

// fails says whether a failure fails the test, and if not why.
func (s Suite) fails(f *Failure) (bool, string) {
	if s.Known != nil {
		if e, ok := s.Known.Find(f); ok {
			return false, fmt.Sprintf("known (%s:%d), does not fail:", s.Known.Name, e.Line)
		}
	}
	switch {
	case s.Exact, f.Class != classic.Compat.String() && f.Class != classic.Quirk.String():
		return true, ""
	case f.Class == classic.Compat.String() && s.Strict:
		return true, ""
	case f.Class == classic.Compat.String():
		return false, "a difference in a compat rule; it fails with Suite.Strict:"
	default:
		return false, "a difference in a quirk, which nobody has to share:"
	}
}

// ahead starts all scenarios in the background and returns a function that waits for a result. If the test was asked for single
// subtests (-run Name/scenario), each runs when it is asked for.
func (s Suite) ahead(ctx context.Context, tg target.Target) func(int) Result {
	groups := newBudget(tg.Capabilities().MaxGroups)
	if f := flag.Lookup("test.run"); f != nil && strings.Contains(f.Value.String(), "/") {
		return func(i int) Result { return s.one(ctx, tg, s.Scenarios[i], groups) }
	}
	results := make([]chan Result, len(s.Scenarios))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	go func() {
		s.run(ctx, tg, func(int) {}, func(i int, r Result) { results[i] <- r })
	}()
	return func(i int) Result { return <-results[i] }
}
