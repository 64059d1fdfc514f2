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
