package runs

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
)

// leftAt is a run that was left after so many states.
func leftAt(t *testing.T, r Run, states int) *Left {
	t.Helper()
	out := r.Explore(context.Background(), explore.Options{MaxStates: states}, nil)
	if out.Left == nil {
		t.Fatalf("%s is not left: %s", r.Name, out)
	}
	return out.Left
}

// A checkpoint never replaces one that is worth more: what came further is kept, and gone on with; what is of another run, or nothing of ours, is left alone.
func TestKeepReplacesNothingOfWorth(t *testing.T) {
	r, other := asked(t, Asked{Run: "3 static members"}), asked(t, Asked{Run: "3 static members", Without: []string{"Heartbeat"}})
	near, far := leftAt(t, r, 200), leftAt(t, r, 800)
	if near.Search.Depth() >= far.Search.Depth() {
		t.Fatalf("left at depth %d and %d", near.Search.Depth(), far.Search.Depth())
	}
	save := func(r Run, left *Left, build string) func(string) error {
		return func(path string) error { return Save(path, build, r, left) }
	}
	for name, c := range map[string]struct {
		before func(path string) error
		left   *Left
		at     string // where it is then
		kept   bool   // the one that was there
	}{
		"nothing is there":              {func(string) error { return nil }, near, "x.checkpoint", false},
		"one that came further":         {save(r, far, "this"), near, "x.checkpoint", true},
		"one that came less far":        {save(r, near, "this"), far, "x.checkpoint", false},
		"one that came as far":          {save(r, far, "this"), far, "x.checkpoint", false},
		"one of another run":            {save(other, leftAt(t, other, 100), "this"), far, "x.2.checkpoint", false},
		"further, by another build":     {save(r, far, "that"), near, "x.2.checkpoint", false},
		"less far, by another build":    {save(r, near, "that"), far, "x.checkpoint", false},
		"something else":                {func(path string) error { return os.WriteFile(path, []byte("something else"), 0o644) }, far, "x.2.checkpoint", false},
		"a folder":                      {func(path string) error { return os.Mkdir(path, 0o755) }, far, "x.2.checkpoint", false},
		"further, and not whole":        {func(path string) error { return cutShort(save(r, far, "this"), path) }, near, "x.checkpoint", false},
		"one of which only a header is": {func(path string) error { return os.WriteFile(path, []byte(magic), 0o644) }, near, "x.checkpoint", false},
	} {
		path := filepath.Join(t.TempDir(), "x.checkpoint")
		if err := c.before(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		kept, err := Keep(t.Context(), path, "this", r, c.left)
		if err != nil || filepath.Base(kept.Path) != c.at || (kept.Further != nil) != c.kept {
			t.Errorf("%s: %+v, %v", name, kept, err)
			continue
		}
		want := c.left
		if c.kept {
			want = far
		}
		if _, read, err := Resume(t.Context(), kept.Path, "this"); err != nil || read.Search.States() != want.Search.States() {
			t.Errorf("%s: what is gone on with is not the one with %d states: %v", name, want.Search.States(), err)
		}
		if after, _ := os.ReadFile(path); kept.Path != path && string(after) != string(before) {
			t.Errorf("%s: it has been changed", name)
		}
	}
	if there, err := r.At(t.Context(), filepath.Join(t.TempDir(), "no", "such")); err != nil || !there.Nothing {
		t.Errorf("where nothing is: %+v, %v", there, err)
	}
}

func cutShort(save func(string) error, path string) error {
	if err := save(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()-1)
}

func TestNumbered(t *testing.T) {
	for want, got := range map[string]string{"a/x.checkpoint": numbered("a/x.checkpoint", 1), "a/x.3.checkpoint": numbered("a/x.checkpoint", 3), "here.2": numbered("here", 2)} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
