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

// tries is how often it may look for the bug that it has to find.
const tries = 2

// sixEvents is a bug that takes six events at least: it is what the fuzzer is held to.
const sixEvents = "follower-change-ignored"

// howLong is how FuzzEvents says to how many events it has shrunk what it found.
var howLong = regexp.MustCompile(`in (\d+) events`)

// TestFuzzing plants one bug after the other and lets the fuzzer loose on the reference beside the specification, with nothing to start from but bytes
// drawn at random: no scenario. One that takes six events it has to find within ten seconds, on a machine that is busy in two tries; of the others the log tells.
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
	t.Run("none", func(t *testing.T) {
		if found, took := fuzz(t, binary, Bug{}); found != "" {
			t.Errorf("with no bug awake, after %.1f s: %s", took.Seconds(), found)
		}
	})
	tried, found := 0, 0
	for _, bug := range all {
		if strings.HasPrefix(bug.ID, racing) {
			continue
		}
		t.Run(bug.ID, func(t *testing.T) {
			tried++
			events, took := shows(t, binary, bug)
			for n := 1; n < tries && bug.ID == sixEvents && events == 0; n++ {
				events, took = shows(t, binary, bug)
			}
			switch {
			case events > 0:
				found++
				t.Logf("after %.1f s, in %d events: %s", took.Seconds(), events, bug.Title)
			case bug.ID == sixEvents:
				t.Errorf("not found in %.1f s, %d times: %s", took.Seconds(), tries, bug.Title)
			default:
				t.Logf("not found in %.1f s: %s", took.Seconds(), bug.Title)
			}
			if bug.ID == sixEvents && events > 0 && events < 6 {
				t.Errorf("it is shown in %d events, so that it is no measure any more: choose one that takes six", events)
			}
		})
	}
	if found < tried/2 {
		t.Errorf("the fuzzer found %d of %d bugs: too few to trust it", found, tried)
	}
}

// shows lets the fuzzer loose on a bug, and returns in how many events it shows what it found; 0 where it found nothing.
func shows(t *testing.T, binary string, bug Bug) (events int, took time.Duration) {
	t.Helper()
	text, took := fuzz(t, binary, bug)
	told := howLong.FindStringSubmatch(text)
	if told == nil {
		if text != "" {
			t.Errorf("it ended otherwise than with what it found: %s", text)
		}
		return 0, took
	}
	events, err := strconv.Atoi(told[1])
	if err != nil {
		t.Fatal(err)
	}
	return events, took
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
