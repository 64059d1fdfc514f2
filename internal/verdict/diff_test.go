package verdict

import (
	"strings"
	"testing"
	"time"
)

// TestNothingPlayed holds that muster diff does not play nothing without a word.
func TestNothingPlayed(t *testing.T) {
	for want, d := range map[string]DiffCounts{
		"nothing is known; raise --budget":                                       {},
		"a target ended by itself 1 time while 23 sequences were at work; raise": {Deaths: 1, Lost: 23},
		"a target ended by itself 2 times while 1 sequence was at work; raise":   {Deaths: 2, Lost: 1},
	} {
		v := New("0", "kfake", "kafka:4.4.0", 1)
		v.Diff = &d
		v.Finish(Diff)
		v.Close(false, nil, time.Second)
		if got := strings.Join(v.Reasons, "\n"); v.Result != Inconclusive || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", v.Result, got, want)
		}
	}
}

// TestLostMore holds that the few sequences that were played do not speak for a target that ended by itself and took more with it.
func TestLostMore(t *testing.T) {
	for _, c := range []struct {
		d    DiffCounts
		want Result
	}{
		{DiffCounts{Sequences: 2, Deaths: 1, Lost: 22}, Inconclusive},
		{DiffCounts{Sequences: 22, Deaths: 1, Lost: 22}, Pass},
		{DiffCounts{Sequences: 2}, Pass},
	} {
		v := New("0", "kfake", "kafka:4.4.0", 1)
		v.Diff = &c.d
		v.Finish(Diff)
		v.Close(false, nil, time.Second)
		if got := strings.Join(v.Reasons, "\n"); v.Result != c.want || v.Result != Pass && got != "diff: a target ended by itself 1 time, and 22 sequences were at work then, which is more than the 2 that were played to the end; raise --budget" {
			t.Errorf("%+v: %s, %q", c.d, v.Result, got)
		}
	}
}

// TestDiffClasses holds that what two targets differ in is a failure as it is in a scenario: by its class, unless it is explained.
func TestDiffClasses(t *testing.T) {
	for _, c := range []struct {
		rule, class   string
		known, strict bool
		fails         bool
	}{
		{rule: "join.parked.superseded"},
		{rule: "join.parked.superseded", strict: true},
		{rule: "join.reply.error"},
		{rule: "join.reply.error", strict: true, fails: true},
		{rule: "join.complete.generation", fails: true},
		{rule: "join.complete.generation", known: true},
		{rule: "join.reply.error", class: "contract", fails: true}, // the process ended
		{fails: true}, // nobody knows a rule
	} {
		v := New("0", "a", "b", 1)
		v.Diff = &DiffCounts{Sequences: 1}
		v.Find(Finding{Judge: Diff, Rule: c.rule, Class: c.class, Registered: c.known})
		v.Finish(Diff)
		v.Close(c.strict, nil, time.Second)
		if fails := v.Result == Fail; fails != c.fails || len(v.Failures)+len(v.Differences) != 1 {
			t.Errorf("%+v: %s, %d failures, %d differences", c, v.Result, len(v.Failures), len(v.Differences))
		}
	}
}
