package nearest

import (
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	all := []string{
		"invariant I2: an Empty group has no members", "invariant I20: a group waits", "committed offsets go with the group",
		"the group is Stable", "the group is Empty", "the parked JoinGroup is answered",
	}
	for given, want := range map[string]string{
		"Invariant i2":        all[0] + "|" + all[1],
		"commited offset":     all[2],
		"parked join":         all[5],
		"the nosuch":          "", // "the" is in most of them
		"":                    "",
		"empty group members": all[0] + "|" + all[4],
	} {
		if got := strings.Join(Sentences(given, all, 2), "|"); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	if got := Sentences("is", all, 6); !slices.Equal(got, []string{all[3], all[4], all[5]}) {
		t.Errorf("in the order in which they came: %q", got)
	}
}
