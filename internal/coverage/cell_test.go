package coverage

import (
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/model/classic"
)

func TestCellsAreReadAsWritten(t *testing.T) {
	for rule := range classic.Rules() {
		for state := range states {
			for outcome := range outcomes {
				c := Cell{classic.RuleID(rule), state, outcome}
				if got, err := ParseCell(c.String()); err != nil || got != c {
					t.Fatalf("%v is read as %v: %v", c, got, err)
				}
			}
		}
	}
	for _, wrong := range []string{"", "join.nothing Stable answer", "sync.preparing Stables answer", "sync.preparing Stable answered", "sync.preparing Stable"} {
		if c, err := ParseCell(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, c)
		}
	}
}

// The same transitions are counted whether they are judged or not, and by however many workers.
func TestExplorationIsCountedWhole(t *testing.T) {
	g := explore.Group{Name: "2 members", Profile: classic.Java, Members: 2, Lists: []string{"a"}, WriteFailures: true}
	judged := explore.Run(t.Context(), g.Name, g.Machine, explore.Options{})
	one, err := Explore(t.Context(), []explore.Group{g}, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Explore(t.Context(), []explore.Group{g}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if *one != *two {
		t.Error("two workers count otherwise than one")
	}
	moves := 0
	for _, to := range one.Moves {
		for _, n := range to {
			moves += n
		}
	}
	if moves == 0 || int64(moves) > judged.Transitions {
		t.Errorf("%d steps counted of %d transitions", moves, judged.Transitions)
	}
	for cell, want := range map[string]bool{
		"sync.follower.parks CompletingRebalance parked":   true,
		"sync.follower.parks Stable parked":                false,
		"join.parked.superseded PreparingRebalance silent": true,
		"session.expires Stable silent":                    true,
	} {
		c, err := ParseCell(cell)
		if err != nil {
			t.Fatal(err)
		}
		if got := one.Seen(c) > 0; got != want {
			t.Errorf("%s: reached %v, want %v", cell, got, want)
		}
	}
}

func TestScenariosAreListenedTo(t *testing.T) {
	sc, err := conformance.Parse("one.txt", []byte("# A member alone.\n# rule: join.new.member-id-required\n\njoin A range=x\n----\nA: MEMBER_ID_REQUIRED\n\njoin A\n----\nA: NONE gen=1 leader=A protocol=range members=[A:x]\n"))
	if err != nil {
		t.Fatal(err)
	}
	visits, err := Visits(t.Context(), "4.3.1", []*conformance.Scenario{sc})
	if err != nil || visits[0].Fails != "" || visits[0].Skipped != "" {
		t.Fatalf("%v %+v", err, visits)
	}
	var got []string
	for _, c := range visits[0].Counts.Cells() {
		got = append(got, c.String())
	}
	want := []string{
		"join.complete.generation Empty answer", "join.complete.vote Empty answer", "join.empty.rebalances Empty answer", "join.group.created absent answer", "join.new.member-id-required absent answer",
	}
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			t.Errorf("%s is not visited; these are: %v", w, got)
		}
	}
}
