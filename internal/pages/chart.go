package pages

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"sort"
	"strconv"
)

// The picture is laid out in parts of its width, so that it fits every screen.

type lane struct {
	Name   string
	Height template.CSS
	Bars   []box
}

type box struct {
	Left, Width, Top template.CSS
	Kind             BarKind
	Label, Tip, Ref  string
}

type tick struct {
	Left  template.CSS
	Label string
	Last  bool // its label ends there
}

// scale maps instants to parts of the width, from 0 to 1. What lies between two instants at which something happens is as wide as a root of
// its length: a group mostly waits, and what happens would be too small to see.
type scale struct {
	at    []int64
	where []float64
}

const (
	flat = 0.4
	// readable is the part of the width that a call should have for its number to be read, and shared the part that all of them may take
	// together.
	readable, shared = 0.07, 0.6
)

// newScale makes the scale of some instants. Bars that are to be read are wide enough for that, if they are not too many.
func newScale(at []int64, read []Bar) scale {
	slices.Sort(at)
	s := scale{at: slices.Compact(at)}
	n := len(s.at)
	if n < 2 {
		s.where = make([]float64, n)
		return s
	}
	widths := make([]float64, n-1)
	for i := range widths {
		widths[i] = math.Pow(float64(s.at[i+1]-s.at[i]), flat)
	}
	toParts(widths)
	least := min(readable, shared/float64(max(1, len(read))))
	for _, b := range read {
		from, to := sort.Search(n, func(i int) bool { return s.at[i] >= b.From }), sort.Search(n, func(i int) bool { return s.at[i] >= b.To })
		has := 0.0
		for _, w := range widths[from:to] {
			has += w
		}
		for i := from; i < to && has < least; i++ {
			widths[i] += (least - has) / float64(to-from)
		}
	}
	toParts(widths)
	s.where = make([]float64, n)
	for i, w := range widths {
		s.where[i+1] = s.where[i] + w
	}
	return s
}

// toParts makes the sum 1.
func toParts(widths []float64) {
	whole := 0.0
	for _, w := range widths {
		whole += w
	}
	for i := range widths {
		widths[i] /= whole
	}
}

func (s *scale) of(at int64) float64 {
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] >= at })
	if i == len(s.at) {
		return 1
	}
	return s.where[i]
}

func percent(part float64) template.CSS {
	return template.CSS(strconv.FormatFloat(part*100, 'f', 3, 64) + "%")
}

// layOut computes where everything is.
func (p *failurePage) layOut() {
	var at []int64
	var read []Bar
	each := func(bars []Bar) {
		for _, b := range bars {
			at = append(at, b.From, max(b.From, b.To))
			if b.Label != "" && b.To > b.From {
				read = append(read, b)
			}
		}
	}
	each(p.Failure.Bands)
	for _, l := range p.Failure.Lanes {
		each(l.Bars)
	}
	s := newScale(at, read)
	for _, b := range p.Failure.Bands {
		p.Bands = append(p.Bands, s.box(b, 0))
	}
	for _, l := range p.Failure.Lanes {
		p.Lanes = append(p.Lanes, s.lane(l))
		p.Timers = p.Timers || slices.ContainsFunc(l.Bars, func(b Bar) bool { return b.Kind == Armed })
	}
	p.Ticks = s.ticks()
}

const (
	rowHeight = 1.25 // rem
	// narrow is the part of the width below which two bars do not stand side by side, as bars have a least width.
	narrow = 0.012
)

// lane puts bars into as many rows as it takes for none to hide another. The parts of a timer belong together, and what fired lies on them.
func (s *scale) lane(l Lane) lane {
	out := lane{Name: l.Name}
	var ends []float64
	for _, b := range l.Bars {
		row := 0
		if timer := b.Kind == Armed || b.Kind == Window || b.Kind == Late || b.Kind == Fired; !timer {
			from := s.of(b.From)
			for row = 0; row < len(ends) && ends[row] > from; row++ {
			}
			if row == len(ends) {
				ends = append(ends, 0)
			}
			ends[row] = max(s.of(max(b.From, b.To)), from+narrow)
		}
		out.Bars = append(out.Bars, s.box(b, row))
	}
	out.Height = template.CSS(fmt.Sprintf("%.2frem", rowHeight*float64(max(1, len(ends)))))
	return out
}

func (s *scale) box(b Bar, row int) box {
	left, right := s.of(b.From), s.of(max(b.From, b.To))
	ref := ""
	if b.Call > 0 {
		ref = fmt.Sprintf("c%d", b.Call)
	}
	return box{
		Left: percent(min(left, 1-narrow/2)), Width: percent(right - left), Top: template.CSS(fmt.Sprintf("%.2frem", rowHeight*float64(row)+0.05)),
		Kind: b.Kind, Label: b.Label, Tip: b.Tip, Ref: ref,
	}
}

// between is the part of the width between two labels of the axis, at least: a phone has room for five.
const between = 0.2

func (s *scale) ticks() (all []tick) {
	last := -1.0
	for i, at := range s.at {
		end := i == len(s.at)-1 && i > 0
		if !end && (s.where[i] < last+between || s.where[i] > 1-2*between && i > 0) {
			continue
		}
		last = s.where[i]
		all = append(all, tick{percent(last), fmt.Sprintf("%.0f ms", float64(at)/1e6), end})
	}
	return all
}
