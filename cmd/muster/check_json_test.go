package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// holdChecked holds what check --json has written against the exit code of the same run, and returns it.
func holdChecked(t *testing.T, path, kind string, code int) checked {
	t.Helper()
	var doc checked
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{0: "legal", 1: "illegal"}[code]
	if want == "" {
		want = "unknown"
	}
	if doc.ExitCode != code || doc.Result != want || doc.Groups == nil || doc.Violations == nil || doc.Problems == nil {
		t.Errorf("of exit code %d the document has %+v", code, doc)
	}
	if code != 64 && doc.Kind != kind || (code == 2 || code == 64) && doc.Reason == "" {
		t.Errorf("of a file of %s the document has kind %q, reason %q", kind, doc.Kind, doc.Reason)
	}
	if kind == "ownership" && (code == 1) != (len(doc.Violations) > 0) {
		t.Errorf("exit code %d with %d violations", code, len(doc.Violations))
	}
	return doc
}

// TestCheckJSON holds that a program is told what a reader is: of a group that no order explains its text.
func TestCheckJSON(t *testing.T) {
	t.Parallel()
	kept, err := filepath.Abs(filepath.Join("..", "..", "checker", "linearize", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := filepath.Join(kept, "kafka", "4.3.1-replaced-while-it-assigned.jsonl"), filepath.Join(kept, "hostile.jsonl")
	whole, err := os.ReadFile(right)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, code := range map[string]int{right: 0, wrong: 1, writeText(t, "cut.jsonl", string(whole[:len(whole)/2])): 2} {
		path := filepath.Join(dir, "verdict.json")
		muster(t, time.Minute, "check", file, "--json", path).expect(t, code)
		doc := holdChecked(t, path, "history", code)
		explained := 0
		for _, g := range doc.Groups {
			if (g.Result == "illegal") != (g.Text != "") {
				t.Errorf("group %s is %s and has %d bytes of explanation", g.Group, g.Result, len(g.Text))
			}
			if g.Text != "" {
				explained++
			}
		}
		if len(doc.Groups) == 0 || (code == 1) != (explained > 0) || (code == 2) != (len(doc.Problems) > 0) {
			t.Errorf("exit code %d: %d groups, %d explained, %d problems", code, len(doc.Groups), explained, len(doc.Problems))
		}
	}
	muster(t, time.Minute, "check", right, "--json", filepath.Join(dir, "nowhere", "verdict.json")).expect(t, 3, "--json", "nothing was judged")
}

// TestCheckUnjudged: where nothing of a record can be judged its problems are told all the same, to readers and to programs.
func TestCheckUnjudged(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(filepath.Join("..", "..", "checker", "linearize", "testdata", "kafka", "4.3.1-replaced-while-it-assigned.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	header, rest, _ := strings.Cut(string(whole), "\n")
	for fault, want := range map[string]string{
		`{"fault":{"kind":"earthquake","at":0}}`: `line 2: no fault is called "earthquake"`,
		`{"fault":{"kind":"shutdown","at":0}}`:   "line 2: a shutdown needs gone and until",
	} {
		path := filepath.Join(t.TempDir(), "verdict.json")
		muster(t, time.Minute, "check", writeText(t, "faulty.jsonl", header+"\n"+fault+"\n"+rest), "--json", path).expect(t, 64, want)
		if doc := holdChecked(t, path, "history", 64); len(doc.Problems) == 0 || doc.Problems[0].Line != 2 {
			t.Errorf("problems %+v", doc.Problems)
		}
	}
}
