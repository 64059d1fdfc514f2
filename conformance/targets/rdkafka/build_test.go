package rdkafka

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestBuildTellsWhatIsMissing takes away, one at a time, what a build needs.
func TestBuildTellsWhatIsMissing(t *testing.T) {
	cases := []struct {
		name string
		env  map[string]string
		want error
	}{
		{"go", map[string]string{"PATH": t.TempDir()}, ErrNoGo},
		{"network", map[string]string{"GOPROXY": "off", "GOMODCACHE": filepath.Join(t.TempDir(), "mod"), "GOCACHE": t.TempDir()}, ErrDownload},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			t.Setenv("MUSTER_CACHE", t.TempDir())
			_, err := binary(t.Context(), nil)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestBuildErrors reads what the go command says.
func TestBuildErrors(t *testing.T) {
	for said, want := range map[string]error{
		"# runtime/cgo\ncgo: C compiler \"gcc\" not found: exec: \"gcc\": executable file not found in $PATH": ErrNoCompiler,
		"In file included from x.c:1\nfatal error: stdlib.h: No such file or directory":                       ErrNoCompiler,
		"main.go:16:2: github.com/x/y@v1: Get \"https://proxy/x\": dial tcp: lookup proxy: no such host":      ErrDownload,
	} {
		if err := buildError(t.Context(), errors.New("exit status 1"), said); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", said, err, want)
		}
	}
	err := buildError(t.Context(), errors.New("exit status 1"), "main.go:3: syntax error")
	if errors.Is(err, ErrNoCompiler) || errors.Is(err, ErrDownload) {
		t.Errorf("a syntax error is taken for %v", err)
	}
}

// TestProcessEnds starts programs that are no mock: what they say is told, and none stays.
func TestProcessEnds(t *testing.T) {
	script := func(text string) string {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if p, err := startProcess(t.Context(), script("echo away >&2; exit 3")); err == nil {
		p.stop()
		t.Error("a program that tells no address is taken for a mock")
	}
	if p, err := startProcess(t.Context(), script("echo 192.0.2.1:9092; cat >/dev/null")); err == nil {
		p.stop()
		t.Error("an address elsewhere is taken")
	}
	p, err := startProcess(t.Context(), script("echo 127.0.0.1:1; echo 'x.c:1: f: Assertion a failed.' >&2; cat >/dev/null"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.crashed(); err != nil {
		t.Errorf("it runs, and is said to have ended: %v", err)
	}
	began := time.Now()
	p.stop() // by closing its input
	if took := time.Since(began); took > 1500*time.Millisecond {
		t.Errorf("it took %v to end, as if it had been killed", took)
	}
	if err := p.crashed(); err == nil || err.Error() != "x.c:1: f: Assertion a failed." {
		t.Errorf("it is said to have ended with %v", err)
	}
}
