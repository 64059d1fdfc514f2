package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestSave leaves a whole file or none.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	full := errors.New("no space left on device")
	file := filepath.Join(dir, "a", "page.html")
	err := Save(file, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half of it")
		return full
	})
	left, _ := os.ReadDir(filepath.Dir(file))
	if !errors.Is(err, full) || len(left) > 0 {
		t.Errorf("error %v, left %v", err, left)
	}
	if err := Save(file, func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "whole" {
		t.Errorf("%q, %v", text, err)
	}
	if err := Save(filepath.Join(file, "page.html"), func(io.Writer) error { return nil }); err == nil {
		t.Error("a file is saved in a folder that is a file")
	}
}
