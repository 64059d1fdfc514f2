package ownership

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/muster-kafka/muster/internal/input"
)

// ErrNoLog is returned where nothing at all can be judged.
var ErrNoLog = errors.New("not a log of ownership")

// maxLine bounds a line, in bytes. Muster's own are below a KiB.
const maxLine = 1 << 20

// first and last are the lines around the events.
type (
	first struct {
		Header *Header `json:"header"`
	}
	last struct {
		End *struct {
			Events int `json:"events"`
		} `json:"end"`
	}
)

// Write writes the log as JSON lines: the header, an event on each line, and how many those are.
func (l *Log) Write(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(buffered)
	header := l.Header
	header.Format = Format
	err := enc.Encode(first{&header})
	for i := range l.Events {
		err = errors.Join(err, enc.Encode(l.Events[i]))
	}
	_, end := fmt.Fprintf(buffered, "{\"end\":{\"events\":%d}}\n", len(l.Events))
	if err := errors.Join(err, end, buffered.Flush()); err != nil {
		return fmt.Errorf("write log of ownership: %w", err)
	}
	return nil
}

// WriteFile writes the log to a file.
func (l *Log) WriteFile(path string) error {
	var text bytes.Buffer
	if err := l.Write(&text); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save log of ownership: %w", err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("save log of ownership: %w", err)
	}
	return nil
}

// IsFile says whether a file begins as a log does, whatever its version.
func IsFile(ctx context.Context, path string) bool {
	f, err := input.Open(ctx, path, input.History)
	if err != nil {
		return false
	}
	defer f.Close()
	var start first
	if json.NewDecoder(io.LimitReader(f, maxLine)).Decode(&start) != nil || start.Header == nil {
		return false
	}
	name, _, _ := strings.Cut(Format, "/")
	return strings.HasPrefix(start.Header.Format, name+"/")
}

// ReadFile reads a log from a file; see Read.
func ReadFile(ctx context.Context, path string) (*Log, []string, error) {
	f, err := input.Open(ctx, path, input.History)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return Read(f)
}

// Read reads a log. Problems say which lines cannot be read, and why; the events are then those before the first of them, since what an event
// means depends on all before it. An error means that nothing can be judged.
func Read(r io.Reader) (*Log, []string, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	log := &Log{}
	var problems []string
	number, ended := 0, false
	var latest int64
	for lines.Scan() && len(problems) == 0 {
		number++
		text := bytes.TrimSpace(lines.Bytes())
		bad := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("line %d: ", number)+fmt.Sprintf(format, args...)+"; nothing from there on is judged")
		}
		var e Event
		var end last
		switch {
		case len(text) == 0:
		case number == 1:
			var h first
			if err := strictly(text, &h); err != nil || h.Header == nil {
				return nil, nil, fmt.Errorf("%w: line 1 must be a header like {\"header\":{\"format\":%q,…}}: %v", ErrNoLog, Format, err)
			}
			if h.Header.Format != Format {
				return nil, nil, fmt.Errorf("%w: its format is %q, this Muster reads %q", ErrNoLog, h.Header.Format, Format)
			}
			log.Header = *h.Header
		case ended:
			bad("an event after the end line")
		case bytes.HasPrefix(text, []byte(`{"end"`)):
			if err := strictly(text, &end); err != nil {
				bad("not an end line: %v", err)
			} else if end.End == nil || end.End.Events != len(log.Events) {
				bad("the end line does not count %d events, so some are missing", len(log.Events))
			}
			ended = true
		default:
			err := strictly(text, &e)
			if err == nil {
				err = e.check()
			}
			if err == nil && e.At < latest {
				err = fmt.Errorf("it is earlier (%d) than the line before (%d)", e.At, latest)
			}
			if err != nil {
				bad("not an event: %v", err)
				break
			}
			latest = e.At
			log.Events = append(log.Events, e)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		problems = append(problems, fmt.Sprintf("line %d is longer than %d bytes; nothing from there on is judged", number+1, maxLine))
	case err != nil:
		return nil, nil, fmt.Errorf("read log of ownership: %w", err)
	case number == 0:
		return nil, nil, fmt.Errorf("%w: it is empty", ErrNoLog)
	case !ended && len(problems) == 0:
		problems = append(problems, "there is no end line: events may be missing at the end")
	}
	return log, problems, nil
}

func strictly(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
