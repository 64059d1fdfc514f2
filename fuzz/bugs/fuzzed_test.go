package bugs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fuzzing is how long the fuzzer may look for a bug.
const fuzzing = 10 * time.Second

// sixEvents is a bug that takes six events at least: it is what the fuzzer is held to.
const sixEvents = "follower-change-ignored"

// howLong is how FuzzEvents says to how many events it has shrunk what it found.
var howLong = regexp.MustCompile(`in (\d+) events`)

// TestFuzzing plants one bug after the other and lets the fuzzer loose on the reference beside the specification, with nothing to start from: no input,
// no scenario. One that takes six events it has to find within ten seconds, on a machine that is busy in two tries; of the others the log tells.
func TestFuzzing(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes minutes, most of them for building; set MUSTER_NIGHTLY=1")
	}
	binary := filepath.Join(t.TempDir(), "fuzz.test")
	if err := BuildFuzz(t.Context(), "./fuzz", binary); err != nil {
		t.Fatal(err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if found, took := fuzz(t, binary, Bug{}); found != "" {
		t.Errorf("with no bug awake, after %.1f s: %s", took.Seconds(), found)
	}
	found := 0
	for _, bug := range all {
		if strings.HasPrefix(bug.ID, planted) {
			continue
		}
		text, took := fuzz(t, binary, bug)
		for n := 1; n < tries && bug.ID == sixEvents && !howLong.MatchString(text); n++ {
			t.Logf("%-34s not found in %5.1f s, once more", bug.ID, took.Seconds())
			text, took = fuzz(t, binary, bug)
		}
		events := howLong.FindStringSubmatch(text)
		switch {
		case events != nil:
			found++
			t.Logf("%-34s after %5.1f s, %s events", bug.ID, took.Seconds(), events[1])
		case bug.ID == sixEvents:
			t.Errorf("%-34s not found in %.1f s, %d times: %s", bug.ID, took.Seconds(), tries, text)
		default:
			t.Logf("%-34s not found in %5.1f s %s", bug.ID, took.Seconds(), text)
		}
		if n, _ := strconv.Atoi(append(events, "6", "6")[1]); bug.ID == sixEvents && n < 6 {
			t.Errorf("%s is shown in %d events, so that it is no measure any more: choose one that takes six", bug.ID, n)
		}
	}
	if found < 10 {
		t.Errorf("the fuzzer found %d bugs: too few to trust it", found)
	}
}

// fuzz lets the fuzzer loose, in a folder of its own, and returns what it found and after how long.
func fuzz(t *testing.T, binary string, bug Bug) (string, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "fuzz")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.fuzz=^FuzzEvents$", "-test.fuzztime="+fuzzing.String(), "-test.fuzzminimizetime=1x", "-test.fuzzcachedir="+t.TempDir())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), bug.Env())
	output, err := cmd.CombinedOutput()
	took := time.Since(began)
	switch {
	case err == nil:
		return "", took
	case ctx.Err() != nil:
		return fmt.Sprintf("it did not end: %v", ctx.Err()), took
	}
	return string(output), took
}
