package linearize

import (
	"maps"
	"slices"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// Exercised is what legal groups have put to the test: what had a part in an explanation of an answer that was seen. The search follows several
// explanations at a time, of which all but one are wrong in the end; as each has to explain all answers so far, they hardly differ in this.
type Exercised struct {
	Rules map[classic.RuleID]int // by how many groups
	Moves map[Move]int
}

// Move is what becomes of a group's state: the two are equal where it stays.
type Move struct{ From, To classic.Phase }

// Add adds what another group has exercised.
func (e *Exercised) Add(o Exercised) {
	if e.Rules == nil {
		e.Rules, e.Moves = map[classic.RuleID]int{}, map[Move]int{}
	}
	for rule, n := range o.Rules {
		e.Rules[rule] += n
	}
	for move, n := range o.Moves {
		e.Moves[move] += n
	}
}

// Names are the rules, sorted by their ids.
func (e *Exercised) Names() (names []string) {
	for rule := range e.Rules {
		names = append(names, rule.String())
	}
	slices.Sort(names)
	return names
}

// Clone is a copy.
func (e *Exercised) Clone() Exercised { return Exercised{maps.Clone(e.Rules), maps.Clone(e.Moves)} }

// phases are how many there are.
const phases = int(classic.Stable) + 1

// exercised is what one search has seen.
type exercised struct {
	rules [256]bool
	moves [phases][phases]bool
}

// saw notes an outcome whose answers are those that were seen.
func (x *exercised) saw(before *observe.Branch, o *observe.Outcome) {
	for _, rule := range o.Rules {
		x.rules[rule] = true
	}
	x.moves[before.Phase()][o.Branch.Phase()] = true
}

func (x *exercised) counted() Exercised {
	e := Exercised{map[classic.RuleID]int{}, map[Move]int{}}
	for rule, seen := range x.rules {
		if seen {
			e.Rules[classic.RuleID(rule)] = 1
		}
	}
	for from := range x.moves {
		for to, seen := range x.moves[from] {
			if seen {
				e.Moves[Move{classic.Phase(from), classic.Phase(to)}] = 1
			}
		}
	}
	return e
}
