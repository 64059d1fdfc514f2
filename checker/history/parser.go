package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// parser puts lines together, and keeps the earliest instant from which on something may be missing or untrue.
type parser struct {
	number   int
	header   *Header
	end      *end
	calls    []Call
	index    map[int64]place
	faults   []Fault
	returns  int
	latest   int64 // instant of the last call or fault
	cut      int64
	doubt    int64 // from here on lines are missing that may have been calls or faults
	distrust map[int64]bool
	early    map[int64]int // line of a return whose call has not begun

	problems []Problem
	untold   int
}

// place is where a call stands.
type place struct{ at, line int }

func newParser() *parser {
	return &parser{
		index: map[int64]place{}, cut: math.MaxInt64, doubt: math.MaxInt64,
		distrust: map[int64]bool{}, early: map[int64]int{},
	}
}

// decode reads JSON in which every field is known, so that a slip of the pen is not taken for silence.
func decode(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

func lax(text []byte, into any) error { return json.Unmarshal(text, into) }

func (l *line) fields() (n int) {
	for _, given := range []bool{l.Header != nil, l.Call != nil, l.Return != nil, l.Fault != nil, l.End != nil} {
		if given {
			n++
		}
	}
	return n
}

func (p *parser) report(line int, format string, args ...any) {
	if len(p.problems) >= maxProblems {
		p.untold++
		return
	}
	p.problems = append(p.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// unread reports a line that tells nothing. What it was is seen at the end: calls and faults are counted there.
func (p *parser) unread(format string, args ...any) {
	p.report(p.number, format, args...)
	p.doubt = min(p.doubt, p.latest)
}

// since holds that the instants of calls and faults do not decrease, by which what is missing is told from what is not.
func (p *parser) since(at int64, what string, args ...any) {
	switch {
	case at < 0:
		p.report(p.number, "%s is at %d ns, before the start of the run", fmt.Sprintf(what, args...), at)
		p.cut = min(p.cut, at)
	case at > int64(longest):
		p.report(p.number, "%s is at %d ns: more than %v after the start", fmt.Sprintf(what, args...), at, longest)
		p.cut = min(p.cut, p.latest)
		return
	case at < p.latest:
		p.report(p.number, "the clock stepped back: %s is at %d ns, after a line at %d ns", fmt.Sprintf(what, args...), at, p.latest)
		p.cut = min(p.cut, at)
	}
	p.latest = max(p.latest, at)
}

func (p *parser) call(l *callLine) {
	if l.ID <= 0 {
		p.report(p.number, "call id %d: ids start at 1", l.ID)
		p.doubt = min(p.doubt, p.latest)
		return
	}
	c := Call{
		ID: l.ID, Was: l.Was, Client: l.Client, Conn: l.Conn, Key: l.Key, Version: l.Version, Request: l.Request,
		Outcome: Open, Call: l.At, Return: l.At,
	}
	if first, double := p.index[c.ID]; double {
		p.report(p.number, "call %d was on line %d already", c.ID, first.line)
		p.distrust[c.ID] = true
		p.cut = min(p.cut, c.Call)
		return
	}
	p.since(c.Call, "call %d", c.ID)
	if line, early := p.early[c.ID]; early {
		p.report(p.number, "call %d begins after its return on line %d", c.ID, line)
		p.distrust[c.ID] = true
		delete(p.early, c.ID)
	}
	req, err := c.DecodeRequest()
	switch {
	case err != nil:
		p.report(p.number, "%v", err)
		p.distrust[c.ID] = true
	case l.API != "" && l.API != kmsg.NameForKey(c.Key):
		p.report(p.number, "call %d: key %d is %s, not %s", c.ID, c.Key, kmsg.NameForKey(c.Key), l.API)
		p.distrust[c.ID] = true
	default:
		c.Groups = GroupsOf(req, p.header.Groups)
	}
	p.index[c.ID] = place{len(p.calls), p.number}
	p.calls = append(p.calls, c)
}

func (p *parser) ended(l *returnLine) {
	at, known := p.index[l.ID]
	if !known {
		p.report(p.number, "return of call %d, which no line before this one begins", l.ID)
		p.early[l.ID] = p.number
		p.doubt = min(p.doubt, p.latest)
		return
	}
	c := &p.calls[at.at]
	bad := func(format string, args ...any) {
		p.report(p.number, format, args...)
		p.distrust[c.ID] = true
	}
	if c.Outcome != Open {
		bad("call %d has returned before", c.ID)
		return
	}
	p.returns++
	outcome, err := outcomeOf(l.Outcome, l.Why)
	switch {
	case err != nil:
		bad("call %d: %v", c.ID, err)
		return
	case l.At > int64(longest):
		bad("call %d returns at %d ns: more than %v after the start", c.ID, l.At, longest)
		p.cut = min(p.cut, c.Call)
		return
	case l.At < c.Call:
		bad("call %d returns at %d ns, before its call at %d ns", c.ID, l.At, c.Call)
		p.cut = min(p.cut, l.At)
		return
	}
	c.Outcome, c.Return, c.Error, c.Response = outcome, l.At, l.Error, l.Response
	if outcome == Answered {
		if _, err := c.DecodeResponse(); err != nil {
			bad("%v", err)
		}
	}
}

// outcomeOf reads the three values of an outcome, and why the third.
func outcomeOf(outcome, why string) (Outcome, error) {
	switch o := Outcome(outcome); {
	case o == Answered || o == NotSent:
		return o, nil
	case outcome != unknown:
		return "", fmt.Errorf("outcome %q is none of answered, not-sent, unknown", outcome)
	}
	if w := Outcome(why); slices.Contains([]Outcome{GivenUp, Closed, Lost}, w) {
		return w, nil
	}
	return "", fmt.Errorf("why %q is none of given-up, closed, fault", why)
}

func (p *parser) fault(f Fault) {
	p.since(f.At, "a fault (%s)", f.Kind)
	switch {
	case !slices.Contains(faultKinds, f.Kind):
		p.report(p.number, "no fault is called %q; there are %v", f.Kind, faultKinds)
		p.cut = min(p.cut, f.At)
	case f.Until != 0 && f.Until < max(f.At, f.Gone) || f.Gone != 0 && f.Gone < f.At:
		p.report(p.number, "a fault (%s) from %d ns, gone at %d ns, is over at %d ns already", f.Kind, f.At, f.Gone, f.Until)
		p.cut = min(p.cut, f.At)
	case max(f.Gone, f.Until) > int64(longest):
		p.report(p.number, "a fault (%s) from %d ns, gone at %d ns, is over at %d ns: more than %v after the start", f.Kind, f.At, f.Gone, f.Until, longest)
		p.cut = min(p.cut, f.At)
	case f.Restarts() && (f.Gone == 0 || f.Until == 0):
		p.report(p.number, "a %s needs gone and until: when the target was surely dead, and when it served again", f.Kind)
		p.cut = min(p.cut, f.At)
	}
	p.faults = append(p.faults, f)
}

// finish puts the calls together and cuts where they can no longer be trusted.
func (p *parser) finish() (*History, []Problem, error) {
	if p.header == nil {
		return nil, p.problems, fmt.Errorf("%w: it is empty", ErrNoHistory)
	}
	h := &History{Header: *p.header, Calls: p.calls, Faults: p.faults}
	slices.SortFunc(h.Calls, func(a, b Call) int { return int(a.ID - b.ID) })
	h.sortFaults()
	whole := p.gaps(h)
	if !whole {
		p.cut = min(p.cut, p.doubt)
	}
	last := h.End()
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Outcome == Open {
			c.Return = last
		}
		if p.distrust[c.ID] {
			p.cut = min(p.cut, c.Call)
		}
	}
	if p.untold > 0 {
		p.problems = append(p.problems, Problem{0, fmt.Sprintf("%d more problems are not told", p.untold)})
	}
	if p.cut == math.MaxInt64 {
		if len(p.problems) > 0 {
			p.problems = append(p.problems, Problem{0, "no call and no fault is missing: all of it is judged"})
		}
		return h, p.problems, nil
	}
	cut := h.Cut(p.cut)
	cut.Calls = slices.DeleteFunc(cut.Calls, func(c Call) bool { return p.distrust[c.ID] })
	if len(cut.Calls) == 0 {
		return nil, p.problems, fmt.Errorf("%w: no call comes before the first problem", ErrNoHistory)
	}
	p.problems = append(p.problems, Problem{0, fmt.Sprintf("judged up to %d ns of %d ns only: %d of %d calls, %d of them without their end",
		p.cut, last, len(cut.Calls), len(h.Calls), countOpen(cut))})
	return cut, p.problems, nil
}

// gaps cuts at the last call before the first id that is missing, and says whether no call or fault can be. Without an end line the ids
// after the last are missing too.
func (p *parser) gaps(h *History) (whole bool) {
	whole = true
	before := int64(0) // instant of the call before
	next := int64(1)
	missing := func(from, to int64) {
		whole = false
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
		p.report(0, "the end line is missing: calls may be missing after call %d", next-1)
		p.cut = min(p.cut, p.latest)
		return false
	case int64(p.end.Calls) >= next:
		missing(next, int64(p.end.Calls))
	case int64(p.end.Calls) < next-1:
		p.report(0, "the end line counts %d calls, but there is a call %d", p.end.Calls, next-1)
		whole = false
	}
	if p.end.Faults != len(h.Faults) {
		p.report(0, "the end line counts %d faults, %d are there", p.end.Faults, len(h.Faults))
		whole = false
		p.cut = min(p.cut, p.doubt)
		if p.doubt == math.MaxInt64 { // a whole line is gone: nobody knows where
			p.cut = 0
		}
	}
	if p.end.Returns != p.returns {
		p.report(0, "the end line counts %d returns, %d are there: how those calls ended counts as unknown", p.end.Returns, p.returns)
	}
	return whole
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
