package monitor

import (
	"maps"
	"strings"
)

// What a watch remembers grows with the history. An exploration takes it into its states, and so it has to be bounded: Bound keeps what is about
// the ids that are left and the newest generation, and Sum tells two memories apart. Writes that are torn (Step.Torn) cannot be bounded.

// Gone stands for every id that has been told and is gone. Whoever bounds a watch has such ids asked by this name, and gives it to nobody.
const Gone = "nobody"

// Copy is the watch over of which nothing is left but what w knows. Both go their own ways then. over may be nil.
func (w *Watch) Copy(over *Watch) *Watch {
	if over == nil {
		over = New()
	}
	over.state, over.newest = w.state, w.newest
	refill(over.leaders, w.leaders)
	refill(over.made, w.made) // what has been made is not changed again
	refill(over.instance, w.instance)
	refill(over.owner, w.owner)
	refill(over.ids, w.ids)
	refill(over.pending, w.pending)
	refill(over.dead, w.dead)
	refill(over.acked, w.acked)
	return over
}

func refill[K comparable, V any](to, from map[K]V) {
	clear(to)
	maps.Copy(to, from)
}

// Bound forgets what is about ids that are not there, and about generations that are not the newest one. now is the group's generation. What is
// forgotten is either of no use (an answer of a generation that is not the newest one breaks "generations grow", or "nobody acts in a generation
// after a newer one has been told"), or is about an id that is called Gone from then on, whether its group has ended or not.
func (w *Watch) Bound(now int32, there func(id string) bool) {
	for generation := range w.leaders {
		if generation != w.newest || generation < now {
			delete(w.leaders, generation)
		}
	}
	current := max(w.newest, now)
	maps.DeleteFunc(w.made, func(generation int32, _ map[string]string) bool {
		return generation < current || w.state != completing && w.state != stable // a group that rebalances gives nobody what was made
	})
	clear(w.dead)
	w.dead[Gone] = true
	for in, id := range w.owner {
		if !there(id) {
			delete(w.owner, in)
		}
	}
	for _, of := range []map[string]bool{w.ids, w.pending} {
		for id := range of {
			if !there(id) {
				delete(of, id)
			}
		}
	}
	for id := range w.instance {
		if !there(id) {
			delete(w.instance, id)
		}
	}
	is := func(who string) bool {
		if in, static := strings.CutPrefix(who, "@"); static {
			for _, other := range w.instance {
				if other == in {
					return true
				}
			}
			return false
		}
		return there(who) && !w.pending[who] // to whom only an id was handed out, nothing is assigned
	}
	for generation, who := range w.leaders {
		if !is(who) {
			w.leaders[generation] = Gone
		}
	}
	for generation, made := range w.made {
		for who := range made {
			if !is(who) {
				made = maps.Clone(made) // others may have it too
				maps.DeleteFunc(made, func(who, _ string) bool { return !is(who) })
				w.made[generation] = made
				break
			}
		}
	}
}

// Sum is what a bounded watch remembers of the group, as a number; now is the group's generation. Names, and generations as such, make no
// difference. What the last look has shown is no part of it: whoever looks at each step can see it.
func (w *Watch) Sum(now int32) (sum uint64) {
	told := uint64(0) // nothing
	switch {
	case w.newest == 0:
	case w.newest < now:
		told = 1
	case w.newest == now:
		told = 2
	default:
		told = 3
	}
	_, led := w.leaders[w.newest]
	current := max(w.newest, now)
	return told | bit(led, 2) | bit(w.made[current] != nil, 3) | bit(len(w.acked) > 0, 4)
}

// SumOf is what it remembers of a member.
func (w *Watch) SumOf(id string, now int32) uint64 {
	who, current := w.who(id), max(w.newest, now)
	sum := bit(w.leaders[w.newest] == who, 0)
	bytes, made := w.made[current][who]
	sum |= bit(made, 2)
	for i := range len(bytes) {
		sum = sum*31 + uint64(bytes[i])<<8
	}
	return sum
}

func bit(on bool, at int) uint64 {
	if on {
		return 1 << at
	}
	return 0
}
