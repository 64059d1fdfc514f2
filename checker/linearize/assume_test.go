package linearize

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/muster-kafka/muster/checker/history"
)

// TestPlain holds that a search which takes it that nothing comes between two steps of a request explains what needs nothing of that, and none of what Kafka has done between two: so it
// is narrower than the one after it, and not the same.
func TestPlain(t *testing.T) {
	plain := func(t *testing.T, h *history.History, group string) porcupine.CheckResult {
		config, p, err := prepare(h, group, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		first := p.assumptions(true)[0]
		if !first.plain || !first.narrower {
			t.Fatalf("the first search takes %+v for granted", first)
		}
		_, result := search(t.Context(), config, first, Limits{}.withDefaults(), time.Minute)
		return result
	}
	for _, profile := range []string{"3.9.2", "4.3.1"} {
		b := newBook(profile)
		b.alone()
		b.second()
		b.sync("a", 30, 31, "A", 2, []string{"A", "B"}, 0, "A")
		b.sync("b", 32, 33, "B", 2, nil, 0, "B")
		b.heartbeat("a", 40, 41, "A", 2, 0)
		if got := plain(t, &b.History, "g"); got != porcupine.Ok {
			t.Errorf("%s: a plain history is %v", profile, got)
		}
	}
	files, err := filepath.Glob("testdata/kafka/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	wrong := 0
	for _, file := range files {
		h, _, err := history.ReadFile(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range h.Header.Groups {
			if _, _, err := prepare(h, group, Limits{}); err == nil && plain(t, h, group) == porcupine.Illegal {
				wrong++
			}
		}
	}
	if wrong < len(files)/2 { // the settings of the specification tell what came between in some
		t.Errorf("nothing came between two steps in all but %d of %d histories", wrong, len(files))
	}
}
