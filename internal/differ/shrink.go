package differ

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
)

// tests bounds how many plays of both sides are spent to make one sequence small.
const tests = 240

// shrinker looks for a smaller sequence with the same difference.
type shrinker struct {
	*run
	want Difference
	best Sequence
	left int
}

// shrink leaves out what the difference does not need: actors, lines, then arguments.
func (r *run) shrink(ctx context.Context, seq Sequence, d Difference) (Sequence, error) {
	s := &shrinker{run: r, want: d, best: seq, left: tests}
	for again := true; again && s.left > 0; {
		again = false
		for _, pass := range []func(context.Context) (bool, error){s.actors, s.lines, s.pairs, s.words, s.numbers} {
			smaller, err := pass(ctx)
			if err != nil {
				return s.best, err
			}
			again = again || smaller
		}
	}
	return s.best, ctx.Err()
}

// first takes the first of the candidates that still has the difference, and reports whether there is one. On networks several are tried
// at a time; that the first counts keeps the result the same.
func (s *shrinker) first(ctx context.Context, candidates []Sequence) (int, error) {
	width := 8
	if s.virtual {
		width = 1
	}
	for from := 0; from < len(candidates) && s.left > 0 && ctx.Err() == nil; from += width {
		batch := candidates[from:min(from+width, len(candidates))]
		found := make([]*Sequence, len(batch))
		errs := make([]error, len(batch))
		var wg sync.WaitGroup
		for i, c := range batch {
			s.left--
			try := func() {
				s.bench <- struct{}{}
				defer func() { <-s.bench }()
				found[i], errs[i] = s.try(ctx, c)
			}
			if s.virtual {
				try()
			} else {
				wg.Go(try)
			}
		}
		wg.Wait()
		for i := range batch {
			if errs[i] != nil {
				return -1, errs[i]
			}
			if found[i] != nil {
				s.best = *found[i]
				return from + i, nil
			}
		}
	}
	return -1, ctx.Err()
}

// try plays a candidate and returns it up to the difference, if it has it.
func (s *shrinker) try(ctx context.Context, seq Sequence) (*Sequence, error) {
	if len(seq.Lines) == 0 || !seq.settled() && s.best.settled() {
		return nil, nil
	}
	a, b, err := s.both(ctx, seq, nil, 0)
	if errors.Is(err, errUnsayable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, ok := same(differences(seq, a.texts, b.texts), s.want)
	if !ok {
		return nil, nil
	}
	seq = seq.upTo(d.Block)
	return &seq, nil
}

var actorName = regexp.MustCompile(`^[A-Z][0-9]?$`)

// actors leaves out all that one actor does.
func (s *shrinker) actors(ctx context.Context) (smaller bool, err error) {
	names := map[string]bool{}
	var candidates []Sequence
	for _, l := range s.best.Lines {
		name, _, _ := strings.Cut(strings.TrimPrefix(l, verb(l)+" "), " ")
		if !actorName.MatchString(name) || names[name] {
			continue
		}
		names[name] = true
		c := Sequence{Seed: s.best.Seed}
		for _, l := range s.best.Lines {
			if who, _, _ := strings.Cut(strings.TrimPrefix(l, verb(l)+" "), " "); who != name {
				c.Lines = append(c.Lines, l)
			}
		}
		candidates = append(candidates, c)
	}
	if len(names) < 2 {
		return false, nil
	}
	at, err := s.first(ctx, candidates)
	return at >= 0, err
}

// lines leaves out lines, many at a time first.
func (s *shrinker) lines(ctx context.Context) (smaller bool, err error) {
	for size := max(1, len(s.best.Lines)/2); size >= 1; {
		var candidates []Sequence
		for from := len(s.best.Lines) - size; from >= 0; from -= max(1, size/2) {
			candidates = append(candidates, s.best.without(from, size))
		}
		at, err := s.first(ctx, candidates)
		if err != nil {
			return smaller, err
		}
		if at >= 0 {
			smaller = true
			size = min(size, max(1, len(s.best.Lines)/2))
			continue
		}
		size /= 2
	}
	return smaller, nil
}

// pairs leaves out two lines that only go together, once there are few.
func (s *shrinker) pairs(ctx context.Context) (bool, error) {
	const few = 10
	n := len(s.best.Lines)
	if n > few {
		return false, nil
	}
	var candidates []Sequence
	for i := range n {
		for k := i + 2; k < n-1; k++ { // neighbours have been tried
			candidates = append(candidates, s.best.without(k, 1).without(i, 1))
		}
	}
	at, err := s.first(ctx, candidates)
	return at >= 0, err
}

var versionArg = regexp.MustCompile(` v=\d+`)

// words leaves out arguments: versions of all lines at once first, then one after the other.
func (s *shrinker) words(ctx context.Context) (smaller bool, err error) {
	bare := Sequence{Seed: s.best.Seed}
	for _, l := range s.best.Lines {
		bare.Lines = append(bare.Lines, versionArg.ReplaceAllString(l, ""))
	}
	if strings.Join(bare.Lines, "\n") != strings.Join(s.best.Lines, "\n") {
		at, err := s.first(ctx, []Sequence{bare})
		if err != nil {
			return false, err
		}
		smaller = at >= 0
	}
	for {
		var candidates []Sequence
		for i, l := range s.best.Lines {
			for _, shorter := range shortened(l) {
				candidates = append(candidates, s.best.with(i, shorter))
			}
		}
		at, err := s.first(ctx, candidates)
		if err != nil || at < 0 {
			return smaller, err
		}
		smaller = true
	}
}

// shortened are the lines with one argument less.
func shortened(line string) []string {
	var out []string
	tokens := strings.Split(line, " ")
	for t := len(tokens) - 1; t >= 1; t-- {
		if t > 1 || strings.Contains(tokens[t], "=") {
			out = append(out, strings.Join(append(append([]string(nil), tokens[:t]...), tokens[t+1:]...), " "))
		}
	}
	return out
}

var committed = regexp.MustCompile(`( [tu]/\d=)(\d{2,}|\d+:n\d+)( |$)`)

// numbers turns offsets to plainer ones.
func (s *shrinker) numbers(ctx context.Context) (bool, error) {
	plain := Sequence{Seed: s.best.Seed}
	changed := false
	for _, l := range s.best.Lines {
		l2 := committed.ReplaceAllString(l, "${1}5$3")
		changed = changed || l2 != l
		plain.Lines = append(plain.Lines, l2)
	}
	if !changed {
		return false, nil
	}
	_, err := s.first(ctx, []Sequence{plain})
	return false, err
}
