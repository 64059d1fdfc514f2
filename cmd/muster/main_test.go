package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// asCommand makes the test binary the command itself.
const asCommand = "MUSTER_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// ended is how a command ended.
type ended struct {
	code           int
	stdout, stderr string
}

// command prepares muster with these arguments as a process of its own, in a folder of its own, that ends with the test.
func command(t *testing.T, limit time.Duration, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Dir = t.TempDir()
	return cmd
}

// muster runs the command to its end, which must come within the limit.
func muster(t *testing.T, limit time.Duration, args ...string) ended {
	t.Helper()
	return finish(t, command(t, limit, args...))
}

func finish(t *testing.T, cmd *exec.Cmd) ended {
	t.Helper()
	return start(t, cmd).end(t)
}

// running is a command that has been started.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr *watchedBuffer
}

func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{cmd, newWatchedBuffer(), newWatchedBuffer()}
	if cmd.Stdout == nil {
		cmd.Stdout = r.stdout
	}
	cmd.Stderr = r.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// end waits for the command to end by itself.
func (r *running) end(t *testing.T) ended {
	t.Helper()
	err := r.cmd.Wait()
	e := ended{r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String()}
	if e.code < 0 {
		t.Fatalf("muster %s did not end by itself: %v\n%s%s", strings.Join(r.cmd.Args[1:], " "), err, e.stdout, e.stderr)
	}
	return e
}

// watchedBuffer is what a process writes; a test can wait for a text in it.
type watchedBuffer struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // holds a token after each write
}

func newWatchedBuffer() *watchedBuffer { return &watchedBuffer{wrote: make(chan struct{}, 1)} }

func (b *watchedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.wrote <- struct{}{}:
	default:
	}
	return b.text.Write(p)
}

func (b *watchedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// await waits until the text matches and returns the match.
func (b *watchedBuffer) await(t *testing.T, pattern string, limit time.Duration) []string {
	t.Helper()
	want, late := regexp.MustCompile(pattern), time.After(limit)
	for {
		if match := want.FindStringSubmatch(b.String()); match != nil {
			return match
		}
		select {
		case <-b.wrote:
		case <-late:
			t.Fatalf("%q was not written within %v, but:\n%s", pattern, limit, b.String())
		}
	}
}

// expect checks the exit code and that stderr or stdout tells each of the words.
func (e ended) expect(t *testing.T, code int, words ...string) {
	t.Helper()
	if e.code != code {
		t.Errorf("exit code %d, want %d", e.code, code)
	}
	for _, word := range words {
		if !strings.Contains(e.stdout+e.stderr, word) {
			t.Errorf("nothing is said of %q", word)
		}
	}
	if strings.Contains(e.stderr, "goroutine ") {
		t.Error("it panicked")
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", e.stdout, e.stderr)
	}
}

// readVerdict reads a JSON verdict.
func readVerdict(t *testing.T, path string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, data)
	}
	return v
}

func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
