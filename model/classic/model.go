// Package classic is the specification of Kafka's classic group protocol, the part that JoinGroup, SyncGroup, Heartbeat, LeaveGroup,
// OffsetCommit and their kin speak: one pure step function that every judge shares.
//
// A State is one group in a coordinator's memory, relative to the present. Step yields every transition that the coordinator may
// make about an event, each with the rules that decided it. Nothing here knows time, bytes, member ids or generation numbers.
//
// What is left out: values and durations, which are the driver's (which offsets are old enough to expire, how much of the initial delay
// is left); writes in flight other than the leader's assignment, which are taken as atomic; the order in which a coordinator answers
// requests that wait behind an unfinished write; and protocol lists that name a protocol twice (join.protocol.duplicate).
package classic

// Config says which coordinator a Model describes.
type Config struct {
	Profile Profile

	// Lexicon gives the protocol lists meaning. It may grow while the model is in use, but not during a Step.
	Lexicon *Lexicon

	// InitialDelay: group.initial.rebalance.delay.ms is not 0.
	InitialDelay bool

	// MaxSize is group.max.size; 0 is no limit.
	MaxSize int

	// EmptyJoin lets the join of a group that has lost its last member wait for its timer where ids are pending. Nobody's rebalance timeout is no
	// time at all, so by default the group is Empty at once (leave.last.empties); but in Kafka the timer is one, and others may come before it.
	EmptyJoin bool

	// SyncInFlight takes the write of the leader's SyncGroup apart: the request only starts it (State.Writing) and WriteDone ends
	// it. By default the write is atomic with the request, and Event.Write says how it ends.
	SyncInFlight bool

	// Broken lists rules that the model violates, each in one plausible way at the branch that cites it, so that a test can show
	// who notices. See Breakable.
	Broken []RuleID
}

// Model is the step function with its scratch space: one per goroutine.
type Model struct {
	profile  Profile
	lexicon  *Lexicon
	delay    bool
	maxSize  int
	inFlight bool
	empty    bool
	broken   [ruleCount]bool

	t       Transition // under construction; its Next is the state that the branches work on
	was     *State     // before the event
	top     int        // the slots from here on are free, before and since
	caller  Address    // where the request that the event is has been parked; Caller if nowhere
	choices choices
	midway  State   // what Transition.Midway points at
	entries []int16 // LeaveGroup results
	entry   bool    // a LeaveGroup of several entries is under way, and the group reacts to each (leave.one-by-one)
	names   []uint8 // protocols that all members support
	votes   []uint8 // for each of names
}

// New returns a model. A nil Lexicon means that there are no protocol lists, so that nobody can join.
func New(c Config) *Model {
	m := &Model{profile: c.Profile, lexicon: c.Lexicon, delay: c.InitialDelay, maxSize: c.MaxSize, inFlight: c.SyncInFlight, empty: c.EmptyJoin}
	if m.lexicon == nil {
		m.lexicon = &Lexicon{Lists: []List{{}}}
	}
	for _, rule := range c.Broken {
		m.broken[rule] = true
	}
	return m
}

// Step yields every transition that the coordinator may make about e in s, until yield returns false. An event that concerns
// nothing (a timer that is not running, a write that nobody waits for) yields one transition that changes nothing and cites no rule.
//
// The transition belongs to the model: it is valid only during the callback. Two transitions may have the same outcome where the
// coordinator's choice makes no difference.
func (m *Model) Step(s *State, e *Event, yield func(*Transition) bool) {
	// A choice is a number drawn on the way. The step runs once for every sequence of draws, so that the branches read as if
	// there were none.
	m.choices.reset()
	for {
		m.begin(s)
		m.dispatch(e)
		if !yield(&m.t) || !m.choices.next() {
			return
		}
	}
}

func (m *Model) begin(s *State) {
	t := &m.t
	t.Next = *s
	t.Generation, t.Offsets = SameGeneration, KeepOffsets
	t.Rules, t.Replies, t.Timers, t.Records, t.Superseded = t.Rules[:0], t.Replies[:0], t.Timers[:0], t.Records[:0], t.Superseded[:0]
	t.Minted, t.Rekeyed, t.Updated, t.Midway, t.Overflow = -1, -1, -1, nil, false

	m.caller, m.entry = Address{}, false
	top := MaxSlots
	for top > 0 && s.Slots[top-1].Kind == Free {
		top--
	}
	m.was, m.top = s, top
}

func (m *Model) dispatch(e *Event) {
	if m.t.Next.Serving != Active {
		m.notServing(e)
		return
	}
	switch e.Kind {
	case JoinGroup:
		m.joinGroup(e)
	case SyncGroup:
		m.syncGroup(e)
	case Heartbeat:
		m.heartbeat(e)
	case LeaveGroup:
		m.leaveGroup(e)
	case OffsetCommit:
		m.offsetCommit(e)
	case OffsetFetch:
		m.offsetFetch(e)
	case DescribeGroups:
		m.describeGroups()
	case ListGroups:
		m.listGroups()
	case DeleteGroups:
		m.deleteGroups(e)
	case MemberTimer:
		m.memberTimer(e)
	case JoinTimer:
		m.joinTimer(e)
	case SyncTimer:
		m.syncTimer()
	case WriteDone:
		m.writeDone(e)
	case TxnOffsetCommit:
		m.txnOffsetCommit(e)
	case OffsetDelete:
		m.offsetDelete(e)
	case TxnMarker:
		m.txnMarker(e)
	case TopicsDeleted:
		m.topicsDeleted(e)
	case Cleanup:
		m.cleanup(e)
	case Unload:
		m.unload()
	}
}

// holds says whether the coordinator follows the rule here, and cites it either way. It is asked where a branch takes the rule's
// decision and nowhere else, so that Transition.Rules are the rules that mattered.
func (m *Model) holds(rule RuleID) bool {
	m.cite(rule)
	return !m.broken[rule]
}

func (m *Model) cite(rule RuleID) {
	for _, r := range m.t.Rules {
		if r == rule {
			return
		}
	}
	m.t.Rules = append(m.t.Rules, rule)
}

// choices is the sequence of free choices of one run of a step: those taken, and out of how many.
type choices struct {
	taken, of [8]uint8
	made, at  int
}

func (c *choices) reset() { c.made, c.at = 0, 0 }

// choose returns one of 0..n-1; over the runs of a step it returns each of them.
func (c *choices) choose(n int) int {
	if n < 2 {
		return 0
	}
	if c.at == c.made {
		c.taken[c.made], c.of[c.made] = 0, uint8(n)
		c.made++
	}
	c.at++
	return int(c.taken[c.at-1])
}

// next turns to the next sequence of choices and says whether there is one.
func (c *choices) next() bool {
	c.at = 0
	for c.made > 0 {
		last := c.made - 1
		if c.taken[last]++; c.taken[last] < c.of[last] {
			return true
		}
		c.made--
	}
	return false
}
