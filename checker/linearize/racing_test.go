package linearize

import (
	"testing"
	"time"
)

// TestKeepsWhatRaced holds that a small history has the call that was open at the same time as the wrong one and is about the same member, although the history
// is wrong without it: it may be why.
func TestKeepsWhatRaced(t *testing.T) {
	b := newBook("reference")
	b.joinStatic("a", 0, 3, joined(1, "A", "A", "A")) // 1
	b.sync("a", 4, 5, "A", 1, []string{"A"}, 0, "A")  // 2
	b.heartbeat("a", 6, 7, "A", 1, 0)                 // 3 had ended before
	b.commit("e", 19, 31, "", -1, 1, 25)              // 4 is nobody's
	b.joinStatic("b", 20, 30, refusedJoin(25, ""))    // 5 is wrong
	b.leaveStatic(25, 35, "i", 0)                     // 6
	small, found := minimise(t.Context(), &b.History, "g", Limits{}, 20*time.Second)
	if found == nil || found.wrong.id != 5 {
		t.Fatal(found)
	}
	kept := map[int64]bool{}
	for i := range small.Calls {
		kept[small.Calls[i].ID] = true
	}
	if !kept[6] || kept[3] || kept[4] {
		t.Errorf("kept are %v", kept)
	}
}
