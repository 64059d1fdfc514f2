package core_test

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

// Soonest first; of one deadline, the one armed first; arming again replaces; a cancelled one is gone.
func TestTimerQueue(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	id := func(member string) core.TimerID {
		return core.TimerID{Group: "g", Kind: core.SessionTimer, Member: member}
	}
	var q core.TimerQueue
	for seq, arm := range []struct {
		member   string
		deadline int64
	}{{"late", 9}, {"tie1", 5}, {"tie2", 5}, {"gone", 1}, {"moved", 2}, {"moved", 7}} {
		q.Apply(core.Arm{Timer: id(arm.member), Seq: uint64(seq), Deadline: at(arm.deadline)})
	}
	q.Apply(core.Cancel{Timer: id("gone")})
	q.Apply(core.Cancel{Timer: id("never armed")})
	for i, want := range []string{"tie1", "tie2", "moved", "late"} {
		if got := q.Timers(); len(got) != 4 || got[i].Timer.Member != want {
			t.Fatalf("timers: %+v", got)
		}
	}
	if _, ok := q.TakeDue(at(4)); ok {
		t.Error("taken before its time")
	}
	if due, ok := q.TakeDue(at(5)); !ok || due.Timer != id("tie1") || due.Seq != 1 {
		t.Errorf("due: %+v", due)
	}
	if due, ok := q.Take(id("moved")); !ok || due.Seq != 5 {
		t.Errorf("taken: %+v", due)
	}
	if _, ok := q.Take(id("moved")); ok {
		t.Error("taken twice")
	}
	if d, ok := q.Deadline(id("late")); !ok || !d.Equal(at(9)) {
		t.Errorf("deadline: %v", d)
	}
	if _, ok := q.Deadline(id("gone")); ok {
		t.Error("the cancelled one has a deadline")
	}
}
