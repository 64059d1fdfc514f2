package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A data folder of which one half is gone is not served as if it had been empty: the server says which, and how to go on. One that nobody has noted to be whole is
// served, and the remark says what it began without.
func TestServeHalfAFolder(t *testing.T) {
	t.Parallel()
	for _, half := range []struct{ gone, there, what string }{{"groups", "kfake", "groups and offsets"}, {"kfake", "groups", "topics and records"}} {
		dir := filepath.Join(t.TempDir(), "kept")
		args := []string{"serve", "--port", "0", "--data", dir}
		serveOnce(t, args, "loaded from")
		for _, away := range []func(string) error{os.RemoveAll, func(p string) error { return os.Mkdir(p, 0o755) }} {
			if err := away(filepath.Join(dir, half.gone)); err != nil {
				t.Fatal(err)
			}
			muster(t, time.Minute, args...).expect(t, 3, "the data folder is damaged: "+filepath.Join(dir, half.gone)+" is gone, or empty, and "+filepath.Join(dir, half.there)+" is there",
				"put a copy of it in its place, or remove "+filepath.Join(dir, "muster-serve.txt")+" to begin without "+half.what)
		}
		if err := os.Remove(filepath.Join(dir, "muster-serve.txt")); err != nil {
			t.Fatal(err)
		}
		serveOnce(t, args, "begun without "+half.what)
		serveOnce(t, args, "loaded from")
	}
}

// Nor is a half without the list of its topics.
func TestServeWithoutTheListOfTopics(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	args := []string{"serve", "--port", "0", "--data", dir}
	serveOnce(t, args, "loaded from")
	name := filepath.Join(dir, "kfake", "topics.json")
	for content, says := range map[string]string{"": "it is gone", "null": "it lists no topics", "{}": "it lists no topics", "[": "topics.json"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if content != "" {
			if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		muster(t, time.Minute, args...).expect(t, 3, filepath.Dir(name), says)
		if content == "" {
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// serveOnce serves until something is said, and ends the server in order.
func serveOnce(t *testing.T, args []string, says string) {
	t.Helper()
	run := start(t, command(t, time.Minute, args...))
	run.stderr.await(t, says, time.Minute)
	run.stdout.await(t, "\n", time.Minute)
	if err := run.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	run.end(t).expect(t, 0)
}

func TestHalves(t *testing.T) {
	dir := t.TempDir()
	h := halves{dir}
	if remark, err := h.check(); remark != "" || err != nil {
		t.Errorf("a new folder: %q, %v", remark, err)
	}
	if err := h.begun(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.check(); err == nil {
		t.Error("both halves are gone, and nothing is said")
	}
}
