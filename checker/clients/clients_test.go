package clients

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

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
