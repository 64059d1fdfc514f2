package bugs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// judgeVar makes this test binary, built with the bank planted, run one judge on the coordinator, with the bug awake that EnvVar names.
const judgeVar = "MUSTER_BUG_JUDGE"

// caughtMark begins the line on which such a process says what it has found.
const caughtMark = "caught: "

// TestJudge is one judge at work in a process of its own.
func TestJudge(t *testing.T) {
	j, ok := judgeOf(os.Getenv(judgeVar))
	if !ok {
		t.Skipf("runs in processes that other tests start, with %s set", judgeVar)
	}
	if found := j.judge(t); found.Text != "" {
		line, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%s%s\n", caughtMark, line)
	}
}

// run runs one judge on one bug (or on none) and returns what it found and how long that took.
func run(t *testing.T, binary, judge string, env ...string) (finding, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began := time.Now()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^TestJudge$", "-test.v")
	cmd.Env = append(append(os.Environ(), judgeVar+"="+judge), env...)
	output, err := cmd.CombinedOutput()
	took := time.Since(began)
	switch {
	case ctx.Err() != nil && t.Context().Err() == nil: // it has used its budget up
		return finding{}, took
	case err != nil:
		t.Errorf("%s with %s: %v\n%s", judge, env, err, output)
	}
	var found finding
	if _, line, ok := bytes.Cut(output, []byte(caughtMark)); ok {
		if err := json.Unmarshal([]byte(firstLine(string(line))), &found); err != nil {
			t.Errorf("%s with %s says what cannot be read: %v\n%s", judge, env, err, output)
		}
	}
	return found, took
}

// plantedBinary is this test's own binary with the bank planted. It is built once for tests that overlap.
func plantedBinary(t *testing.T) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.users == 0 {
		dir, err := os.MkdirTemp("", "muster-bank-")
		if err != nil {
			t.Fatal(err)
		}
		built.binary = filepath.Join(dir, "bugs.test")
		if err := BuildTest(t.Context(), "./fuzz/bugs", built.binary); err != nil {
			os.RemoveAll(dir)
			t.Fatal(err)
		}
	}
	built.users++
	t.Cleanup(func() {
		built.Lock()
		defer built.Unlock()
		if built.users--; built.users == 0 {
			os.RemoveAll(filepath.Dir(built.binary))
		}
	})
	return built.binary
}

var built struct {
	sync.Mutex
	users  int
	binary string
}

// planting builds this test binary with the whole bank planted.
func planting(t *testing.T) (binary string, all []Bug) {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return plantedBinary(t), all
}
