package converge

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// settled is a member of a generation that has its assignment.
func settled(id string, generation int32) *Member {
	return &Member{Client: &gen.Client{Name: id, Ids: []string{id}, JoinID: id, Generation: generation, Synced: true}, has: id}
}

// describes is a Stable group with members, each with its id for an assignment.
func describes(members ...*Member) *kmsg.DescribeGroupsResponseGroup {
	d := &kmsg.DescribeGroupsResponseGroup{State: "Stable"}
	for _, m := range members {
		d.Members = append(d.Members, kmsg.DescribeGroupsResponseGroupMember{MemberID: m.ID(), MemberAssignment: []byte(m.has)})
	}
	return d
}

// TestOneGeneration holds that clients which are in different generations are not together, whatever the group looks like.
func TestOneGeneration(t *testing.T) {
	a, b := settled("a", 3), settled("b", 3)
	g := &Group{Members: []*Member{a, b}}
	if !g.Settled() || !g.Whole(describes(a, b)) {
		t.Error("they are together")
	}
	b.Generation = 2
	if g.Settled() {
		t.Error("one of them is a generation behind, and they count as settled")
	}
	if g.Whole(describes(a, b)) {
		t.Error("one of them is a generation behind, and they count as whole")
	}
}

// TestOwed holds that a client of which its leader has not heard is not in, unless it has the place of another: a static member that was replaced since.
func TestOwed(t *testing.T) {
	a, b := settled("a", 3), settled("b", 3)
	g := &Group{Members: []*Member{a, b}, made: true, given: assignment{3, map[string]string{"a": "a", "former": "b"}}}
	if g.Whole(describes(a, b)) {
		t.Error("the leader has not heard of b, and they count as whole")
	}
	instance := "i"
	b.Instance = &instance
	if !g.Whole(describes(a, b)) {
		t.Error("b has the place of a member that the leader has heard of")
	}
	a.has = "another's"
	if g.Whole(describes(settled("a", 3), b)) {
		t.Error("a was given something else")
	}
}

// TestRestart holds that members start anew where another is refused for its protocols, and not again before that can have helped.
func TestRestart(t *testing.T) {
	a, b := settled("a", 3), &Member{Client: &gen.Client{Name: "b"}}
	g := &Group{Members: []*Member{a, b}, Patience: 10 * time.Second}
	refused := kmsg.NewPtrJoinGroupResponse()
	refused.ErrorCode = classic.CodeInconsistentGroupProtocol
	for _, step := range []struct {
		after time.Duration
		anew  bool
	}{{0, true}, {time.Second, false}, {9 * time.Second, false}, {11 * time.Second, true}, {20 * time.Second, false}, {22 * time.Second, true}} {
		anew := g.Heard(b, refused, time.Unix(1000, 0).Add(step.after))
		if got := len(anew) == 1 && anew[0] == a && a.JoinID == "" && a.mustJoin(); got != step.anew || len(anew) > 1 {
			t.Errorf("after %v: %d start anew, want it: %v", step.after, len(anew), step.anew)
		}
		*a.Client = *settled("a", 3).Client // it is in again
	}
	a.Synced = false
	if anew := g.Heard(b, refused, time.Unix(2000, 0)); len(anew) != 0 {
		t.Error("one that is on its way starts anew")
	}
}
