package differ

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// Class is differences that are taken for one.
type Class struct {
	Difference
	Rule     string   // that tells them apart, if the specification knows one
	Rules    []string // all that it takes, where it is several
	Note     string   // what the specification says of it where it does not explain it
	Known    string   // why it is no news; empty if nobody knows
	Count    int      // sequences that were made small and ended here
	Met      int      // sequences that differed so at first sight, those of other classes that look alike among them
	Sequence Sequence // the smallest
	From     uint64   // seed of the sequence that it was made from
	Words    string   // the last ones of a side whose process ended
	TextA    [][]string
	TextB    [][]string
	Name     string
	File     string // set by whoever saves it
}

// How sure a difference has to be, and how often one that is shown alike is made small: what looks alike at first may have two causes.
const (
	confirmations = 3
	choices       = 8 // of the sort that may be a free choice
	alike         = 3
)

// consider looks at the differences of a sequence. The first one that is news counts; one that is not, and after which the sides still
// mean the same, does not hide what comes after.
func (r *run) consider(ctx context.Context, seq Sequence, a, b outcome) {
	all := differences(seq, a.texts, b.texts)
	if len(all) == 0 {
		return
	}
	r.count(func(c *Counts) { c.Differed++ })
	for _, d := range all {
		known := r.known(ctx, seq, d, a, b)
		switch {
		case known != "" && r.recognised(d, known):
		case r.meet(d):
			r.later(known != "", func() { r.examine(ctx, seq, d, known != "") })
			return
		}
	}
}

// known is the rule by which a difference is explained as it is, before anything is played again; empty where it is not.
func (r *run) known(ctx context.Context, seq Sequence, d Difference, a, b outcome) string {
	c := &Class{Difference: d, Sequence: seq.upTo(d.Block), TextA: a.texts, TextB: b.texts}
	r.explain(ctx, c, true)
	if c.Known == "" {
		return ""
	}
	return cmp.Or(c.Rule, c.Known)
}

// later runs what takes long: in virtual time at once, so that the run stays the same; on networks beside the drawing, a few at a time. What
// is known already waits behind what is news.
func (r *run) later(known bool, do func()) {
	if r.virtual {
		do()
		return
	}
	desk := r.desk
	if known {
		desk = r.backDesk
	}
	r.exams.Go(func() {
		desk <- struct{}{}
		defer func() { <-desk }()
		do()
	})
}

// recognised counts a difference that looks like one of a class and has the same explanation: nothing has to be played for it.
func (r *run) recognised(d Difference, rule string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.classes, func(o *Class) bool {
		return o.Signature == d.Signature && o.Known != "" && !o.Dies && cmp.Or(o.Rule, o.Known) == rule
	}) {
		return false
	}
	r.sights[d.Signature].met++
	return true
}

// sight is how often differences that look alike were met, and how many of these were looked at.
type sight struct{ met, examined int }

// meet counts a difference and says whether it has to be looked at.
func (r *run) meet(d Difference) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.sights[d.Signature]
	if !ok {
		s = &sight{}
		r.sights[d.Signature] = s
	}
	s.met++
	if s.examined >= alike {
		return false
	}
	s.examined++
	return true
}

// examine makes sure of a difference, makes its sequence small and files it.
func (r *run) examine(ctx context.Context, seq Sequence, d Difference, known bool) {
	seq = seq.upTo(d.Block)
	need := confirmations
	if d.Choice {
		need = choices
	}
	var sure certainty
	var err error
	if small := r.rehearsed(ctx, seq, d, known); small != nil {
		if sure, err = r.confirm(ctx, *small, d, need); err == nil && sure.steady {
			seq = *small
		}
	}
	done := sure.steady
	if err == nil && !done {
		sure, err = r.confirm(ctx, seq, d, need)
	}
	if err == nil && sure.steady && !done {
		var small Sequence
		if small, err = r.shrink(ctx, seq, d); err == nil {
			var still certainty
			if still, err = r.confirm(ctx, small, d, need); err == nil && still.steady {
				seq, sure = small, still
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		r.mu.Lock()
		defer r.mu.Unlock()
		if !known {
			r.open = append(r.open, Class{Difference: d, Sequence: seq, Count: 1, From: seq.Seed})
		}
	case errors.Is(err, errUnsayable):
	case r.buried(ctx, err):
		r.forget(d, func(*Counts) {})
	case err != nil:
		r.fail(ctx, err)
	case sure.choice:
		r.forget(d, func(c *Counts) { c.Choices++ })
	case !sure.steady:
		r.mu.Lock()
		r.unsteady = append(r.unsteady, Unsteady{seq, d})
		r.mu.Unlock()
		r.forget(d, func(c *Counts) { c.Unsteady++ })
	default:
		c := &Class{Difference: sure.difference, Sequence: seq, From: seq.Seed, TextA: sure.a, TextB: sure.b}
		r.explain(ctx, c, false)
		r.file(c)
	}
}

// forget takes back that a difference was met: it was none.
func (r *run) forget(d Difference, f func(*Counts)) {
	r.mu.Lock()
	if s := r.sights[d.Signature]; s != nil {
		s.met, s.examined = s.met-1, s.examined-1
	}
	r.mu.Unlock()
	r.count(f)
}

// file puts a difference into its class; the smallest sequence stands for it.
func (r *run) file(c *Class) {
	if r.o.Found != nil {
		r.o.Found(*c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, old := range r.classes {
		if old.Signature != c.Signature || old.Rule != c.Rule || (old.Known == "") != (c.Known == "") {
			continue
		}
		c.Count = old.Count + 1
		old.Count++
		if smaller(c.Sequence, old.Sequence) {
			r.classes[i] = c
		}
		return
	}
	c.Count = 1
	r.classes = append(r.classes, c)
}

func smaller(a, b Sequence) bool {
	if len(a.Lines) != len(b.Lines) {
		return len(a.Lines) < len(b.Lines)
	}
	x, y := strings.Join(a.Lines, "\n"), strings.Join(b.Lines, "\n")
	return len(x) < len(y) || len(x) == len(y) && x < y
}

// certainty is what came of playing a sequence again.
type certainty struct {
	steady     bool
	choice     bool // the sides gave the same texts, only not at the same time
	difference Difference
	a, b       [][]string
}

// stretched is by how much slower a sequence is played to make sure of it, and excuses how many of these plays may be left out in which the
// difference did not show and the machine did not keep up: each is played again, more slowly still.
const (
	stretched = 2.0
	excuses   = 2
)

// confirm plays the sequence again so many times, from a clean group and more slowly. Each side waits with patience for the answers that
// the other has given.
func (r *run) confirm(ctx context.Context, seq Sequence, d Difference, times int) (certainty, error) {
	return confirmed(seq, d, times, func(promised [][]string, stretch float64) (a, b outcome, err error) {
		return r.both(ctx, seq, promised, stretch)
	})
}

func confirmed(seq Sequence, d Difference, times int, play func(promised [][]string, stretch float64) (a, b outcome, err error)) (certainty, error) {
	var c certainty
	seenA, seenB := map[string]bool{}, map[string]bool{}
	var promised [][]string
	for n, left, stretch := 0, excuses, stretched; n < times; n++ {
		a, b, err := play(promised, stretch)
		if err != nil {
			return c, err
		}
		if _, ok := same(differences(seq, a.texts, b.texts), d); !ok && left > 0 && (a.late(d.Block) || b.late(d.Block)) {
			n, left, stretch = n-1, left-1, 2*stretch
			continue
		}
		seenA[joined(a.texts, d.Block)], seenB[joined(b.texts, d.Block)] = true, true
		for text := range seenA {
			if seenB[text] {
				c.choice = d.Choice || len(seenA) > 1 || len(seenB) > 1
				return c, nil
			}
		}
		found, ok := same(differences(seq, a.texts, b.texts), d)
		if !ok {
			return c, nil
		}
		c.difference, c.a, c.b = found, a.texts, b.texts
		promised = b.texts
	}
	c.steady = true
	return c, nil
}

// same finds a difference again.
func same(all []Difference, d Difference) (Difference, bool) {
	for _, o := range all {
		if o.Signature == d.Signature {
			return o, true
		}
	}
	return Difference{}, false
}

func joined(texts [][]string, upTo int) string {
	var b strings.Builder
	for i := range min(len(texts), upTo+1) {
		b.WriteString(strings.Join(texts[i], "\n") + "\n\n")
	}
	return b.String()
}
