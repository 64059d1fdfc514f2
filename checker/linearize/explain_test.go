package linearize

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
)

// TestFailuresAreMadeSmall explains histories with one wrong answer: what is left must be judged illegal again, be smaller, and
// name the call.
func TestFailuresAreMadeSmall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 7))
	var before, after, explained int
	for _, m := range mutations {
		o := simOptions{seed: 30_000, groups: 2, clients: 6, calls: 200}
		if m.Silent {
			o.profile = "java"
		}
		h := simulate(t, o)
		mutated := mutate(t, r, h, m)
		if mutated == nil {
			t.Fatalf("%s: nothing to change", m.Name)
		}
		v, err := Check(t.Context(), mutated, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range v.Groups {
			if g.Result != Illegal {
				continue
			}
			f, err := Explain(t.Context(), mutated, g.Group, Explaining{Out: t.TempDir(), Budget: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			again, small, err := CheckFile(t.Context(), f.File, Limits{})
			if err != nil || again.Result != Illegal || len(again.Problems) > 0 {
				t.Fatalf("%s: judged again: %v %s %v %v", m.Name, again.Result, again.Reason, again.Problems, err)
			}
			names := regexp.MustCompile(`which was seen then:\n\n  #(\d+) `)
			told := names.FindStringSubmatch(f.Text)
			if told == nil || !strings.Contains(f.Text, "#"+told[1]+"=#") {
				t.Errorf("%s: the wrong call is not told by its number in the file and in the whole run:\n%s", m.Name, f.Text)
			}
			saved, _ := os.ReadFile(f.File)
			recheck, err := Explain(t.Context(), small, g.Group, Explaining{Out: filepath.Dir(f.File), Budget: 2 * time.Second, Again: true})
			if err != nil {
				t.Fatal(err)
			}
			if now, _ := os.ReadFile(f.File); string(now) != string(saved) {
				t.Errorf("%s: judging %s again changed it", m.Name, f.File)
			}
			if retold := names.FindStringSubmatch(recheck.Text); strings.Contains(recheck.Text, "Next:") || retold == nil || retold[1] != told[1] {
				t.Errorf("%s: the same fault is told otherwise, or leads here again:\n%s", m.Name, recheck.Text)
			}
			explained++
			before, after = before+g.Calls, after+len(small.Calls)
			if f.Rule == "" || !strings.Contains(f.Text, "In an order that explains all the rest:") || !strings.HasSuffix(f.Text, "Next: muster check "+f.File+"\n") {
				t.Errorf("%s: rule %q, text:\n%s", m.Name, f.Rule, f.Text)
			}
			if page, err := os.ReadFile(f.Page); err != nil || len(page) < 1000 {
				t.Errorf("%s: page: %v", m.Name, err)
			}
			changed := changedCall(h, mutated)
			kept := false
			for _, c := range small.Calls {
				kept = kept || c.Was == changed
			}
			if !kept {
				t.Errorf("%s: call %d, whose answer was changed, is not among the calls that are left:\n%s", m.Name, changed, f.Text)
			}
		}
	}
	t.Logf("%d failures: %d calls before, %d after", explained, before, after)
	if after*2 > before || explained < len(mutations)/2 {
		t.Errorf("%d of %d calls are left in %d failures", after, before, explained)
	}
}

func changedCall(a, b *history.History) int64 {
	for i := range a.Calls {
		if string(a.Calls[i].Response) != string(b.Calls[i].Response) {
			return a.Calls[i].ID
		}
	}
	return 0
}

// fading is a context that ends when it has been asked so often.
type fading struct {
	context.Context
	left *int
}

func (f fading) Err() error {
	if *f.left--; *f.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestNoTimeToExplain explains in less and less time, down to none: what is told may be less, but it is told.
func TestNoTimeToExplain(t *testing.T) {
	b := newBook("reference")
	b.alone()
	b.heartbeat("a", 10, 11, "A", 2, 0)
	for left := range 60 {
		if page, why := view(fading{t.Context(), &left}, &b.History, "g", Limits{}, nil); (page == "") != (why != "") {
			t.Errorf("a picture of %d bytes, and why there is none: %q", len(page), why)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if f, err := Explain(ctx, &b.History, "g", Explaining{Out: t.TempDir()}); err != nil || f.File == "" || f.Text == "" {
		t.Errorf("%+v %v", f, err)
	}
}

// TestDrawingEnds draws a history that is wide, with too little time: porcupine must not be asked for what is gone.
func TestDrawingEnds(t *testing.T) {
	b := newBook("reference")
	for i := range 12 {
		b.commit("a", 0, 100, "", -1, int64(i), 0)
	}
	b.fetch("b", 200, 201, 99) // nobody committed it
	for _, d := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		if page, why := view(ctx, &b.History, "g", Limits{Explanations: 40}, nil); (page == "") != (why != "") {
			t.Errorf("in %v a picture of %d bytes, and why there is none: %q", d, len(page), why)
		}
		cancel()
	}
}
