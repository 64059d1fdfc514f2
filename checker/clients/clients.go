// Package clients explores a group together with the clients around it. explore.Group lets any request come at any time, which is all
// that the coordinator's own rules need. Here each client is followed: what it knows of itself, what it waits for, which answers it has
// missed. That makes three kinds of questions possible:
//
//   - Do clients that do what clients do get together again, from whatever has happened (Converge)?
//   - What does a crash of the coordinator do to what clients believe, and to the generations that they hold (Log)?
//   - Which pairs of memory and log are there, and what does a crash make of each (without clients)?
//
// A Run is a transition system for the explorer of package explore. The coordinator's part is the specification's own step function.
package clients

import (
	"context"
	"errors"
	"fmt"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Run is a group with its clients as a transition system.
type Run struct {
	Name    string
	Profile classic.Profile

	// Clients is how many there are, up to 4, and Static how many of them have an instance id. Without any, requests come from anywhere
	// for all ids that are in memory, as in explore.Group.
	Clients, Static int

	// Room bounds the ids in the coordinator's memory, members and pending ids together, up to 4. 0 is as many as there are clients. A
	// JoinGroup that would need more is not sent. Ids whose client has forgotten them, or has never heard of them, count too.
	Room int

	Lists         []string // the protocol lists that clients send, in letters, as in explore.Group
	Old           bool     // dynamic clients also join by JoinGroup v3, which gives them no id before they are in
	WriteInFlight bool     // the leader's assignment takes time to be written; always so with Log
	WriteFailures bool     // writes may fail; with Log, what has failed may be in the log all the same
	Late          bool     // the answer that tells of a generation may come late, when the generation is over

	Crash Crash

	// Converge has clients heal from every state. They must all get together in a Stable group; and if all of them stay away, the group
	// must become Empty.
	Converge bool

	// Refuted also looks for what one might believe of a crash and what does not hold (docs/exploration.md). What it finds is no fault.
	Refuted bool

	// Broken are rules that the model violates.
	Broken []classic.RuleID

	// Watch is asked once for each worker of a search, for what is to be told of everything that happens. What is told belongs to the search.
	Watch func() func(Happening)

	// Judging wraps what makes the machines of a search, where not all that they find is asked for.
	Judging func(func() explore.Machine) func() explore.Machine
}

// Happening is something that happens in a run.
type Happening struct {
	What       string              // beside the event, if it is out of the ordinary
	Event      *classic.Event      // nil where nothing is but what What says
	Transition *classic.Transition // nil where the coordinator has no part in it
}

// Crash says what a crash of the coordinator, after which another one reads the log, does.
type Crash uint8

const (
	NoCrash Crash = iota

	// Forget: the clients go down with it, and come back without ids. Nothing is remembered of the log: the group crashes in the states
	// that are just what its record says, which are all the records that there can be.
	Forget

	// Log: the log is part of the state, and clients live on. Generations are kept as numbers, relative to that of the log. Memory may
	// be ahead of the log by Ahead at most: a join that would go farther is not followed.
	Log
)

// Ahead is how far memory may get ahead of the log.
const Ahead = 2

const (
	maxClients = 4
	maxRoom    = 4
)

// Symbols, as in package explore.
const (
	groupType = 1
	given     = 1
)

// Only a broken model can bring these about.
var (
	errSize = errors.New("clients: a state does not fit the key")
	errRoom = errors.New("clients: clients that heal need more ids than there is room for")
)

// Explore searches the run, and says how clients heal in it if they are to.
func (r Run) Explore(ctx context.Context, o explore.Options) (explore.Report, Healing) {
	report, total, _ := r.Continue(ctx, o, Healing{})
	return report, total
}

// Continue is Explore for a search that goes on (Options.From) and has found out before about healing. What it returns last is what has been
// found out where it is left, for whoever goes on again.
func (r Run) Continue(ctx context.Context, o explore.Options, before Healing) (report explore.Report, total, left Healing) {
	var all []*machine
	sum := func() Healing {
		h := Healing{Exempt: map[classic.RuleID]int64{}}
		h.add(&before)
		for _, m := range all {
			h.add(&m.found)
		}
		return h
	}
	level := o.Level
	o.Level = func() {
		left = sum()
		if level != nil {
			level()
		}
	}
	machines := func() explore.Machine {
		all = append(all, r.machine())
		return all[len(all)-1]
	}
	if r.Judging != nil {
		machines = r.Judging(machines)
	}
	report = explore.Run(ctx, r.Name, machines, o)
	return report, sum(), left
}

// Check says what is wrong with a run's settings.
func (r Run) Check() error {
	switch {
	case r.Clients < 0 || r.Clients > maxClients || r.Static < 0 || r.Clients > 0 && r.Static > r.Clients:
		return fmt.Errorf("clients: %s: %d clients, %d of them static; choose up to %d clients", r.Name, r.Clients, r.Static, maxClients)
	case r.room() < 1 || r.room() > maxRoom:
		return fmt.Errorf("clients: %s: room for %d ids; choose 1 to %d", r.Name, r.room(), maxRoom)
	case r.Crash == Log && r.Late:
		return fmt.Errorf("clients: %s: with the log, answers are lost rather than late; choose one", r.Name)
	case len(r.Lists) == 0:
		return fmt.Errorf("clients: %s: no protocol lists, so nobody can join", r.Name)
	case r.Converge && r.Clients == 0:
		return fmt.Errorf("clients: %s: nobody is there to converge; give it clients", r.Name)
	}
	l := r.layout()
	if bits := l.healing().total(); bits >= wideBits {
		return fmt.Errorf("clients: %s: a state of healing takes %d bits of %d; take fewer clients or less room", r.Name, bits, wideBits-1)
	}
	if bits := l.total(); bits > keyBits {
		return fmt.Errorf("clients: %s: a state takes %d bits and the key has %d; take fewer clients, less room or fewer lists", r.Name, bits, keyBits)
	}
	return nil
}

func (r Run) room() int {
	if r.Room == 0 {
		return r.Clients
	}
	return r.Room
}

// Machine returns the run as one worker of a search sees it. The settings must be such that Check finds nothing wrong.
func (r Run) Machine() explore.Machine { return r.machine() }

func (r Run) machine() *machine {
	if err := r.Check(); err != nil {
		panic(err)
	}
	m := &machine{run: r, room: r.room(), layout: r.layout(), lexicon: r.lexicon(), sent: len(r.Lists) + 1}
	m.model = classic.New(classic.Config{
		Profile: r.Profile, Lexicon: m.lexicon, SyncInFlight: r.WriteInFlight || r.Crash == Log, Broken: r.Broken,
	})
	m.onTransition = m.stepping.transition
	if r.Watch != nil {
		m.watch = r.Watch()
	}
	m.healer, m.future, m.found = m.layout.healing(), map[wide]fate{}, Healing{Exempt: map[classic.RuleID]int64{}}
	return m
}

// lexicon has the lists that clients send and then those that only a loaded member has: the protocol of its generation alone.
func (r Run) lexicon() *classic.Lexicon {
	l := &classic.Lexicon{Lists: []classic.List{{}}}
	for _, letters := range r.Lists {
		l.Lists = append(l.Lists, list(letters))
	}
	if r.Crash == NoCrash {
		return l
	}
	for _, letters := range r.Lists {
		for _, letter := range letters {
			if alone(l, uint8(letter)-'a'+1) == 0 {
				l.Lists = append(l.Lists, list(string(letter)))
			}
		}
	}
	return l
}

func list(letters string) (l classic.List) {
	for _, letter := range []byte(letters) {
		l.Names = append(l.Names, letter-'a'+1)
	}
	return l
}

// alone is the list that has nothing but the protocol.
func alone(l *classic.Lexicon, protocol uint8) uint8 {
	for i, one := range l.Lists {
		if len(one.Names) == 1 && one.Names[0] == protocol {
			return uint8(i)
		}
	}
	return 0
}

// machine is a worker's view of a run.
type machine struct {
	run     Run
	room    int
	layout  layout
	lexicon *classic.Lexicon
	sent    int // the lists that clients send are those before
	model   *classic.Model

	watch func(Happening)

	// of healing
	healer   layout
	future   map[wide]fate
	found    Healing
	overflow bool // somewhere there was no room for an id

	stepping     stepper
	onTransition func(*classic.Transition) bool
	lonely       act // one in which the coordinator has no part
	leaves       [1]classic.Ref
	nexts        []world
}

func (m *machine) Initial() explore.Key {
	w := m.initial()
	k, _ := m.layout.pack(&w)
	return k.key()
}

func (m *machine) initial() world {
	w := newWorld()
	for i := range m.run.Clients {
		w.clients[i] = client{is: true, static: i < m.run.Static, at: nowhere}
	}
	w, _ = canonical(w)
	return w
}

func (m *machine) Expand(k explore.Key, x *explore.Expansion) {
	w := m.layout.unpack(wide{k[0], k[1]})
	for _, broken := range classic.Check(&w.group, m.lexicon) {
		x.Findings = append(x.Findings, explore.Finding{Edge: explore.OfState, Property: explore.Invariant(broken)})
	}
	m.judgeState(&w, x)
	if m.run.Converge {
		m.judgeHealing(&w, x)
	}
	m.successors(&w, func(a *act) bool {
		next, _ := canonical(a.next)
		packed, ok := m.layout.pack(&next)
		if !ok {
			x.Err = errSize
			return true
		}
		m.judgeStep(&w, a, len(x.Next), x)
		if m.watch != nil {
			m.watch(a.happening())
		}
		x.Next = append(x.Next, packed.key())
		return true
	})
}
