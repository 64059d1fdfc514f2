package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// TestTornConnections holds that a connection which breaks elsewhere at each try convicts nobody of a rule, that one which breaks at the same
// request again does, and that the reason is told.
func TestTornConnections(t *testing.T) {
	const text = "join A range=x\njoin A\nsync A\n----\nA: MEMBER_ID_REQUIRED\nA: NONE gen=1 leader=A protocol=range members=[A:x]\nA: NONE \"\"\n"
	cut := fmt.Errorf("%w: in the middle of an answer", target.ErrClosed)
	garbage := errors.New("an answer has the correlation id 9 where 8 is next")
	for name, c := range map[string]struct {
		breaks []string // at each try, "" where nothing breaks
		err    error
		status Status
	}{
		"once":              {[]string{"JoinGroup"}, cut, Pass},
		"elsewhere":         {[]string{"JoinGroup", "SyncGroup"}, cut, Pass},
		"here and there":    {[]string{"JoinGroup", "SyncGroup", "JoinGroup"}, cut, Pass},
		"nearly always":     {[]string{"JoinGroup", "SyncGroup", "JoinGroup", "JoinGroup"}, cut, Fail},
		"twice":             {[]string{"SyncGroup", "SyncGroup"}, cut, Pass},
		"the same":          {[]string{"SyncGroup", "SyncGroup", "SyncGroup"}, cut, Fail},
		"garbage, the same": {[]string{"SyncGroup", "SyncGroup", "SyncGroup"}, garbage, Fail},
	} {
		try := 0
		h := sole(func(*exchange) time.Duration { return 0 })
		serve := h.special
		h.special = func(f *fake, x *exchange) bool {
			if req, ok := x.req.(*kmsg.JoinGroupRequest); ok && req.MemberID == "" {
				try++
			}
			_, leads := x.req.(*kmsg.JoinGroupRequest)
			if req, ok := x.req.(*kmsg.JoinGroupRequest); ok {
				leads = req.MemberID != ""
			}
			api := kmsg.NameForKey(x.req.Key())
			if try > 0 && try <= len(c.breaks) && api == c.breaks[try-1] && (leads || api == "SyncGroup") {
				f.fail(x, c.err)
				return true
			}
			return serve(f, x)
		}
		res := judged(t, newFake(h.serve), text)
		if res.Status != c.status {
			t.Errorf("%s: %s %s after %d tries, want %s", name, res.Status, res.Reason, try, c.status)
		}
		for _, f := range append(res.Failures(), res.Unsteady) {
			if f != nil && !strings.Contains(f.Note, c.err.Error()) {
				t.Errorf("%s: the note does not say why: %s", name, f.Note)
			}
		}
	}
}

// TestScatteredBreaks holds that connections which always break, each time elsewhere, are told as such.
func TestScatteredBreaks(t *testing.T) {
	n := 0
	again := func(int) Result {
		n++
		return Result{Status: Fail, Failure: &Failure{Block: 1, torn: fmt.Sprintf("form: %c(join): %s", 'A'+n, closedText)}}
	}
	first := Result{Status: Fail, Failure: &Failure{Block: 1, torn: "form: A(join): " + closedText}}
	if res := first.confirmed(again); res.Status != Broken || res.Failure != nil || !strings.Contains(res.Reason, "breaks connections") {
		t.Errorf("%s %q", res.Status, res.Reason)
	}
	n = 0
	other := func(int) Result {
		n++
		return Result{Status: Fail, Failure: &Failure{Block: 1 + n}}
	}
	first.Failure = &Failure{Block: 1}
	if res := first.confirmed(other); res.Status != Fail {
		t.Errorf("what is answered wrongly each time, each time elsewhere: %s %q", res.Status, res.Reason)
	}
}
