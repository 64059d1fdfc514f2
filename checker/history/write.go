package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// line is what one line of the text holds: the first a header, the last an end, all others a call each.
type line struct {
	Header *Header `json:"header,omitempty"`
	Call   *Call   `json:"call,omitempty"`
	End    *end    `json:"end,omitempty"`
}

// end tells a whole history from one whose recorder was killed.
type end struct {
	Calls int `json:"calls"`
}

// Write writes the history as JSON lines.
func (h *History) Write(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(buffered)
	header := h.Header
	header.Format = Format
	if err := enc.Encode(line{Header: &header}); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	for i := range h.Calls {
		if err := enc.Encode(line{Call: &h.Calls[i]}); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
	}
	if err := enc.Encode(line{End: &end{Calls: len(h.Calls)}}); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// WriteFile writes the history to a file, in one piece: a name that exists holds a whole history.
func (h *History) WriteFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".history-*")
	if err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	defer os.Remove(temp.Name())
	if err := h.Write(temp); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	if err := os.Chmod(temp.Name(), 0o644); err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	return nil
}
