package differ

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance"
)

// Mortal is a target whose process may end by a fault of its own, and can be started anew.
type Mortal interface {
	// Dead reports whether it has ended, and with which last words.
	Dead() (words string, dead bool)

	// Revive starts it anew, with nothing in it.
	Revive(context.Context) error
}

// deathError says that the target ended while it was played on.
type deathError struct{ words string }

func (e *deathError) Error() string { return "the target has ended: " + firstLine(e.words) }

// suspect is a sequence that was played when the target ended, as far as it had come: what comes after cannot have ended it.
type suspect struct {
	seq  Sequence
	last time.Time // when it did something last
}

// suspected is the sequence with the texts that it had given by then.
func suspected(seq Sequence, played conformance.Played) suspect {
	at := slices.IndexFunc(played.Texts, closed)
	if at < 0 {
		at = len(played.Texts)
	}
	return suspect{seq.upTo(min(at, len(seq.Lines)-1)), played.Last}
}

// before puts first whom it takes least to hear: who let time pass when the target ended did nothing to it, unless a timer did, and takes as
// long again. Of the others it is rather the one who did something last.
func (s suspect) before(o suspect) int {
	if a, b := s.idle(), o.idle(); a != b {
		if b {
			return -1
		}
		return 1
	}
	return o.last.Compare(s.last)
}

func (s suspect) idle() bool { return verb(s.seq.Lines[len(s.seq.Lines)-1]) == "advance" }

// died reports whether a Mortal has ended. A connection that is closed is a reason to look twice.
func (s *side) died(ctx context.Context, played conformance.Played, err error) (string, bool) {
	m, ok := s.player.Target().(Mortal)
	if !ok {
		return "", false
	}
	doubt := err != nil || slices.ContainsFunc(played.Texts, closed)
	words, dead := m.Dead()
	for n := 0; doubt && !dead && n < 20 && ctx.Err() == nil; n++ {
		time.Sleep(50 * time.Millisecond) // a process takes a moment to end, and nothing else tells of it
		words, dead = m.Dead()
	}
	return words, dead
}

// closed reports whether a connection was closed in place of an answer.
func closed(text []string) bool {
	return slices.ContainsFunc(text, func(l string) bool { return strings.HasSuffix(l, ": CONNECTION_CLOSED") })
}

// kills plays a sequence alone on a Mortal and reports whether that ends it; it lives again afterwards. The caller holds the side's life.
func (s *side) kills(ctx context.Context, seq Sequence) (texts [][]string, words string, err error) {
	m := s.player.Target().(Mortal)
	if err := m.Revive(ctx); err != nil {
		return nil, "", err
	}
	out, err := s.perform(ctx, seq, nil, true, 0)
	var death *deathError
	switch {
	case errors.As(err, &death):
		s.mu.Lock()
		s.suspects = nil
		s.mu.Unlock()
		return out.texts, cmp.Or(death.words, "no last words"), m.Revive(ctx)
	case errors.Is(err, errUnsayable):
		return nil, "", nil
	}
	return nil, "", err
}

// deathTests bounds how many plays are spent to make a killing sequence small: each one that kills costs a new process.
const deathTests = 80

// inquests is how many deaths could be looked into in all the time that there is: each of them has as much of it, so that others play on.
const inquests = 6

// mostDeaths bounds how often a target may end by itself.
const mostDeaths = 12

// inquest finds the sequence that ended a side, makes it small and files it. Nobody else plays meanwhile.
func (r *run) inquest(ctx context.Context, s *side) error {
	s.life.Lock()
	defer s.life.Unlock()
	s.mu.Lock()
	suspects := s.suspects
	s.suspects = nil
	s.mu.Unlock()
	if len(suspects) == 0 || ctx.Err() != nil {
		return nil // another one has seen to it
	}
	deaths := 0
	r.count(func(c *Counts) { c.Deaths++; deaths = c.Deaths })
	if deaths > mostDeaths {
		return fmt.Errorf("%s has ended by itself %d times; the run stops here, what was found so far is told", s.name(), deaths)
	}
	r.count(func(c *Counts) { c.Lost += len(suspects) })
	slices.SortStableFunc(suspects, suspect.before)
	hearing, stop := context.WithTimeout(ctx, r.o.Budget/inquests)
	defer stop()
	for _, one := range suspects {
		texts, words, err := s.kills(hearing, one.seq)
		if hearing.Err() != nil && words == "" {
			break
		}
		if err != nil {
			return err
		}
		if words == "" {
			continue
		}
		at := slices.IndexFunc(texts, closed)
		if at < 0 {
			at = len(texts)
		}
		seq := one.seq.upTo(min(at, len(one.seq.Lines)-1))
		best, left := seq, deathTests
		try := func(c Sequence) bool {
			if left--; left < 0 || len(c.Lines) == 0 || hearing.Err() != nil {
				return false
			}
			_, w, kerr := s.kills(ctx, c)
			if kerr != nil {
				err = kerr
			}
			if w == "" {
				return false
			}
			best, words = c, w
			return true
		}
		for again := true; again && left > 0 && err == nil; {
			again = false
			for at := len(best.Lines) - 2; at >= 0; at-- {
				again = at < len(best.Lines)-1 && try(best.without(at, 1)) || again
			}
			for at := 0; at < len(best.Lines); at++ {
				for _, shorter := range shortened(best.Lines[at]) {
					if try(best.with(at, shorter)) {
						again = true
						break
					}
				}
			}
		}
		if err != nil {
			return err
		}
		return r.fileDeath(ctx, s, best, words)
	}
	if ctx.Err() != nil {
		return nil
	}
	return s.player.Target().(Mortal).Revive(ctx) // it may have been two of them together, or none in time: the next death will tell
}

// fileDeath makes sure that a sequence kills and files it, with what the other side answers.
func (r *run) fileDeath(ctx context.Context, s *side, seq Sequence, words string) error {
	for range confirmations {
		_, again, err := s.kills(ctx, seq)
		if err != nil || again == "" {
			return err
		}
	}
	other := r.b
	if s == r.b {
		other = r.a
	}
	out, err := other.play(ctx, seq, nil, true, 0)
	if err != nil {
		return err
	}
	last := len(seq.Lines) - 1
	if len(out.texts) <= last {
		return nil
	}
	theirs := cmp.Or(strings.Join(out.texts[last], " "), nothing)
	d := Difference{Block: last, Verb: verb(seq.Lines[last]), Dies: true}
	mine := slices.Clone(out.texts[:last])
	mine = append(mine, []string{"the process ends"})
	d.Signature = fmt.Sprintf("%s: the process ends | %s", d.Verb, plain(answer(theirs)))
	c := &Class{Sequence: seq, From: seq.Seed, Words: words}
	if s == r.a {
		d.A, d.B, c.TextA, c.TextB = "the process ends: "+firstLine(words), theirs, mine, out.texts
	} else {
		d.A, d.B, c.TextA, c.TextB = theirs, "the process ends: "+firstLine(words), out.texts, mine
		d.Signature = fmt.Sprintf("%s: %s | the process ends", d.Verb, plain(answer(theirs)))
	}
	c.Difference = d
	r.explain(ctx, c, false)
	r.mu.Lock()
	r.sights[d.Signature] = &sight{met: 1}
	r.deadly = append(r.deadly, shape(seq.Lines[last]))
	r.mu.Unlock()
	r.file(c)
	return nil
}

var versions = regexp.MustCompile(` (v|session|rebalance|group)=\S+`)

// shape is a line without who, how much and which version: what is like one that kills is not played any more.
func shape(line string) string { return plain(versions.ReplaceAllString(line, "")) }

// spared is the sequence up to the first line that is like one that kills.
func (r *run) spared(seq Sequence) Sequence {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, l := range seq.Lines {
		if i > 0 && slices.Contains(r.deadly, shape(l)) {
			return seq.upTo(i - 1)
		}
	}
	return seq
}

func firstLine(text string) string {
	l, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return l
}
