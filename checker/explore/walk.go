package explore

import (
	"slices"

	"github.com/muster-kafka/muster/model/classic"
)

// Walk is a breadth-first walk through a Group by events that leave no choice, for whoever wants to go the same ways with real requests.
type Walk struct {
	machine *machine
	order   []Key
	came    map[Key]way
}

// way is how a state was reached first.
type way struct {
	parent Key
	edge   int // of the parent's events
	steps  int
}

// Walk visits every state that can be reached by events which follow accepts and which have one outcome. visit is told of every such event
// in every state: at is the state's number, shortest ways first. What it is given is valid only during the call.
func (g Group) Walk(follow func(s *classic.State, e *classic.Event) bool, visit func(at int, s *classic.State, e *classic.Event, t *classic.Transition)) *Walk {
	m := g.Machine().(*machine)
	w := &Walk{machine: m, order: []Key{m.Initial()}, came: map[Key]way{m.Initial(): {}}}
	for at := 0; at < len(w.order); at++ {
		k := w.order[at]
		m.state = classic.Unpack(classic.Packed(k))
		m.enumerate(&m.state)
		for i := range m.events {
			e := &m.events[i]
			if !follow(&m.state, e) || w.choices(e) != 1 {
				continue
			}
			m.model.Step(&m.state, e, func(t *classic.Transition) bool {
				visit(at, &m.state, e, t)
				next, ok := classic.Pack(t.Next)
				if _, known := w.came[Key(next)]; ok && !known {
					w.came[Key(next)] = way{k, i, w.came[k].steps + 1}
					w.order = append(w.order, Key(next))
				}
				return false
			})
		}
	}
	return w
}

// choices is in how many states an event may end; 0 where the group has no room for it.
func (w *Walk) choices(e *classic.Event) int {
	var ends []classic.Packed
	m := w.machine
	room := true
	m.model.Step(&m.state, e, func(t *classic.Transition) bool {
		if room = !t.Overflow && inUse(&t.Next) <= m.group.Members; !room {
			return false
		}
		if next, _ := classic.Pack(t.Next); !slices.Contains(ends, next) {
			ends = append(ends, next)
		}
		return true
	})
	if !room {
		return 0
	}
	return len(ends)
}

// Path is the events that lead to a state.
func (w *Walk) Path(at int) []classic.Event {
	k := w.order[at]
	path := make([]classic.Event, w.came[k].steps)
	for i := len(path) - 1; i >= 0; i-- {
		from := w.came[k]
		w.machine.state = classic.Unpack(classic.Packed(from.parent))
		w.machine.enumerate(&w.machine.state)
		path[i] = Keep(&w.machine.events[from.edge])
		k = from.parent
	}
	return path
}

// Keep copies an event, so that it stays valid.
func Keep(e *classic.Event) classic.Event {
	kept := *e
	kept.Leaves, kept.Instances = slices.Clone(e.Leaves), slices.Clone(e.Instances)
	return kept
}

// Model is the specification that the walk goes by.
func (w *Walk) Model() *classic.Model { return w.machine.model }

// List is a protocol list as the group's alphabet has it: its protocols in letters, and which metadata it comes with.
func (w *Walk) List(symbol uint8) (letters string, metadata int) {
	for _, name := range w.machine.lexicon.Lists[symbol].Names {
		letters += string(rune('a' + name - 1))
	}
	return letters, w.machine.metadata(symbol)
}

// Other says whether a symbol of a protocol type, or of a protocol, is the one that the group does not have.
func Other(symbol uint8) bool { return symbol == otherType || symbol == otherProtocol }

// Alphabet is a walk that has gone nowhere: for its Model and List.
func (g Group) Alphabet() *Walk { return &Walk{machine: g.Machine().(*machine)} }
