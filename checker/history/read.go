package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

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

// maxLine bounds one line, and so memory: a Kafka request is at most 100 MiB, ours are below a few KiB.
const maxLine = 16 << 20

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
	p := parser{seen: map[int64]seen{}, cut: math.MaxInt64}
	source := bufio.NewReaderSize(r, 64<<10)
	for {
		text, err := readLine(source)
		if len(text) > 0 {
			p.number++
			if fatal := p.line(text, errors.Is(err, io.EOF)); fatal != nil {
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

func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

type seen struct {
	line int
	call Call
}

type parser struct {
	number   int
	header   *Header
	end      *end
	seen     map[int64]seen
	maxID    int64
	cut      int64
	problems []Problem
	distrust []int64 // ids whose lines cannot be trusted
}

func (p *parser) report(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{line, fmt.Sprintf(format, args...)})
}

func (p *parser) line(text []byte, last bool) error {
	half := last && !bytes.HasSuffix(text, []byte("\n"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&l)
	switch {
	case p.header == nil && (err != nil || l.Header == nil):
		return fmt.Errorf("%w: line 1 must be a header like {\"header\":{\"format\":%q,…}}", ErrNoHistory, Format)
	case p.header == nil:
		if l.Header.Format != Format {
			return fmt.Errorf("%w: format %q, this reader knows %q", ErrNoHistory, l.Header.Format, Format)
		}
		p.header = l.Header
	case err != nil && half:
		p.report(p.number, "half a line at the end: the recorder was stopped while it wrote")
	case err != nil:
		p.report(p.number, "not a line of a history: %v", err)
	case p.end != nil:
		p.report(p.number, "a line after the end line is not read")
	case l.End != nil:
		p.end = l.End
	case l.Call != nil:
		p.call(*l.Call)
	default:
		p.report(p.number, "neither a call nor an end")
	}
	return nil
}

func (p *parser) call(c Call) {
	switch {
	case c.ID <= 0:
		p.report(p.number, "call id %d: ids start at 1", c.ID)
		return
	case !slices.Contains([]Outcome{Answered, GivenUp, Closed, Open}, c.Outcome):
		p.report(p.number, "call %d: outcome %q is none of answered, given-up, closed, open", c.ID, c.Outcome)
		p.distrust = append(p.distrust, c.ID)
	case c.Return < c.Call:
		p.report(p.number, "call %d returns at %d ns, before its call at %d ns", c.ID, c.Return, c.Call)
		p.distrust = append(p.distrust, c.ID)
	}
	if _, err := c.DecodeRequest(); err != nil {
		p.report(p.number, "%v", err)
		p.distrust = append(p.distrust, c.ID)
	}
	if c.Outcome == Answered {
		if _, err := c.DecodeResponse(); err != nil {
			p.report(p.number, "%v", err)
			p.distrust = append(p.distrust, c.ID)
		}
	}
	if first, double := p.seen[c.ID]; double {
		p.report(p.number, "call %d was on line %d already", c.ID, first.line)
		p.distrust = append(p.distrust, c.ID)
		p.cut = min(p.cut, c.Call)
		return
	}
	p.seen[c.ID] = seen{p.number, c}
	p.maxID = max(p.maxID, c.ID)
}

// finish puts the calls together and finds the instant up to which they can be trusted.
func (p *parser) finish() (*History, []Problem, error) {
	if p.header == nil {
		return nil, p.problems, fmt.Errorf("%w: it is empty", ErrNoHistory)
	}
	h := &History{Header: *p.header}
	for _, s := range p.seen {
		h.Calls = append(h.Calls, s.call)
	}
	h.Sort()
	p.gaps(h)
	p.clockSteps(h)
	for _, id := range p.distrust {
		if s, ok := p.seen[id]; ok {
			p.cut = min(p.cut, s.call.Call, s.call.Return)
		}
	}
	if p.cut == math.MaxInt64 {
		return h, p.problems, nil
	}
	cut := h.Cut(p.cut)
	cut.Calls = slices.DeleteFunc(cut.Calls, func(c Call) bool { return slices.Contains(p.distrust, c.ID) })
	p.report(0, "judged up to %d ns of %d ns only: %d of %d calls, %d of them without their end",
		p.cut, h.End(), len(cut.Calls), len(h.Calls), countOpen(cut))
	if len(cut.Calls) == 0 {
		return nil, p.problems, fmt.Errorf("%w: nothing before the first problem", ErrNoHistory)
	}
	return cut, p.problems, nil
}

// gaps cuts at the last call before the first id that is missing. Without an end line the ids after the last are missing too.
func (p *parser) gaps(h *History) {
	before := int64(0) // instant of the call before
	next := int64(1)
	missing := func(from, to int64) {
		p.cut = min(p.cut, before)
		if from == to {
			p.report(0, "call %d is missing", from)
		} else {
			p.report(0, "calls %d to %d are missing", from, to)
		}
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.ID != next {
			missing(next, c.ID-1)
		}
		next, before = c.ID+1, c.Call
	}
	switch {
	case p.end == nil:
		p.report(0, "the end line is missing: calls may be missing after call %d", p.maxID)
		p.cut = min(p.cut, before)
	case int64(p.end.Calls) > p.maxID:
		missing(next, int64(p.end.Calls))
	case int64(p.end.Calls) < p.maxID:
		p.report(0, "the end line counts %d calls, but there is a call %d", p.end.Calls, p.maxID)
	}
}

// clockSteps cuts where the clock went backwards: nothing can be said about the order of calls across the step.
func (p *parser) clockSteps(h *History) {
	for i := 1; i < len(h.Calls); i++ {
		before, after := &h.Calls[i-1], &h.Calls[i]
		if after.Call < before.Call {
			p.report(p.seen[after.ID].line, "the clock stepped back: call %d at %d ns comes after call %d at %d ns", after.ID, after.Call, before.ID, before.Call)
			p.cut = min(p.cut, after.Call)
		}
	}
	if len(h.Calls) > 0 && h.Calls[0].Call < 0 {
		p.report(p.seen[h.Calls[0].ID].line, "call %d is at %d ns, before the start of the run", h.Calls[0].ID, h.Calls[0].Call)
		p.cut = min(p.cut, h.Calls[0].Call)
	}
}

func countOpen(h *History) int {
	n := 0
	for i := range h.Calls {
		if h.Calls[i].Outcome == Open {
			n++
		}
	}
	return n
}
