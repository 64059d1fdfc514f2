package joint

import (
	"bytes"
	"fmt"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Run is one joint exploration.
type Run struct {
	Name string

	// Members bounds members and pending ids together, 1 to classic.MaxPacked. A JoinGroup that would go beyond is not sent.
	Members int

	// Lists are the protocol lists that clients send: letters are protocols, in order of preference ("ab").
	Lists []string

	Static        bool // clients with and without instance ids
	Delay         bool // there is an initial rebalance delay
	AnySubset     bool // the leader may leave out any members; otherwise it assigns to all
	WriteFailures bool // writes may fail
	WriteInFlight bool // the leader's assignment takes time to be written
	Failover      bool // the coordinator gives the group up, crashes, and loads what has been written
	Commits       bool // offsets are committed; not together with WriteInFlight

	// Unwatched leaves the monitors out, which are part of the joint states otherwise.
	Unwatched bool

	// Scenario, if set, is told the trace of each finding as a scenario file that stands on its own, or why it can be none.
	Scenario func(of explore.Finding, text string, err error)

	// Watch is asked once for each worker of a search, for what is to be told of every transition of the specification that explains a step.
	Watch func() func(from *classic.State, e *classic.Event, t *classic.Transition)

	Without []classic.EventKind // what does not happen after all

	// Broken are rules that the specification violates, so that a test can see the coordinator contradict it.
	Broken []classic.RuleID
}

// The lists that clients send.
var oneList, twoLists = []string{"a"}, []string{"ab", "b"}

// Core has members of both kinds, the initial delay, writes that fail or take time, and crashes.
func Core(members int) Run {
	return Run{Members: members, Lists: oneList, Static: true, Delay: true, WriteFailures: true, WriteInFlight: true, Failover: true}
}

// Lists has protocol lists in place of the initial delay, and a leader that may leave out anybody.
func Lists(members int) Run {
	return Run{Members: members, Lists: twoLists, Static: true, AnySubset: true, WriteFailures: true, WriteInFlight: true, Failover: true}
}

// Offsets has protocol lists and commits.
func Offsets(members int) Run {
	return Run{Members: members, Lists: twoLists, Static: true, WriteFailures: true, Failover: true, Commits: true}
}

// Check says why the run cannot be made.
func (r Run) Check() error {
	if r.Members < 1 || r.Members > classic.MaxPacked {
		return fmt.Errorf("%s: a joint state has room for 1 to %d members", r.Name, classic.MaxPacked)
	}
	return nil
}

// What all members have in common. The durations differ, so that one timer is not taken for another.
const (
	session      = 10 * time.Second
	rebalance    = time.Minute
	initialDelay = 40 * time.Second
	newMember    = 5 * time.Minute
)

// Symbols of the specification's side.
const (
	groupType, otherType = 1, 2
	otherProtocol        = 27
	given                = 1
)

var types = [...]string{"", "t", "u"}

// assignment is what a symbol stands for; metadata is that of every protocol.
func assignment(symbol uint8) []byte {
	if symbol == 0 {
		return nil
	}
	return assigned
}

var assigned, metadata = []byte("p0"), []byte("m")

func protocolName(symbol uint8) string {
	switch symbol {
	case 0:
		return ""
	case otherProtocol:
		return "other"
	}
	return string(rune('a' + symbol - 1))
}

// Settings are what the coordinators have to be set to.
func (r Run) Settings() Settings {
	if r.Delay {
		return Settings{InitialDelay: initialDelay}
	}
	return Settings{}
}

// lexicon gives the lists their symbols, from 1 on; those that only loaded members have come last.
func (r Run) lexicon() *classic.Lexicon {
	l := &classic.Lexicon{Lists: []classic.List{{}}}
	add := func(letters string) {
		var names []uint8
		for _, letter := range []byte(letters) {
			names = append(names, letter-'a'+1)
		}
		for _, known := range l.Lists[1:] {
			if bytes.Equal(known.Names, names) {
				return
			}
		}
		l.Lists = append(l.Lists, classic.List{Names: names})
	}
	for _, letters := range r.Lists {
		add(letters)
	}
	if r.Failover {
		for _, letters := range r.Lists {
			for _, letter := range letters {
				add(string(letter))
			}
		}
	}
	return l
}

// Machines returns what makes the workers of one search; newBench makes their benches.
func (r Run) Machines(newBench func(*Hooks, Settings) Bench) func() explore.Machine {
	all := newSpace()
	return func() explore.Machine { return newMachine(r, newBench, all) }
}
