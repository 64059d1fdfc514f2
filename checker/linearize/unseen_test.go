package linearize

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// TestCoversWhatIsOnItsWay holds that of two explanations which differ in when the group was made, that stands for both by which its record may be written later.
func TestCoversWhatIsOnItsWay(t *testing.T) {
	w := observe.NewWorld(observe.Config{Profile: classic.Java, EarlyAnswers: true})
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType, join.SessionTimeoutMillis = "g", "consumer", 10_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	made := func(at observe.Window) explanation {
		var e explanation
		r := observe.Request{Ticket: 1, Message: join, Version: 5, Minted: "A"}
		if err := w.Apply(w.NewBranch("g"), r, at, func(o observe.Outcome) bool { e.branch = o.Branch; return true }); err != nil {
			t.Fatal(err)
		}
		e.seal()
		e.timers = nil // they would tell, too
		return e
	}
	early, late := made(observe.Window{Earliest: 0, Latest: 10}), made(observe.Window{Earliest: 0, Latest: 20})
	if early.key != late.key || !late.covers(&early) || early.covers(&late) {
		t.Errorf("%v, %v, %v: want true, true, false", early.key == late.key, late.covers(&early), early.covers(&late))
	}
	before, after := early, early
	was, is := int64(1), int64(2)
	before.cleaned, after.cleaned = &was, &is
	before.seal()
	after.seal()
	if before.key != after.key || before.key == early.key || !before.covers(&after) || after.covers(&before) {
		t.Error("what was removed earlier may be removed again earlier")
	}
	both, ok := observe.Hull(early.branch, late.branch)
	if !ok {
		t.Fatal("they cannot be merged")
	}
	if when, ok := both.Unwritten(); !ok || when.Latest != 20 {
		t.Errorf("merged: %v, %v", when, is)
	}
}
