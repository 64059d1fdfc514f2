package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/internal/verdict"
)

const diffLimit = 2 * time.Minute

func TestDiff(t *testing.T) {
	out := filepath.Join(t.TempDir(), "v.json")
	e := muster(t, diffLimit, "diff", "impl", "impl", "--sequences", "40", "--seed", "7", "--json", out)
	if e.code != verdict.ExitPass || !strings.Contains(e.stdout, "40 sequences") {
		t.Errorf("%+v", e)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var v verdict.Verdict
	if err := json.Unmarshal(text, &v); err != nil || v.Diff == nil || v.Diff.Sequences != 40 || v.Seed != 7 {
		t.Errorf("%v\n%s", err, text)
	}
}

// Two releases of the specification differ, for reasons that are known, and each class can be run again.
func TestDiffOfReleases(t *testing.T) {
	cmd := command(t, diffLimit, "diff", "model:3.9.2", "model:4.3.1", "--sequences", "100", "--seed", "7")
	if e := finish(t, cmd); e.code != verdict.ExitPass || !strings.Contains(e.stdout, "explained: variation") {
		t.Fatalf("%+v", e)
	}
	saved, err := filepath.Glob(filepath.Join(cmd.Dir, "muster-out/diff-model_3.9.2-model_4.3.1/*.txt"))
	if err != nil || len(saved) == 0 {
		t.Fatalf("%v, %v", saved, err)
	}
	for _, release := range []string{"3.9.2", "4.3.1"} {
		if e := muster(t, diffLimit, "run", saved[0], "--target", "model:"+release); e.code != verdict.ExitPass {
			t.Errorf("%s: %+v", release, e)
		}
	}
}

// kfake runs in a process of its own, and that ends with the run.
func TestDiffOfKfake(t *testing.T) {
	e := muster(t, diffLimit, "diff", "kfake", "model:4.4.0", "--sequences", "3", "--seed", "1", "--budget", "60s") // of seed 7 kfake does not come to the end
	if e.code != verdict.ExitPass && e.code != verdict.ExitFail && e.code != verdict.ExitInconclusive || !strings.Contains(e.stdout, "3 sequences") {
		t.Errorf("%+v", e)
	}
}

func TestDiffUsage(t *testing.T) {
	for _, args := range [][]string{{"diff", "impl"}, {"diff", "impl", "nosuch"}, {"diff", "impl", "impl", "--budget", "0s"}, {"diff", "impl", "impl", "--sequences", "-1"}} {
		if e := muster(t, diffLimit, args...); e.code != verdict.ExitUsage {
			t.Errorf("%v: %+v", args, e)
		}
	}
}
