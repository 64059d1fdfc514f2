package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/muster-kafka/muster/internal/input"
)

// Problem is something wrong with a recorded history: where, and what. Line is 0 where it concerns no line.
type Problem struct {
	Line   int
	Reason string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Reason
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
}

// ErrNoHistory is returned where nothing at all can be judged.
var ErrNoHistory = errors.New("not a history")

// Bounds of what is kept of a file, whatever is in it.
const (
	maxLine     = 8 << 20 // bytes of a line; a longer one is passed over. Muster's own are a few KiB
	maxProblems = 100     // that are told
)

// ReadFile reads a history from a file, as long as the context lasts; see Read.
func ReadFile(ctx context.Context, path string) (*History, []Problem, error) {
	f, err := input.Open(ctx, path, input.History)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return Read(f)
}

// Read parses a history. Where calls are missing or cannot be trusted it returns the problems and what can still be judged: the run
// up to the instant before which nothing can be missing (History.CutAt). An error means that nothing can be.
//
// A call that is missing may have been about any group, so all groups are cut. Its instant is known: ids follow the order of calls.
func Read(r io.Reader) (*History, []Problem, error) {
	p := newParser()
	source := bufio.NewReaderSize(r, 64<<10)
	for {
		text, long, err := readLine(source)
		if len(text) > 0 || long {
			p.number++
			if fatal := p.line(text, long, errors.Is(err, io.EOF)); fatal != nil {
				return nil, p.problems, fatal
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, p.problems, fmt.Errorf("read history: line %d: %w", p.number+1, err)
		}
	}
	return p.finish()
}

// readLine reads a line with its end. Of one that is too long nothing is kept.
func readLine(r *bufio.Reader) (text []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxLine; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// line reads one line; an error means that this is no history.
func (p *parser) line(text []byte, long, last bool) error {
	if !long && len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var l line
	err := errTooLong
	if !long {
		err = decode(text, &l)
	}
	half := last && !bytes.HasSuffix(text, []byte("\n"))
	switch {
	case p.header == nil && (err != nil || l.Header == nil):
		return p.noHeader(text)
	case p.header == nil:
		if l.Header.Format != Format {
			return fmt.Errorf("%w: its format is %q, this Muster reads %q", ErrNoHistory, l.Header.Format, Format)
		}
		if err := l.Header.check(); err != nil {
			return err
		}
		p.header = l.Header
	case errors.Is(err, errTooLong):
		p.unread("%v", err)
	case err != nil && half:
		p.unread("half a line at the end: the recorder was stopped while it wrote")
	case err != nil:
		p.unread("not a line of a history: %v", err)
	case p.end != nil:
		p.report(p.number, "a line after the end line is not read")
	case l.fields() != 1:
		p.unread("want one of call, return, fault and end on a line, got %d of them", l.fields())
	case l.Call != nil:
		p.call(l.Call)
	case l.Return != nil:
		p.ended(l.Return)
	case l.Fault != nil:
		p.fault(*l.Fault)
	case l.End != nil:
		p.end = l.End
	default:
		p.unread("a second header")
	}
	return nil
}

// longest is the most of any time in a history, so that two of them can be added.
const longest = 10 * 365 * 24 * time.Hour

// check says what in a header cannot be.
func (h *Header) check() error {
	for _, f := range []struct {
		name string
		time time.Duration
	}{
		{"min_session_ns", h.MinSession},
		{"max_session_ns", h.MaxSession},
		{"new_member_timeout_ns", h.NewMemberTimeout},
		{"tick_ns", h.Tick},
		{"slack_ns", h.Slack},
		{"stall_ns", h.Stall},
		{"stalled_for_ns", h.StalledFor},
		{"ran_ns", h.Ran},
		{"initial_delay_ns", h.InitialDelay},
	} {
		if f.time < 0 || f.time > longest {
			return fmt.Errorf("%w: %s is %d, which has to be 0 to %d (ten years)", ErrNoHistory, f.name, f.time.Nanoseconds(), longest.Nanoseconds())
		}
	}
	if h.MaxMetadata < 0 || h.MaxSize < 0 {
		return fmt.Errorf("%w: max_metadata is %d and max_size %d, which must not be negative", ErrNoHistory, h.MaxMetadata, h.MaxSize)
	}
	return nil
}

var errTooLong = fmt.Errorf("longer than %d bytes, and not read", maxLine)

// noHeader says what is in the place of the header.
func (p *parser) noHeader(text []byte) error {
	var other struct {
		Header struct {
			Format string `json:"format"`
		} `json:"header"`
	}
	if lax(text, &other) == nil && other.Header.Format != "" && other.Header.Format != Format {
		return fmt.Errorf("%w: its format is %q, this Muster reads %q", ErrNoHistory, other.Header.Format, Format)
	}
	why := decode(text, &line{})
	if why == nil {
		why = errors.New("it is another line of a history, of which the beginning is missing")
	}
	return fmt.Errorf("%w: line %d must be a header like {\"header\":{\"format\":%q,…}}: %w", ErrNoHistory, p.number, Format, why)
}
