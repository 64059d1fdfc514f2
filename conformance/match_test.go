package conformance

import (
	"strings"
	"testing"
)

// TestResembles holds how a failure is told whose text is that of another release.
func TestResembles(t *testing.T) {
	s := scenario(t, `
# rule: leave.last.empties
join A range=x
----
A: NONE
---- [<4.0] leave.one-by-one: it reacts to each entry
A: parked
---- [<2.6] heartbeat.completing: members were told to rejoin
A: REBALANCE_IN_PROGRESS
---- [2.5] another defect
A: FENCED_INSTANCE_ID
---- [2.4] leave.batch: a compat rule
A: INVALID_GROUP_ID
---- contract: leave.batch
A: UNKNOWN_MEMBER_ID
`)
	b := s.File.Blocks[0]
	for _, c := range []struct{ release, got, class, rules, others string }{
		{"", "A: parked", "quirk", "leave.one-by-one leave.last.empties", "Kafka <4.0: it reacts to each entry"},
		{"", "A: REBALANCE_IN_PROGRESS", "contract", "heartbeat.completing leave.last.empties", "Kafka <2.6: members were told to rejoin"},
		{"", "A: FENCED_INSTANCE_ID", "contract", "leave.last.empties", "Kafka 2.5: another defect"},
		{"", "A: INVALID_GROUP_ID", "quirk", "leave.batch leave.last.empties", "Kafka 2.4: a compat rule"},
		{"", "A: something else", "contract", "leave.last.empties", ""},
		{"3.9.2", "A: NONE", "quirk", "leave.one-by-one leave.last.empties", "Kafka 4.3.1"},
		{"3.9.2", "A: REBALANCE_IN_PROGRESS", "contract", "heartbeat.completing leave.last.empties", "Kafka <2.6: members were told to rejoin"},
		{"4.3.1", "A: UNKNOWN_MEMBER_ID", "contract", "leave.last.empties", "what the contract of leave.batch allows"},
	} {
		got := []string{c.got}
		expected := candidates(b, c.release)
		f := s.failure(0, expected[0], got)
		f.resembles(alike(b, expected, got), expected[0])
		if f.Class != c.class || strings.Join(f.Rules, " ") != c.rules || strings.Join(f.Others, ";") != c.others {
			t.Errorf("%s as %q: %s %q %q, want %+v", c.got, c.release, f.Class, f.Rules, f.Others, c)
		}
	}
	if others := alike(b, candidates(b, ""), []string{"A: UNKNOWN_MEMBER_ID"}); len(others) > 0 {
		t.Errorf("what a stranger may give is no other's text: %v", others[0].Title())
	}
}
