package linearize

import (
	"strings"
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

// TestToldByThePending holds that a JoinGroup which is answered while only an id that was handed out is missing is told by join.pending.blocks, and that the
// small history still has that id. Where a member is missing, it is told by join.preparing.parks.
func TestToldByThePending(t *testing.T) {
	for _, test := range []struct {
		rule   string
		joined bool // A has joined again
	}{{"join.pending.blocks", true}, {"join.preparing.parks", false}} {
		t.Run(test.rule, func(t *testing.T) {
			b := newBook("reference")
			b.alone()                                     // 1 to 3
			b.join("b", 10, 11, "", refusedJoin(79, "B")) // 4
			b.join("c", 10, 11, "", refusedJoin(79, "C")) // 5 is pending
			b.heartbeat("a", 12, 13, "A", 1, 0)           // 6
			if test.joined {
				b.join("a", 22, 41, "A", joined(2, "A", "A", "A", "B"))
			}
			b.join("b", 20, 40, "B", joined(2, "A", "B"))
			f, err := Explain(t.Context(), &b.History, "g", Explaining{Out: t.TempDir()})
			if err != nil || f.Rule != test.rule {
				t.Fatalf("%s (%s) %v\n%s", f.Rule, f.Class, err, f.Text)
			}
			if strings.Contains(f.Text, "MEMBER_ID_REQUIRED member=C") != test.joined {
				t.Error(f.Text)
			}
		})
	}
}
