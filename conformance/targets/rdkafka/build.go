package rdkafka

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The program is built outside Muster's module, which knows no cgo: its text comes with Muster, its go.mod and go.sum under other names,
// since a folder with a go.mod could not be embedded.
var (
	//go:embed program/main.go
	programMain string
	//go:embed program/program.mod
	programMod string
	//go:embed program/program.sum
	programSum string
)

// Errors that tell what is missing to build the mock. Each says what to do next; all mean that the environment is at fault.
var (
	ErrNoGo       = errors.New("no go command to build librdkafka's mock with: install Go (https://go.dev/dl), or put its bin folder on the PATH")
	ErrNoCompiler = errors.New("no C compiler to build librdkafka's mock with: install gcc or clang (Debian: apt-get install gcc libc6-dev; macOS: xcode-select --install), or set CC")
	ErrDownload   = errors.New("downloading librdkafka's Go client failed: check the network and GOPROXY, then run the same command again; it is needed once")
)

// binary returns the program's path and builds it before if this machine has not done so yet: seconds with the module at hand. Where the
// cache is depends on what it is built from, so that another version is another file.
func binary(ctx context.Context, progress func(string)) (string, error) {
	root, err := cacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{programMain, programMod, programSum, runtime.GOOS, runtime.GOARCH}, "\x00")))
	file := filepath.Join(root, fmt.Sprintf("%x", sum[:8]), "rdkafka-mock")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		return file, nil
	}
	if progress != nil {
		progress("building librdkafka's mock, which takes a minute the first time")
	}
	return file, build(ctx, file)
}

// cacheDir is where programs are kept: $MUSTER_CACHE/rdkafka-mock, else muster/rdkafka-mock in the user's cache folder.
func cacheDir() (string, error) {
	root := os.Getenv("MUSTER_CACHE")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder: %w; set MUSTER_CACHE to a folder for librdkafka's mock", err)
		}
		root = filepath.Join(user, "muster")
	}
	abs, err := filepath.Abs(root)
	return filepath.Join(abs, "rdkafka-mock"), err
}

// build makes the program in a folder of its own and moves it into place, so that several at a time do no harm.
func build(ctx context.Context, file string) (err error) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return ErrNoGo
	}
	dir, err := os.MkdirTemp("", "muster-rdkafka-")
	if err != nil {
		return fmt.Errorf("building librdkafka's mock: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for name, text := range map[string]string{"main.go": programMain, "go.mod": programMod, "go.sum": programSum} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("building librdkafka's mock: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, goCommand, "build", "-mod=readonly", "-trimpath", "-o", "rdkafka-mock", "main.go")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOWORK=off", "GOFLAGS=")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return buildError(ctx, err, said.String())
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("keeping librdkafka's mock: %w", err)
	}
	return install(filepath.Join(dir, "rdkafka-mock"), file)
}

// install copies the program to where it stays; the last step is a rename.
func install(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("keeping librdkafka's mock: %w", err)
	}
	part, err := os.CreateTemp(filepath.Dir(to), "part-")
	if err != nil {
		return fmt.Errorf("keeping librdkafka's mock: %w", err)
	}
	_, err = part.Write(data)
	if err = errors.Join(err, part.Chmod(0o755), part.Close()); err == nil {
		err = os.Rename(part.Name(), to)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keeping librdkafka's mock in %s: %w", to, err), os.Remove(part.Name()))
	}
	return nil
}

// buildError turns the known causes of a failed build into their errors.
func buildError(ctx context.Context, err error, said string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	has := func(any ...string) bool {
		for _, s := range any {
			if strings.Contains(said, s) {
				return true
			}
		}
		return false
	}
	known := errors.New("building librdkafka's mock failed; what the go command said is below")
	switch {
	case has("C compiler", "cgo: C compiler", "stdlib.h: No such file", "build constraints exclude all Go files"):
		known = ErrNoCompiler
	case has("dial tcp", "lookup ", "proxyconnect", "module lookup disabled", "i/o timeout", "connection refused", "unexpected status"):
		known = ErrDownload
	}
	return fmt.Errorf("%w (%v)\n  %s", known, err, strings.ReplaceAll(lastLines(said, 8), "\n", "\n  "))
}

// lastLines are the last lines of a text that say something.
func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
