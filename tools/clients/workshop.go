package clients

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// missing is what a machine lacks for a client; its test is skipped.
type missing struct{ what, debian string }

func (m missing) Error() string {
	return fmt.Sprintf("%s is not here (Debian: apt-get install %s)", m.what, m.debian)
}

// workshop is where clients are installed and built.
type workshop struct {
	cache string // is kept
	built string // goes with the test
}

func newWorkshop(built string) (*workshop, error) {
	root := os.Getenv("MUSTER_CACHE")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no cache folder: %w; set MUSTER_CACHE to a folder for clients", err)
		}
		root = filepath.Join(user, "muster")
	}
	root, err := filepath.Abs(root)
	return &workshop{cache: filepath.Join(root, "clients"), built: built}, err
}

// tool is a command of the machine.
func tool(name, debian string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", missing{name, debian}
	}
	return path, nil
}

// installed returns a folder of the cache into which the steps have installed what the files of this module pin. It is done once for each content of
// the files.
func (w *workshop) installed(name string, files []string, steps func(dir string) error) (string, error) {
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	dir := filepath.Join(w.cache, fmt.Sprintf("%s-%x", name, sum.Sum(nil)[:8]))
	done := filepath.Join(dir, "complete")
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := steps(dir); err != nil {
		return "", err
	}
	return dir, os.WriteFile(done, nil, 0o644)
}

// do runs a command in a folder.
func do(dir string, command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
	}
	return nil
}

// goProgram builds a program of this module.
func goProgram(folder string) func(*workshop) ([]string, error) {
	return func(w *workshop) ([]string, error) {
		file := filepath.Join(w.built, folder)
		return []string{file}, do(".", "go", "build", "-o", file, "./"+folder)
	}
}
