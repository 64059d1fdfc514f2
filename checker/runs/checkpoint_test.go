package runs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// asked are the runs of a way of asking that has one.
func asked(t *testing.T, a Asked) Run {
	t.Helper()
	found, err := a.Runs()
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v asks for %d runs: %v", a, len(found), err)
	}
	return found[0]
}

// told is all that an outcome says but how long it took.
func told(t *testing.T, o Outcome) string {
	t.Helper()
	o.Elapsed = 0
	var b bytes.Buffer
	if err := o.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String() + o.Text() + strings.Join(o.Missing, "\n")
}

// A run that is left twice, and read from a file each time, ends as one that was never left: numbers, traces, how clients heal, what is reached.
func TestResumedRuns(t *testing.T) {
	for _, a := range []Asked{
		{Run: "3 static members"},
		{Run: "3 static members", Broken: classic.StaticRetained.String()},
		{Run: "initial delay", Profile: "3.4", Properties: []string{"timer"}, Without: []string{"heartbeat", "DescribeGroups"}},
		{Run: "2 clients"},
		{Run: "2 clients, lists apart", Broken: classic.JoinCompleteTimeout.String()},
		{Run: "crash pairs, 2 ids"},
	} {
		r := asked(t, a)
		want := told(t, r.Explore(context.Background(), explore.Options{Workers: 2}, nil))
		path := filepath.Join(t.TempDir(), "left")
		var left *Left
		for _, states := range []int{200, 500} {
			out := r.Explore(context.Background(), explore.Options{Workers: 2, MaxStates: states}, left)
			if out.Complete || out.Left == nil {
				t.Fatalf("%s is not left: %s", r.Name, out)
			}
			if err := Save(path, "this build", r, out.Left); err != nil {
				t.Fatal(err)
			}
			again, read, err := Resume(t.Context(), path, "this build")
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again.Asked(), a) || again.Name != r.Name {
				t.Fatalf("asked for %+v, resumed %+v", a, again.Asked())
			}
			r, left = again, read
		}
		if got := told(t, r.Explore(context.Background(), explore.Options{Workers: 1}, left)); got != want {
			t.Errorf("%s, left twice, ends with\n%s\nin one go with\n%s", r.Name, got, want)
		}
	}
}

// A checkpoint of another build, of other settings, or one that something has happened to is refused, and says why.
func TestRefusedCheckpoints(t *testing.T) {
	r := asked(t, Asked{Run: "3 static members"})
	out := r.Explore(context.Background(), explore.Options{MaxStates: 200}, nil)
	dir := t.TempDir()
	path := filepath.Join(dir, "left")
	if err := Save(path, "this build", r, out.Left); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what, says string, text []byte, build string) {
		t.Helper()
		file := filepath.Join(dir, "refused")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Resume(t.Context(), file, build)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v; that should name the file and say %q", what, err, says)
		}
	}
	refused("another build", "another build of Muster (this build, this is that build)", whole, "that build")
	refused("cut short", "damaged", whole[:len(whole)-1], "this build")
	refused("cut to its first line", "damaged", whole[:len(magic)], "this build")
	refused("nothing", "no checkpoint", nil, "this build")
	refused("something else", "no checkpoint", []byte(strings.Repeat("something else\n", 100)), "this build")
	refused("of another version", "no checkpoint", bytes.Replace(whole, []byte(magic), []byte("muster exploration 2\n"), 1), "this build")
	for at := len(magic); at < len(whole); at += len(whole) / 50 {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		refused("one bit changed", "damaged", changed, "this build")
	}
	if _, _, err := Resume(t.Context(), dir, "this build"); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}

	// Settings: the same name, another run.
	g := *r.Group
	g.AnySubset = !g.AnySubset
	r.Group = &g
	if err := Save(path, "this build", r, out.Left); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(t.Context(), path, "this build"); err == nil || !strings.Contains(err.Error(), "other settings") {
		t.Errorf("other settings: %v", err)
	}

	// Nothing is left over, and what was there stays where the new one cannot be written.
	if err := Save(filepath.Join(dir, "no such folder", "left"), "this build", r, out.Left); err == nil {
		t.Error("a checkpoint is saved nowhere")
	}
	kept, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(kept) != 2 {
		t.Errorf("%v are left over (%v)", kept, err)
	}
}
