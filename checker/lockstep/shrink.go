package lockstep

import (
	"math/rand/v2"
	"slices"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
)

// A run is determined by its choices. Shrinking removes events with the choices that made them, then turns the choices that are left to
// plainer ones, as long as the same thing still differs. It counts attempts, not seconds, so that the result does not depend on the
// machine that it runs on.

// choices are those of a run: what was drawn before the first event, and for each event.
type choices struct {
	head   []int
	events [][]int
}

// recorder is a source that draws from a seed and remembers what it chose.
type recorder struct {
	pcg  rand.PCG
	rand *rand.Rand
	log
}

// reset begins anew. What has been made so far is gone.
func (r *recorder) reset(seed uint64) {
	r.pcg.Seed(seed, 0x6c6f636b73746570)
	r.chosen, r.begun = r.chosen[:0], r.begun[:0]
	if r.rand == nil {
		r.rand = rand.New(&r.pcg)
	}
}

func (r *recorder) Intn(n int, _ string) int { return r.note(r.rand.IntN(n)) }

// log is what a source chose.
type log struct {
	chosen []int
	begun  []int // where the choices of each event begin
}

func (l *log) event() { l.begun = append(l.begun, len(l.chosen)) }

func (l *log) note(v int) int {
	l.chosen = append(l.chosen, v)
	return v
}

// made are the choices as they were made.
func (l *log) made() (c choices) {
	end := len(l.chosen)
	for i := len(l.begun) - 1; i >= 0; i-- {
		c.events = append(c.events, l.chosen[l.begun[i]:end:end])
		end = l.begun[i]
	}
	slices.Reverse(c.events)
	c.head = l.chosen[:end:end]
	return c
}

// replayer is a source that repeats choices. Where the run has come to ask for others, it takes what fits, and 0 beyond the end.
type replayer struct {
	made choices
	at   int // event; -1 is the head
	next int
}

func (r *replayer) event() { r.at, r.next = r.at+1, 0 }

func (r *replayer) Intn(n int, _ string) int {
	list := r.made.head
	if r.at >= 0 {
		list = r.made.events[r.at]
	}
	if r.next++; r.next > len(list) {
		return 0
	}
	return list[r.next-1] % n
}

// shrinker looks for shorter runs that end in the same violation.
type shrinker struct {
	newMachine func() checker.Machine
	options    Options
	world      *observe.World
	attempts   int // how many are left

	best  choices
	found *Violation
}

// attempts bounds the search.
const attempts = 4000

// replay runs the choices and returns the violation, if it is still the same.
func (s *shrinker) replay(c choices, told bool) *Violation {
	v := s.walk(&replayer{made: c, at: -1}, told).run(len(c.events), s.options.Heal)
	if v != nil && v.key() != s.found.key() {
		return nil
	}
	return v
}

// try takes the choices if they still end in the violation.
func (s *shrinker) try(c choices) bool {
	if s.attempts <= 0 {
		return false
	}
	s.attempts--
	v := s.replay(c, false)
	if v == nil {
		return false
	}
	if v.events < len(c.events) {
		c.events = c.events[:v.events]
	}
	s.best, s.found = c, v
	return true
}

// shrink does what it can, and tells what is left in words.
func (s *shrinker) shrink() {
	s.attempts = attempts
	if !s.try(s.best) {
		return // not reproducible: leave it as it was found
	}
	var deeds *dropper
	if !s.options.AsFound {
		deeds = s.shorten()
	}
	if deeds != nil {
		_, _, s.found = s.redo(deeds.best, true)
	} else if v := s.replay(s.best, true); v != nil {
		s.found = v
	}
}

// shorten looks for the shortest and plainest run, and returns it in deeds where it has any.
func (s *shrinker) shorten() (best *dropper) {
	s.reduce()
	if s.options.Heal { // who heals knows what clients have drawn
		return nil
	}
	s.attempts = attempts
	best = s.drop()
	length := len(s.best.events)
	if best != nil {
		length = len(best.best)
	}
	for n := uint64(0); n < hunts && length > short; n++ {
		other := s.hunt(n)
		if other == nil {
			continue
		}
		other.attempts = attempts
		if d := other.drop(); d != nil && len(d.best) < length {
			s.best, s.found, best, length = other.best, other.found, d, len(d.best)
		}
	}
	return best
}

// reduce makes the run shorter and plainer, one step at a time.
func (s *shrinker) reduce() {
	for again := true; again && s.attempts > 0; {
		again = s.remove()
		again = s.lower() || again
		again = again || s.removePairs()
	}
}

// A run from which nothing can be left out may still be a long way round. Where it has more than short events, other runs that end in the same
// violation are looked for and reduced, up to so many times.
const (
	short = 8
	hunts = 3
	quest = 400 // sequences that are walked for one
)

func (s *shrinker) hunt(n uint64) *shrinker {
	src := &recorder{}
	for i := range uint64(quest) {
		src.reset(s.options.Seed<<32 | n<<16 | i)
		if v := s.walk(src, false).run(2*len(s.best.events), false); v == nil || v.key() != s.found.key() {
			continue
		}
		other := &shrinker{newMachine: s.newMachine, options: s.options, world: s.world, attempts: attempts, best: src.made(), found: s.found}
		if other.try(other.best) {
			other.reduce()
			return other
		}
	}
	return nil
}

// remove leaves out events, many at a time first.
func (s *shrinker) remove() (shorter bool) {
	for size := max(1, len(s.best.events)/2); size >= 1; size /= 2 {
		for from := len(s.best.events) - size; from >= 0; {
			c := choices{head: s.best.head}
			c.events = append(append(c.events, s.best.events[:from]...), s.best.events[min(from+size, len(s.best.events)):]...)
			if s.try(c) {
				shorter = true
			}
			from = min(from-1, len(s.best.events)-size)
		}
	}
	return shorter
}

// removePairs leaves out two events that only go together.
func (s *shrinker) removePairs() bool {
	for a := 0; a < len(s.best.events); a++ {
		for b := a + 1; b < len(s.best.events); b++ {
			c := choices{head: s.best.head}
			for i, e := range s.best.events {
				if i != a && i != b {
					c.events = append(c.events, e)
				}
			}
			if s.try(c) {
				return true
			}
		}
	}
	return false
}

// lower turns single choices to plainer ones.
func (s *shrinker) lower() (lower bool) {
	for e := 0; e < len(s.best.events); e++ {
		for i := 0; e < len(s.best.events) && i < len(s.best.events[e]); i++ {
			for _, plainer := range []func(int) int{
				func(int) int { return 0 }, func(v int) int { return v / 2 }, func(v int) int { return v - 1 },
			} {
				v := s.best.events[e][i]
				if v == 0 {
					break
				}
				c := choices{head: s.best.head, events: append([][]int(nil), s.best.events...)}
				c.events[e] = append([]int(nil), c.events[e]...)
				c.events[e][i] = plainer(v)
				if s.try(c) {
					lower = true
					break
				}
			}
			if e >= len(s.best.events) {
				break
			}
		}
	}
	return lower
}
