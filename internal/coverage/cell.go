// Package coverage counts what has been put to the test. A cell is a rule that decided something, the state in which the group was, and
// what came of it for the one who asked. Exploration says which cells there are; scenarios say which of them a real broker has been
// seen in; what is left over is listed with the reason.
package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// State is the state of a group before a step: a phase of a group that is served, or what else its broker is to it.
type State uint8

const (
	Absent State = iota
	Empty
	PreparingRebalance
	CompletingRebalance
	Stable
	Loading
	Elsewhere // the broker is not the group's coordinator
	states
)

var stateNames = [...]string{"absent", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "loading", "elsewhere"}

func (s State) String() string { return stateNames[s] }

// StateOf is what the group is in.
func StateOf(s *classic.State) State {
	switch s.Serving {
	case classic.Loading:
		return Loading
	case classic.NoCoordinator:
		return Elsewhere
	}
	return State(s.Phase)
}

// Outcome is what came of a step.
type Outcome uint8

const (
	Answer   Outcome = iota // the request was answered; of what is no request (a timer): a request that waited was
	Parked                  // the request waits
	Silent                  // nobody is answered, or a request that waited never will be
	outcomes                // how many there are
)

var outcomeNames = [...]string{"answer", "parked", "silent"}

func (o Outcome) String() string { return outcomeNames[o] }

// Cell is a rule in a state with an outcome.
type Cell struct {
	Rule    classic.RuleID
	State   State
	Outcome Outcome
}

func (c Cell) String() string { return fmt.Sprintf("%v %v %v", c.Rule, c.State, c.Outcome) }

// ParseCell reads what String has written.
func ParseCell(text string) (c Cell, err error) {
	words := strings.Fields(text)
	if len(words) != 3 {
		return c, fmt.Errorf("%q is no cell; write as in \"sync.preparing PreparingRebalance answer\"", text)
	}
	rule, known := classic.FindRule(words[0])
	state, outcome := slices.Index(stateNames[:], words[1]), slices.Index(outcomeNames[:], words[2])
	switch {
	case !known:
		return c, fmt.Errorf("cell %q: there is no rule %q", text, words[0])
	case state < 0:
		return c, fmt.Errorf("cell %q: %q is none of %s", text, words[1], strings.Join(stateNames[:], ", "))
	case outcome < 0:
		return c, fmt.Errorf("cell %q: %q is none of %s", text, words[2], strings.Join(outcomeNames[:], ", "))
	}
	return Cell{rule, State(state), Outcome(outcome)}, nil
}

// maxRules bounds rule ids, which are bytes.
const maxRules = 256

// Counts says how often each cell and each change of state was seen. The zero value has seen nothing.
type Counts struct {
	cells [maxRules][states][outcomes]int
	Moves [states][states]int // steps that decided something, from one state to another or the same
}

// Seen is how often the cell was.
func (c *Counts) Seen(cell Cell) int { return c.cells[cell.Rule][cell.State][cell.Outcome] }

// Cells are those seen, by rule id, state and outcome.
func (c *Counts) Cells() []Cell {
	var all []Cell
	for rule := range c.cells {
		for state := range c.cells[rule] {
			for outcome, n := range c.cells[rule][state] {
				if n > 0 {
					all = append(all, Cell{classic.RuleID(rule), State(state), Outcome(outcome)})
				}
			}
		}
	}
	Sort(all)
	return all
}

// Sort sorts cells by the rules' ids, then by state and outcome.
func Sort(cells []Cell) { slices.SortFunc(cells, compare) }

func compare(a, b Cell) int {
	if n := strings.Compare(a.Rule.String(), b.Rule.String()); n != 0 {
		return n
	}
	if a.State != b.State {
		return int(a.State) - int(b.State)
	}
	return int(a.Outcome) - int(b.Outcome)
}

// Add adds what another has seen.
func (c *Counts) Add(o *Counts) {
	for rule := range c.cells {
		for state := range c.cells[rule] {
			for outcome := range c.cells[rule][state] {
				c.cells[rule][state][outcome] += o.cells[rule][state][outcome]
			}
		}
	}
	for from := range c.Moves {
		for to := range c.Moves[from] {
			c.Moves[from][to] += o.Moves[from][to]
		}
	}
}

// note counts one step. A step that leaves a waiting request without an answer counts as Silent besides.
func (c *Counts) note(before, after *classic.State, rules []classic.RuleID, outcome Outcome, dropped bool) {
	from := StateOf(before)
	for _, rule := range rules {
		c.cells[rule][from][outcome]++
		if dropped && outcome != Silent {
			c.cells[rule][from][Silent]++
		}
	}
	if to := StateOf(after); len(rules) > 0 || to != from {
		c.Moves[from][to]++
	}
}

// outcomeOf is what came of a step.
func outcomeOf(request, answered bool) Outcome {
	switch {
	case answered:
		return Answer
	case request:
		return Parked
	}
	return Silent
}

// Step counts a step of the specification as a coordinator.
func (c *Counts) Step(s *observe.Step) {
	c.note(&s.Before, &s.After, s.Rules, outcomeOf(s.Request, s.Answered), s.Dropped)
}

// transition counts a transition of the model, as exploration sees it.
func (c *Counts) transition(from *classic.State, e *classic.Event, t *classic.Transition) {
	s := step{}
	s.transition(from, e, t)
	c.note(s.from, s.to, s.rules, s.outcome, s.dropped)
}

// step is a transition of the model, as it counts.
type step struct {
	from, to *classic.State
	rules    []classic.RuleID
	outcome  Outcome
	dropped  bool
}

// nameless is the group that a request with an empty group id is about: not the one that is explored.
var nameless = [...]classic.State{{}, {Serving: classic.Loading}, {Serving: classic.NoCoordinator}}

func (s *step) transition(from *classic.State, e *classic.Event, t *classic.Transition) {
	s.from, s.to, s.rules, s.dropped = from, &t.Next, t.Rules, len(t.Superseded) > 0
	answered := !e.Kind.Request() && len(t.Replies) > 0
	if e.Kind.Request() {
		for i := range t.Replies {
			answered = answered || t.Replies[i].To.Kind == classic.Caller
		}
	}
	s.outcome = outcomeOf(e.Kind.Request(), answered)
	if e.BadGroup {
		s.from, s.to = &nameless[from.Serving], &nameless[from.Serving]
	}
	if e.Kind == classic.Cleanup && e.Taken.Pending {
		s.rules = nil // a cleanup leaves what is pending: no driver asks for this
	}
	if (e.Kind == classic.ListGroups || e.Kind == classic.Unload) && from.Serving == classic.Active && from.Phase == classic.Absent {
		s.rules = nil // a group that does not exist is not asked, and nobody gives it up
	}
}

func (s *step) has(c Cell) bool {
	return StateOf(s.from) == c.State && slices.Contains(s.rules, c.Rule) && (s.outcome == c.Outcome || s.dropped && c.Outcome == Silent)
}
