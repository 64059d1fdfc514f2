package bugs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/muster-kafka/muster"

// Build compiles the package (an import path, or a path from the root such as ./cmd/muster) to the file out, with the whole bank
// planted and asleep. The go command must be on the path and the working directory inside the module.
func Build(ctx context.Context, pkg, out string) error {
	return build(ctx, out, "build", pkg)
}

// BuildTest is Build for the package's test binary.
func BuildTest(ctx context.Context, pkg, out string) error {
	return build(ctx, out, "test", "-c", pkg)
}

// BuildFuzz is BuildTest for a binary that fuzzes (-test.fuzz), and is told which code an input reaches.
func BuildFuzz(ctx context.Context, pkg, out string) error {
	return build(ctx, out, "test", "-c", "-fuzz=.", pkg)
}

func build(ctx context.Context, out, command string, args ...string) error {
	root, err := Root(ctx)
	if err != nil {
		return err
	}
	all, err := All()
	if err != nil {
		return err
	}
	files, err := Compose(root, all)
	if err != nil {
		return err
	}
	return BuildOver(ctx, root, files, out, append([]string{command}, args...)...)
}

// BuildOver runs a command of go that builds ("build", "./cmd/muster", or "test", "-c", ...) with files in the place of those of the tree at root, or
// added to them, by slash-separated path. What it makes is the file out.
func BuildOver(ctx context.Context, root string, files map[string][]byte, out string, args ...string) error {
	dir, err := os.MkdirTemp("", "muster-bugs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := WriteOverlay(root, dir, files)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	run := exec.CommandContext(ctx, "go", append([]string{args[0], "-overlay", overlay, "-o", out}, args[1:]...)...)
	run.Dir = root
	if output, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("the overlay build of %s failed (%w): is the new text still right?\n%s", strings.Join(args[1:], " "), err, output)
	}
	return nil
}

// Root asks the go command for the folder of this module's go.mod.
func Root(ctx context.Context) (string, error) {
	run := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
	output, err := run.Output()
	if err != nil {
		return "", fmt.Errorf("the module's root was not found (%w): planting bugs needs the go command and a clone of the repository", err)
	}
	return strings.TrimSpace(string(output)), nil
}
