package explore

import (
	"errors"

	"github.com/muster-kafka/muster/model/classic"
)

// Group is the specification as a transition system: one group, and clients that may send any request at any time, with any member
// id and any generation. What is bounded is how many ids the coordinator has in memory, and the alphabets.
type Group struct {
	Name    string
	Profile classic.Profile

	// Members bounds members and pending ids together, 1 to classic.MaxPacked, or to classic.MaxNarrow with small alphabets. A JoinGroup that would go beyond is not sent.
	Members int

	// Lists are the protocol lists that clients send: letters are protocols, in order of preference ("ab").
	Lists []string
	// Metadata is how many different metadata each list comes with; 0 is one.
	Metadata int

	Types         bool // an Empty group is joined with another protocol type too
	AnySubset     bool // the leader may leave out any members; otherwise it assigns to all
	WriteFailures bool // writes may fail
	WriteInFlight bool // the leader's assignment takes time to be written
	Offsets       bool // offsets are committed
	Static        bool // clients with and without instance ids
	Delay         bool // there is an initial rebalance delay
	MaxSize       int  // group.max.size; 0 is no limit
	Removal       bool // transactions, and all ways in which offsets go (with Offsets)
	Failover      bool // the coordinator gives the group up, and another one loads it

	// Subscriptions: the protocol type is "consumer". The first metadata subscribes to one topic, the second to another, and a third
	// cannot be read.
	Subscriptions bool

	// Lean leaves out requests that can change nothing. The states are the same, and there are a third of the transitions.
	Lean bool

	Without []classic.EventKind // what does not happen after all

	Broken []classic.RuleID // rules that the model violates

	// Watch is asked once for each worker of a search, for what is to be told of every transition. What is told belongs to the search.
	// Where only that counts, Unjudged leaves all properties out.
	Watch    func() func(from *classic.State, e *classic.Event, t *classic.Transition)
	Unjudged bool
}

// errTooLarge ends a search whose model left the packed alphabet, which only a broken one can.
var errTooLarge = errors.New("a state does not fit the key")

// Symbols of the exploration. The type, and the assignment that the leader gives, need only one value each to be told from none.
const (
	groupType, otherType = 1, 2
	given                = 1
	otherProtocol        = 27
	topicT, topicU       = 0, 1
)

// Machine returns the group as one worker of a search sees it.
func (g Group) Machine() Machine {
	lexicon := &classic.Lexicon{Lists: []classic.List{{}}}
	for _, letters := range g.Lists {
		for metadata := range max(g.Metadata, 1) {
			lexicon.Lists = append(lexicon.Lists, list(letters, metadata))
		}
	}
	if g.Subscriptions {
		lexicon.Consumer = groupType
	}
	m := &machine{group: g, lexicon: lexicon, sent: len(lexicon.Lists), shapes: map[classic.State][]classic.Event{}}
	if g.Failover {
		m.addLoadedLists()
		m.oversize = g.oversized()
	}
	m.model = classic.New(classic.Config{
		Profile: g.Profile, Lexicon: lexicon, SyncInFlight: g.WriteInFlight, Broken: g.Broken, InitialDelay: g.Delay, MaxSize: g.MaxSize,
	})
	m.silence = newSilence(m.model)
	m.view = view{group: &m.group, profile: &m.group.Profile, lexicon: m.lexicon}
	m.judges = g.judges()
	m.onTransition = m.transition
	if g.Watch != nil {
		m.watch = g.Watch()
	}
	return m
}

// list is a protocol list in letters with one of the metadata.
func list(letters string, metadata int) (l classic.List) {
	subscription := [...]classic.Topics{classic.TopicSet(topicT), classic.TopicSet(topicU), 0}[metadata]
	for _, letter := range []byte(letters) {
		l.Names, l.Topics = append(l.Names, letter-'a'+1), append(l.Topics, subscription)
	}
	return l
}

// machine is a worker's view of a Group.
type machine struct {
	group     Group
	lexicon   *classic.Lexicon
	sent      int // the lists that clients send are those before; the others come of loading
	model     *classic.Model
	silence   *silence
	shapes    map[classic.State][]classic.Event // what can happen, by shape
	most      int                               // events of a shape, so far
	kept      int                               // events of all shapes
	events    []classic.Event
	leaves    []classic.Ref
	instances []classic.Instance
	record    classic.State // what Loaded events load
	oversize  classic.State

	// the expansion under way
	key          Key
	state        classic.State
	x            *Expansion
	view         view
	judges       judges
	onTransition func(*classic.Transition) bool
	wrote        bool // the event that is being made, or the one before it
	minted       bool // an id has been handed out in the state at hand
	watch        func(*classic.State, *classic.Event, *classic.Transition)
}

func (m *machine) Initial() Key { return Key{} }

func (m *machine) Expand(k Key, x *Expansion) {
	m.key, m.state = k, classic.Unpack(classic.Packed(k))
	s := &m.state
	m.x = x
	if !m.group.Unjudged {
		for _, broken := range classic.Check(s, m.lexicon) {
			x.Findings = append(x.Findings, Finding{Edge: OfState, Property: Invariant(broken)})
		}
		m.judgeState(s)
		m.silence.judge(classic.Packed(k), s, x)
	}
	m.enumerate(s)
	v := &m.view
	m.minted = false
	for i := range m.events {
		v.s, v.e = m.from(&m.events[i]), &m.events[i]
		if m.group.Lean && m.spared(v.e) {
			m.wrote = false
			continue
		}
		if !m.group.Unjudged {
			v.meet()
		}
		m.wrote = false
		m.model.Step(v.s, v.e, m.onTransition)
	}
}

// from is the state in which an event happens: the one that is expanded, but for a loading. There the coordinator has crashed, or has
// given the group up, and another one reads the log.
func (m *machine) from(e *classic.Event) *classic.State {
	if e.Kind == classic.Loaded {
		return &loading
	}
	return &m.state
}

var loading = classic.State{Serving: classic.Loading}

// transition takes over one transition of the model.
func (m *machine) transition(t *classic.Transition) bool {
	if t.Overflow {
		return true
	}
	next := m.key
	another := t.Next != *m.view.s
	if another || m.view.s != &m.state {
		beyond := m.beyond(&t.Next)
		if beyond && inUse(&t.Next) > m.group.Members {
			return true
		}
		p, ok := t.Next.Pack()
		if !ok || beyond {
			m.x.Err = errTooLarge
			return true
		}
		next = Key(p)
	}
	m.view.t = t
	m.wrote = m.wrote || len(t.Records) > 0
	m.minted = m.minted || another && asksForID(m.view.e)
	if !m.group.Unjudged {
		m.view.derive(another)
		m.judgeTransition()
	}
	if m.watch != nil {
		m.watch(m.view.s, m.view.e, t)
	}
	m.x.Next = append(m.x.Next, next)
	return true
}

func inUse(s *classic.State) (n int) {
	for i := range s.Slots {
		if s.Slots[i].Kind != classic.Free {
			n++
		}
	}
	return n
}

// beyond says whether something is in use beyond the slots that properties look at, though there is room.
func (m *machine) beyond(s *classic.State) bool {
	kinds := classic.Free
	for i := m.group.Members; i < classic.MaxSlots; i++ {
		kinds |= s.Slots[i].Kind
	}
	return kinds != classic.Free
}
