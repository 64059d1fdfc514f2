package main

import (
	"path/filepath"
	"testing"
	"time"
)

// TestAtlasRefuses sees that a release which cannot be had, or results that cannot be read, end the run before anything is written.
func TestAtlasRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "atlas.md")
	results := filepath.Join(t.TempDir(), "results.json")
	muster(t, time.Minute, "atlas", "--releases", "1.1.0", "--out", out, "--results", results).expect(t, 3, "release 1.1.0", "2.4.0")
	bad := writeText(t, "bad.json", "no JSON")
	muster(t, time.Minute, "atlas", "--releases", "1.1.0", "--out", out, "--results", bad).expect(t, 3, "bad.json", "remove it")
	if left, _ := filepath.Glob(out); len(left) > 0 {
		t.Errorf("%s was written", out)
	}
}
