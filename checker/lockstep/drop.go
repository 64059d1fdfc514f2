package lockstep

import (
	"slices"

	"github.com/muster-kafka/muster/fuzz/gen"
)

// To leave out choices (shrinker.remove) has a drawback: what is left is taken by clients that know other things, and becomes something else. A client
// that has not joined yet joins where it would have sent a heartbeat. So when nothing more can be left out in that way, the run is taken apart once
// more into its deeds, each of which stays what it is: those of a client that is not needed, then one by one, by twos and by threes.

// deed is an event that can be made again, with what was chosen beside it: which answers come late, which of two timers is the first.
type deed struct {
	kept          gen.Kept
	before, after []int
}

// keeper is a source for a walk that repeats choices, and keeps its events as deeds.
type keeper struct {
	*replayer
	deeds []deed
	drawn bool // the event at hand has been
}

func (k *keeper) event() {
	k.replayer.event()
	k.deeds, k.drawn = append(k.deeds, deed{}), false
}

func (k *keeper) keep(e gen.Kept) { k.deeds[len(k.deeds)-1].kept, k.drawn = e, true }

func (k *keeper) Intn(n int, label string) int {
	v := k.replayer.Intn(n, label)
	d := &k.deeds[len(k.deeds)-1]
	if k.drawn {
		d.after = append(d.after, v)
	} else {
		d.before = append(d.before, v)
	}
	return v
}

// given is a source that repeats what was chosen beside a deed, and 0 beyond that.
type given struct{ left []int }

func (g *given) Intn(n int, _ string) int {
	if len(g.left) == 0 {
		return 0
	}
	v := g.left[0]
	g.left = g.left[1:]
	return v % n
}

// walk is a new walk that draws from the source.
func (s *shrinker) walk(src gen.Source, told bool) *walk {
	w := newWalk(s.newMachine(), s.world.Again(), s.options.World.MaxSize, s.options.Setup, src).judging(s.options)
	if told {
		w.inWords()
	}
	return w
}

// keeps makes the run of the choices, and keeps its deeds.
func (s *shrinker) keeps(c choices) (*walk, []deed, *Violation) {
	k := &keeper{replayer: &replayer{made: c, at: -1}}
	w := s.walk(k.replayer, true) // with the lines of what cannot be told again
	w.src = k
	v := w.run(len(c.events), false)
	return w, k.deeds, v
}

// redo does the deeds, and returns those that could be done, up to the violation if there is one.
func (s *shrinker) redo(deeds []deed, told bool) (*walk, []deed, *Violation) {
	src := &given{}
	w := s.walk(&replayer{made: choices{head: s.best.head}, at: -1}, told)
	w.src = src
	if v := w.loads(); v != nil || w.stats.Inconclusive != "" {
		return w, nil, v
	}
	var done []deed
	for _, d := range deeds {
		src.left = d.before
		w.deliver()
		until := w.until()
		e, ok := w.gen.Again(&d.kept, until)
		if !ok {
			continue
		}
		done, src.left = append(done, d), d.after
		if v := w.makes(e, until); v != nil || w.stats.Inconclusive != "" {
			return w, done, v
		}
	}
	return w, done, nil
}

// dropper leaves out deeds.
type dropper struct {
	*shrinker
	best []deed
}

// drop leaves out what it can; nil if the run cannot be taken apart.
func (s *shrinker) drop() *dropper {
	d := &dropper{shrinker: s}
	if _, deeds, v := s.keeps(s.best); v == nil || !d.try(deeds) {
		return nil
	}
	d.clients()
	d.many()
	for again := true; again; {
		again = d.some(1) || d.some(2) || len(d.best) > short && (d.joinOnce() || d.some(3))
	}
	return d
}

// try takes the deeds if they still end in the violation, and fewer than all.
func (d *dropper) try(deeds []deed) bool {
	if d.attempts--; d.attempts < 0 || len(deeds) == 0 {
		return false
	}
	_, done, v := d.redo(deeds, false)
	if v == nil || v.key() != d.found.key() {
		return false
	}
	d.best = done
	return true
}

// without tries to do without some deeds.
func (d *dropper) without(these func(i int) bool) bool {
	var left []deed
	for i, one := range d.best {
		if !these(i) {
			left = append(left, one)
		}
	}
	return len(left) < len(d.best) && d.try(left)
}

// clients leaves out all that a client does.
func (d *dropper) clients() {
	for c := range d.options.Setup.Groups * d.options.Setup.Clients {
		d.without(func(i int) bool { return d.best[i].kept.Client() == c })
	}
}

// many leaves out deeds that come one after the other.
func (d *dropper) many() {
	for size := len(d.best) / 2; size > 1; size /= 2 {
		for from := len(d.best) - size; from >= 0; from-- {
			d.without(func(i int) bool { return i >= from && i < from+size })
		}
	}
}

// some leaves out so many deeds that only go together.
func (d *dropper) some(n int) bool {
	var from func(these []int, first int) bool
	from = func(these []int, first int) bool {
		if len(these) == n {
			return d.without(func(i int) bool { return slices.Contains(these, i) })
		}
		for i := first; i < len(d.best); i++ {
			if from(append(these, i), i+1) {
				return true
			}
		}
		return false
	}
	return from(nil, 0)
}

// joinOnce has a client join in one request instead of two: the first one gets an old version.
func (d *dropper) joinOnce() bool {
	for i, first := range d.best {
		if joins, once := first.kept.Joins(); !joins || once {
			continue
		}
		for j := i + 1; j < len(d.best); j++ {
			if joins, _ := d.best[j].kept.Joins(); !joins || d.best[j].kept.Client() != first.kept.Client() {
				continue
			}
			deeds := slices.Delete(slices.Clone(d.best), j, j+1)
			deeds[i].kept = first.kept.Once()
			if d.try(deeds) {
				return true
			}
			break
		}
	}
	return false
}
