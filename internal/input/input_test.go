package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	for text, want := range map[string]error{"": nil, "1234": nil, "12345": ErrTooLarge} {
		got, err := Read(t.Context(), write(t, "f", text), 4)
		if !errors.Is(err, want) || want == nil && string(got) != text {
			t.Errorf("%q: %q, %v; want error %v", text, got, err, want)
		}
	}
	if _, err := Read(t.Context(), t.TempDir(), 4); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(t.Context(), "/no/such/file", 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := Read(t.Context(), "/dev/zero", 4); !errors.Is(err, ErrNotRegular) {
			t.Errorf("a device: %v", err)
		}
	}
}

// A file may grow after it was looked at.
func TestGrowingFile(t *testing.T) {
	path := write(t, "f", "123")
	f, err := Open(t.Context(), path, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(path, []byte("123456"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestInterruptedReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, err := Open(ctx, write(t, "f", "123"), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cancel()
	if got, err := io.ReadAll(f); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", got, err)
	}
}
