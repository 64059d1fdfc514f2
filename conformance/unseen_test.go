package conformance

import "testing"

// TestUnseenGroup holds that a group which DescribeGroups does not show yet (describe.unseen) is not taken for one without members: a newcomer
// waits for those that have been answered, and is not waited for while their sessions run out.
func TestUnseenGroup(t *testing.T) {
	a, b := &actor{name: "A", group: "g", joinID: "A-id", gen: 1}, &actor{name: "B", group: "g"}
	r := &run{order: []*actor{a, b}}
	newcomer := &request{verb: "join", actor: b, group: "g"}
	for _, state := range []string{"Dead", "Empty"} {
		for name, c := range map[string]struct {
			id    string
			gen   int32
			group string
			alone bool
		}{
			"A is a member":    {"A-id", 1, "g", false},
			"A was only named": {"A-id", 0, "g", true},
			"A has left":       {"", 1, "g", true},
			"A is in another":  {"A-id", 1, "h", true},
		} {
			a.joinID, a.gen, a.group = c.id, c.gen, c.group
			if got := r.joinsAlone(newcomer, view{state: state}); got != c.alone {
				t.Errorf("%s, %s: B joins alone: %v", state, name, got)
			}
		}
	}
	a.joinID, a.gen, a.group = "A-id", 1, "g"
	if !r.joinsAlone(&request{verb: "join", actor: a, group: "g"}, view{state: "Empty"}) {
		t.Error("nobody waits for oneself")
	}
}
