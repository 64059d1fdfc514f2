package classic

// MaxSlots bounds the members and pending ids that one state can hold. A step that would need more yields Overflow, never silence.
const MaxSlots = 12

// Phase is the group's state in Kafka's terms. Absent stands for a group that does not exist (DescribeGroups: Dead).
type Phase uint8

const (
	Absent Phase = iota
	Empty
	PreparingRebalance
	CompletingRebalance
	Stable
)

func (p Phase) String() string {
	return [...]string{"Absent", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}[p]
}

// Serving is what the broker is to the group. Only a coordinator that serves has anything of the group in memory.
type Serving uint8

const (
	Active         Serving = iota // the coordinator, and ready
	Loading                       // the coordinator, reading the log
	NoCoordinator                 // not the coordinator (any more, or yet)
	servingsNumber                // how many there are
)

func (s Serving) String() string { return [...]string{"active", "loading", "not the coordinator"}[s] }

// Kind is what a slot holds.
type Kind uint8

const (
	Free    Kind = iota // no id: whoever held the slot is now "unknown"
	Pending             // an id handed out with MEMBER_ID_REQUIRED
	Member
)

// Slot is one member id in the coordinator's memory. Nothing points at a slot (leadership is a bit of it), so that slots can be
// permuted freely. A static member's instance id is the driver's to keep: it maps to one slot at most.
type Slot struct {
	Kind     Kind
	Leader   bool
	Static   bool  // a member with a group.instance.id
	Joining  bool  // a JoinGroup of the member is parked
	Syncing  bool  // a SyncGroup of the member is parked
	New      bool  // never completed a join
	Timed    bool  // its session, new-member or pending timer is running; a timer that fired while its member was parked is spent
	OwesSync bool  // has not sent SyncGroup in this generation (pendingSync)
	List     uint8 // protocol list, a symbol of the Lexicon; 0 for pending ids
	Given    uint8 // assignment it holds, a symbol; 0 is the empty assignment
	Proposed uint8 // assignment that the leader's write in flight would give it
}

// State is one group in the coordinator's memory: flat, comparable, relative. Generations and offsets have no values here ("current"
// or "other", "some" or "none"): whoever drives the model keeps those.
type State struct {
	Phase     Phase
	Serving   Serving // where it is not Active, nothing else is set
	Type      uint8   // protocol type, a symbol; 0 is absent
	Protocol  uint8   // protocol of the generation, a symbol of the Lexicon; 0 is absent
	FirstGen  bool    // the generation is still 0: no join has completed yet
	Writing   bool    // the leader's assignment is being written
	JoinTimer bool
	SyncTimer bool
	Initial   bool // PreparingRebalance is the initial rebalance delay: JoinTimer is its timer
	Extends   bool // a member was added in an initial delay, whose next end extends it; stays set where it could not be extended
	StaleSync bool // a static member was replaced while it owed its SyncGroup: the sync timer runs for an id that is gone
	Offsets   bool // some offset is committed
	Open      bool // some offset of an open transaction is pending

	// Subscribed are the topics of the generation's subscriptions, in a consumer group; 0 where they are not known.
	Subscribed Topics
	Slots      [MaxSlots]Slot
}

// Topics is a set of topics: bit i is topic symbol i, less than MaxTopics. The zero value is "not known"; a known set, also the empty
// one, has KnownTopics.
type Topics uint32

// MaxTopics is how many topics a set can tell apart.
const MaxTopics = 31

// KnownTopics marks a set as known.
const KnownTopics Topics = 1 << MaxTopics

// TopicSet returns the known set of the given topic symbols.
func TopicSet(symbols ...uint8) Topics {
	t := KnownTopics
	for _, s := range symbols {
		t |= 1 << s
	}
	return t
}

// Known says whether the set is known.
func (t Topics) Known() bool { return t&KnownTopics != 0 }

// Has says whether a known set has the topic.
func (t Topics) Has(symbol uint8) bool { return t.Known() && t>>symbol&1 == 1 }

// Lexicon gives symbols meaning. It only ever grows during a run.
type Lexicon struct {
	// Lists: symbol i stands for Lists[i]. Equal symbols are equal lists, names and bytes and order; entry 0 is the empty list.
	Lists []List

	// Consumer is the symbol of the protocol type "consumer", the only one whose subscriptions the coordinator reads; 0 if there is none.
	Consumer uint8
}

// List is a JoinGroup's protocol list: the symbols of its protocol names in order, and what each one's metadata says of topics.
// Beyond those, metadata plays no part in any decision but the equality of the whole list, so it stays with whoever interned the list.
type List struct {
	Names  []uint8
	Topics []Topics // by position in Names; missing or 0 where the metadata cannot be read as a subscription
}
