// Package explore searches a finite transition system breadth first until nothing new is left, and judges every state and every
// transition on the way. What it finds broken comes with a shortest trace, and the numbers it counts are exact: they do not depend
// on the number of workers.
//
// The first system is the specification itself (Group): exploring it shows that the rules fit together, and that each property
// notices the rule it is made for when the model breaks it.
package explore

// Key is a state as the search stores and compares it.
type Key [2]uint64

// Less is the order in which the search prefers one of several equally short ways to a state.
func (k Key) Less(l Key) bool { return k[0] < l[0] || k[0] == l[0] && k[1] < l[1] }

// Machine is a finite transition system as one worker of the search sees it: workers have one each, so it may keep scratch space.
// All of them must describe the same system, and always in the same order.
type Machine interface {
	// Initial is the key of the state that everything starts in.
	Initial() Key

	// Expand fills in the state's transitions and what is wrong with the state or with them. The expansion comes empty.
	Expand(k Key, x *Expansion)

	// Narrate tells a path in words: edges are positions in the expansions along it, from the initial state. What a finding shows
	// beyond the path (how a request is left alone) comes after it.
	Narrate(edges []int, finding Finding) []Step
}

// Expansion is what can happen in one state.
type Expansion struct {
	Next     []Key // where each transition leads
	Findings []Finding
	Err      error // the state has a transition that Key cannot express: the search cannot be complete
}

// Finding is a property that a state or a transition breaks.
type Finding struct {
	Edge     int // the transition, a position in Next; OfState for the state itself
	Property string
	Rule     string // the rule that the property stands for
	Detail   int    // whatever Narrate needs
}

// OfState marks a finding about a state.
const OfState = -1

func (x *Expansion) reset() {
	x.Next, x.Findings, x.Err = x.Next[:0], x.Findings[:0], nil
}
