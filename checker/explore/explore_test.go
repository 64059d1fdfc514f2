package explore

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/muster-kafka/muster/model/classic"
)

// A packed prototype that was written independently, to size the state space, counted these states for one list, any assignment and
// writes that never fail; with dynamic members alone, and with static ones.
func TestSizesOfThePrototype(t *testing.T) {
	for _, test := range []struct {
		static bool
		sizes  []int64
	}{{false, []int64{9, 56, 283, 1094}}, {true, []int64{13, 195, 1820}}} {
		for i, want := range test.sizes {
			g := Group{Profile: classic.Java, Members: i + 1, Lists: []string{"a"}, AnySubset: true, Static: test.static}
			r := Run(context.Background(), fmt.Sprint(i+1, " members"), g.Machine, Options{Workers: 2})
			if !r.Ok() || r.States != want {
				t.Errorf("%s; the prototype counted %d states", r, want)
			}
		}
	}
}

// However many workers there are, numbers and traces are the same, broken or not.
func TestWorkersAgree(t *testing.T) {
	for _, broken := range [][]classic.RuleID{nil, {classic.SyncAborted}, {classic.JoinCompleteVote}, {classic.JoinCompleteTimeout}} {
		g := Group{Profile: classic.Java, Members: 2, Lists: []string{"ab", "ba", "b"}, AnySubset: true, WriteFailures: true, Broken: broken}
		var want string
		for workers := 1; workers <= 3; workers++ {
			r := Run(context.Background(), "agree", g.Machine, Options{Workers: workers})
			r.Elapsed = 0
			var b bytes.Buffer
			if err := r.Print(&b); err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				want = b.String()
			}
			if b.String() != want {
				t.Errorf("broken %v: %d workers say\n%s\none says\n%s", broken, workers, b.String(), want)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	g := Group{Profile: classic.Java, Members: 3, Lists: []string{"ab", "b"}}
	r := Run(context.Background(), "small", g.Machine, Options{MaxStates: 100})
	if r.Complete || r.Ok() || r.States <= 100 || r.Frontier == 0 || r.Reason == "" {
		t.Errorf("a search beyond its limit ends with %+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	r = Run(ctx, "cancelled", g.Machine, Options{Workers: 2, Progress: func(p Progress) {
		calls++
		if p.Depth >= 3 {
			cancel()
		}
	}})
	if r.Complete || r.Reason != context.Canceled.Error() || r.Depth > 4 || calls < 3 {
		t.Errorf("a cancelled search ends with %+v after %d calls of Progress", r, calls)
	}
}
