package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// told is a test that remembers what it was told.
type told struct {
	testing.TB
	said []string
}

func (t *told) Helper() {}

func (t *told) Errorf(format string, args ...any) {
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sizes.txt")
	if err := os.WriteFile(file, []byte("a 1\nb 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	same, other := &told{TB: t}, &told{TB: t}
	Compare(same, file, "a 1\nb 2\n")
	Compare(other, file, "a 1\nb 3\n")
	if len(same.said) != 0 {
		t.Errorf("equal text was refused: %v", same.said)
	}
	if len(other.said) != 1 || !strings.Contains(other.said[0], "b 3") {
		t.Errorf("another text was told as %q", other.said)
	}

	*Update = true
	defer func() { *Update = false }()
	Compare(same, file, "c\n")
	if kept, err := os.ReadFile(file); err != nil || string(kept) != "c\n" {
		t.Errorf("the file holds %q (%v) after -update", kept, err)
	}
}
