package runs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/exploration.md has the sizes of runs that are known here; when a run is added or its size changes, the page changes too.
func TestPageHasTheSizes(t *testing.T) {
	text, err := os.ReadFile("../../docs/exploration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	rest, states, transitions := 0, int64(0), int64(0)
	for _, r := range All() {
		k, ok := r.Known()
		if !ok {
			continue
		}
		by, row := "test", `(?m)^\| `+regexp.QuoteMeta(r.Name)+` \| (test|explore) \| ([0-9,]+) \|`
		if r.When == Night {
			by = "explore"
		}
		switch found := regexp.MustCompile(row).FindStringSubmatch(page); {
		case found != nil && (found[1] != by || found[2] != grouped(k.States)):
			t.Errorf("docs/exploration.md says %q of %s, which is made by %s and has %s states", found[0], r.Name, by, grouped(k.States))
		case found == nil && by == "explore":
			rest, states, transitions = rest+1, states+k.States, transitions+k.Transitions
		}
	}
	if want := fmt.Sprintf("| %d more | explore | together %s | %.0f million |", rest, grouped(states), float64(transitions)/1e6); !strings.Contains(page, want) {
		t.Errorf("docs/exploration.md has no line that begins: %s", want)
	}
}

// grouped is a number as people write it.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
