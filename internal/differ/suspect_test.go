package differ

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance"
)

// TestSuspects holds that who is heard of a death is played only as far as it had come by then, and that those come first whom it does not take
// long to hear: to let time pass again, for each of two dozen, was more than there is time for, so that nothing was played at all.
func TestSuspects(t *testing.T) {
	lines := []string{"join A range=x", "advance 40s", "heartbeat A", "advance 60s"}
	at := time.Unix(100, 0)
	var all []suspect
	for i, texts := range [][][]string{
		{{"A: parked"}},                   // died in the first advance
		{},                                // in the join
		{{"A: NONE"}, {}, {"A: NONE"}},    // in the second advance
		{{"A: parked"}, {}},               // in the heartbeat
		{{"A: CONNECTION_CLOSED"}, {}},    // in the join, and played on
		{{"A: NONE"}, {}, {"A: x"}, {""}}, // it was at its end
	} {
		all = append(all, suspected(Sequence{Lines: lines, Seed: uint64(i)}, conformance.Played{Texts: texts, Last: at.Add(time.Duration(i) * time.Second)}))
	}
	var lengths []int
	for _, s := range all {
		lengths = append(lengths, len(s.seq.Lines))
	}
	if want := []int{2, 1, 4, 3, 1, 4}; !slices.Equal(lengths, want) {
		t.Errorf("lines that are played again: %d, want %d", lengths, want)
	}
	slices.SortStableFunc(all, suspect.before)
	var order []string
	for _, s := range all {
		order = append(order, string('0'+rune(s.seq.Seed)))
	}
	if got := strings.Join(order, " "); got != "4 3 1 5 2 0" {
		t.Errorf("heard in the order %s", got)
	}
}
