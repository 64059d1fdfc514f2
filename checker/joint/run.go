package joint

import (
	"bytes"
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

	// Scenario, if set, is told each violation's trace as a scenario file that stands on its own, or why it can be none.
	Scenario func(text string)

	// Broken are rules that the specification violates, so that a test can see the coordinator contradict it.
	Broken []classic.RuleID
}

// Runs are the joint explorations of every test; docs/exploration.md says what they are for.
func Runs() []Run {
	one, two := []string{"a"}, []string{"ab", "b"}
	return []Run{
		{Name: "2 members, offsets", Members: 2, Lists: two, Static: true, WriteFailures: true, Failover: true, Commits: true},
		{Name: "2 members", Members: 2, Lists: two, Static: true, AnySubset: true, WriteFailures: true, WriteInFlight: true, Failover: true},
		{Name: "core", Members: 3, Lists: one, Static: true, Delay: true, WriteFailures: true, WriteInFlight: true, Failover: true},
	}
}

// Deep are those that take minutes.
func Deep() []Run {
	one, two := []string{"a"}, []string{"ab", "b"}
	return []Run{
		{Name: "core, any assignment", Members: 3, Lists: one, Static: true, Delay: true, AnySubset: true, WriteFailures: true, WriteInFlight: true, Failover: true},
		{Name: "3 members, lists", Members: 3, Lists: two, WriteFailures: true, Failover: true, Commits: true},
	}
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
