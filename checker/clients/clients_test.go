package clients

import (
	"bytes"
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

var deep = flag.Bool("deep", false, "explore the deep runs too (half a minute)")

// explored explores a run, which has to be complete, and returns the line of it in the goldens and what it has refuted.
func explored(t *testing.T, r Run) (string, []explore.Violation) {
	t.Helper()
	r.Refuted = r.Crash == Log
	report, healing := r.Explore(context.Background(), explore.Options{Workers: 2})
	t.Log(report.String())
	if !report.Complete {
		t.Error(report.String())
	}
	var refutations []explore.Violation
	for _, v := range report.Violations {
		if slices.ContainsFunc(refuted, func(p property) bool { return p.name == v.Property }) {
			refutations = append(refutations, v)
		} else {
			t.Errorf("%s: %s", r.Name, v)
		}
	}
	line := fmt.Sprintf("%s: %d states, %d transitions, depth %d", r.Name, report.States, report.Transitions, report.Depth)
	if r.Converge {
		line += fmt.Sprintf("; together in %d steps, Empty in %d", healing.Steps, healing.EmptySteps)
		for rule, n := range healing.Exempt {
			line += fmt.Sprintf("; from %d states somebody may be kept out by %s", n, rule)
		}
	}
	return line + "\n", refutations
}

// In every run, from every state, clients that heal get together, and a group that all have left becomes Empty; what a crash leaves true is
// true; and what one might believe of it is refuted by a shortest trace. Numbers are exact: a change of them is one of the specification
// or of what clients do.
func TestRunsToClosure(t *testing.T) {
	var sizes, traces strings.Builder
	shown := map[string]bool{}
	for _, r := range Runs() {
		line, refutations := explored(t, r)
		sizes.WriteString(line)
		for _, v := range refutations {
			if !shown[v.Property] {
				shown[v.Property] = true
				fmt.Fprintf(&traces, "%s\n%s\n", r.Name, v)
			}
		}
	}
	golden.Testdata(t, "sizes.txt", sizes.String())
	golden.Testdata(t, "refuted.txt", traces.String())
	for _, p := range refuted {
		if !shown[p.name] {
			t.Errorf("no run refutes %q: is it true after all?", p.name)
		}
	}
}

func TestDeepRuns(t *testing.T) {
	if !*deep {
		t.Skip("twenty seconds; go test -deep runs it")
	}
	var sizes strings.Builder
	for _, r := range Deep() {
		line, _ := explored(t, r)
		sizes.WriteString(line)
	}
	golden.Testdata(t, "sizes-deep.txt", sizes.String())
}

// Answers that come late make no difference to dynamic members: whoever is not in the next generation is no member any more.
func TestLateAnswersOfDynamicMembers(t *testing.T) {
	r := Run{Name: "late", Profile: classic.Java, Clients: 2, Lists: []string{"a"}}
	without, _ := r.Explore(context.Background(), explore.Options{})
	r.Late = true
	with, _ := r.Explore(context.Background(), explore.Options{})
	if !with.Ok() || with.States != without.States {
		t.Errorf("%d states with late answers, %d without", with.States, without.States)
	}
}

// However many workers there are, numbers and traces are the same, broken or not.
func TestWorkersAgree(t *testing.T) {
	for _, broken := range [][]classic.RuleID{nil, {classic.JoinCompleteTimeout}, {classic.HeartbeatStable}} {
		r := Run{Name: "agree", Profile: classic.Java, Clients: 2, Lists: []string{"a"}, WriteFailures: true, Converge: true, Broken: broken}
		var want string
		for workers := 1; workers <= 3; workers++ {
			report, healing := r.Explore(context.Background(), explore.Options{Workers: workers})
			report.Elapsed = 0
			var b bytes.Buffer
			if err := report.Print(&b); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%+v", healing)
			if workers == 1 {
				want = b.String()
			}
			if b.String() != want {
				t.Errorf("broken %v: %d workers say\n%s\none says\n%s", broken, workers, b.String(), want)
			}
		}
	}
}

// A packed state is the state, whatever is on.
func TestPacking(t *testing.T) {
	for _, r := range []Run{
		{Profile: classic.Java, Clients: 2, Static: 1, Lists: []string{"ab", "b"}, WriteInFlight: true, Late: true, Crash: Forget},
		{Profile: classic.Java, Clients: 2, Static: 1, Lists: []string{"a"}, WriteFailures: true, Crash: Log},
	} {
		m := r.machine()
		begin := m.initial()
		seen, queue := map[world]bool{begin: true}, []world{begin}
		for len(queue) > 0 && len(seen) < 4000 {
			w := queue[0]
			queue = queue[1:]
			m.successors(&w, func(a *act) bool {
				next, _ := canonical(a.next)
				if again, _ := canonical(next); again != next {
					t.Fatalf("%+v is canonical and has another canonical form, %+v", next, again)
				}
				k, ok := m.layout.pack(&next)
				if back := m.layout.unpack(k); !ok || back != next {
					t.Fatalf("%+v is packed to %x (%v) and unpacked to %+v", next, k, ok, back)
				}
				if !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
				return true
			})
		}
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	lists := []string{"a"}
	for _, test := range []struct {
		run  Run
		says string
	}{
		{Run{Clients: 5, Lists: lists}, "up to 4 clients"},
		{Run{Clients: 2, Static: 3, Lists: lists}, "3 of them static"},
		{Run{Lists: lists}, "room for 0 ids"},
		{Run{Clients: 2, Room: 5, Lists: lists}, "choose 1 to 4"},
		{Run{Clients: 2}, "no protocol lists"},
		{Run{Room: 2, Lists: lists, Converge: true}, "give it clients"},
		{Run{Clients: 2, Lists: lists, Late: true, Crash: Log}, "choose one"},
		{Run{Clients: 4, Static: 4, Room: 4, Lists: []string{"abc", "bca", "cab", "ab"}, Crash: Log}, "the key has 128"},
	} {
		if err := test.run.Check(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v; that should say %q", test.run, err, test.says)
		}
	}
	for _, r := range slices.Concat(Runs(), Deep()) {
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}
