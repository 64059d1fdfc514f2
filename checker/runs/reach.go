package runs

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/checker/clients"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Reached is what has come about in a run, by kind. A run that reaches less than it used to shows less than it claims.
type Reached map[string][]string

// The kinds, in the order in which they are told.
const (
	phases = "phases" // of the group, and what the broker is to it
	moves  = "moves"  // from one phase to another, in one step
	events = "events"
	faults = "faults" // writes that fail, by event; what happens to clients and to the coordinator
	rules  = "rules"  // that decided something
)

var kinds = []string{phases, moves, events, faults, rules}

// The sizes of a tally; a test holds them.
const (
	mostPhases = 8
	mostEvents = 32
	mostRules  = 512
)

// tally is what one worker has seen.
type tally struct {
	phase   [mostPhases]bool
	serving [4]bool
	move    [mostPhases][mostPhases]bool
	event   [mostEvents][2]bool // by how its write went
	rule    [mostRules]bool
	odd     map[string]bool
}

func newTally() *tally { return &tally{odd: map[string]bool{}} }

func (t *tally) transition(from *classic.State, e *classic.Event, tr *classic.Transition) {
	t.move[from.Phase][tr.Next.Phase] = true
	t.effect(e, tr)
}

func (t *tally) effect(e *classic.Event, tr *classic.Transition) {
	t.phase[tr.Next.Phase], t.serving[tr.Next.Serving] = true, true
	t.event[e.Kind][min(e.Write, 1)] = true
	for _, r := range tr.Rules {
		t.rule[r] = true
	}
}

func (t *tally) happening(h clients.Happening) {
	if h.What != "" && !t.odd[h.What] {
		t.odd[h.What] = true
	}
	switch {
	case h.Transition == nil:
	case h.Event == nil:
		t.phase[h.Transition.Next.Phase] = true
	default:
		t.effect(h.Event, h.Transition)
	}
}

func (t *tally) reached() Reached {
	r := Reached{}
	add := func(kind string, on bool, word string) {
		if on {
			r[kind] = append(r[kind], word)
		}
	}
	for p, on := range t.phase {
		if on {
			add(phases, true, classic.Phase(p).String())
		}
		for q, on := range t.move[p] {
			if on && p != q {
				add(moves, true, classic.Phase(p).String()+">"+classic.Phase(q).String())
			}
		}
	}
	for s, on := range t.serving {
		if on && classic.Serving(s) != classic.Active {
			add(phases, true, word(classic.Serving(s).String()))
		}
	}
	for k, by := range t.event {
		if by[0] || by[1] {
			add(events, true, explore.EventName(classic.EventKind(k)))
		}
		if by[1] {
			add(faults, true, "write-fails:"+explore.EventName(classic.EventKind(k)))
		}
	}
	for what := range t.odd {
		add(faults, true, word(what))
	}
	for id, on := range t.rule {
		if on {
			add(rules, true, classic.RuleID(id).String())
		}
	}
	for _, kind := range kinds {
		slices.Sort(r[kind])
	}
	return r
}

// word is some words as one.
func word(text string) string { return strings.ReplaceAll(text, " ", "-") }

func union(all ...Reached) Reached {
	u := Reached{}
	for _, kind := range kinds {
		words := map[string]bool{}
		for _, r := range all {
			for _, w := range r[kind] {
				words[w] = true
			}
		}
		if len(words) > 0 {
			u[kind] = slices.Sorted(maps.Keys(words))
		}
	}
	return u
}

// minus is what is in r and not in o, each with its kind.
func (r Reached) minus(o Reached) (missing []string) {
	for _, kind := range kinds {
		for _, w := range r[kind] {
			if !slices.Contains(o[kind], w) {
				missing = append(missing, kind+": "+w)
			}
		}
	}
	return missing
}
