package core

import "fmt"

// State is a state of a group, by Kafka's own names.
type State uint8

// The states.
const (
	Empty State = iota
	PreparingRebalance
	CompletingRebalance
	Stable
	Dead
	stateCount
)

func (s State) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}[s]
}

// transitions is the table of §1.1: the states that each state may be left for. A last member that goes takes its group through
// PreparingRebalance to Empty, so that its generation is used up (leave.last.empties).
var transitions = [stateCount][stateCount]bool{
	Empty:               {PreparingRebalance: true, Dead: true},
	PreparingRebalance:  {Empty: true, CompletingRebalance: true, Dead: true},
	CompletingRebalance: {PreparingRebalance: true, Stable: true, Dead: true},
	Stable:              {PreparingRebalance: true, Dead: true},
	Dead:                {},
}

// transition moves the group: the exit action of the old state, the new state, its entry action. One outside the table is an
// inconsistency that leaves the group as it was.
func (c *Coordinator) transition(g *group, to State) error {
	from := g.state
	if !transitions[from][to] {
		return c.inconsistent(g.id, fmt.Sprintf("no transition from %v to %v", from, to))
	}
	c.exit(g, to)
	g.previous, g.state, g.since = from, to, c.now
	c.observe(g, from)
	c.enter(g)
	return nil
}

// exit is what leaving a state for another undoes.
func (c *Coordinator) exit(g *group, to State) {
	switch g.state {
	case PreparingRebalance:
		c.cancel(g, JoinTimer, "")
		g.initial, g.joinedDuringDelay = false, false // delay.flag: each delay starts afresh
	case CompletingRebalance:
		g.writing = 0
		if to == PreparingRebalance {
			c.endSyncs(g, RebalanceInProgress) // sync.parked.aborted
		}
	case Empty, Stable, Dead:
		// Nothing is set up in Empty and Stable that the next state does not replace, and Dead is never left.
	}
}

// enter is what a state sets up.
func (c *Coordinator) enter(g *group) {
	switch g.state {
	case Empty:
		g.protocol, g.leader = nil, ""
	case PreparingRebalance:
		c.startJoining(g)
	case CompletingRebalance:
		c.startSyncing(g)
	case Stable:
		c.distribute(g)
	case Dead:
		c.bury(g)
	}
}

// canRebalance reports whether a rebalance may start: in Preparing there is one already, and Dead is the end (§1.1).
func (s State) canRebalance() bool { return s == Stable || s == CompletingRebalance || s == Empty }
