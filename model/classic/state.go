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

// Kind is what a slot holds.
type Kind uint8

const (
	Free    Kind = iota // no id: whoever held the slot is now "unknown"
	Pending             // an id handed out with MEMBER_ID_REQUIRED
	Member
)

// Slot is one member id in the coordinator's memory. Nothing points at a slot (leadership is a bit of it), so that slots can be
// permuted freely.
type Slot struct {
	Kind     Kind
	Leader   bool
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
	Type      uint8 // protocol type, a symbol; 0 is absent
	Protocol  uint8 // protocol of the generation, a symbol of the Lexicon; 0 is absent
	FirstGen  bool  // the generation is still 0: no join has completed yet
	Writing   bool  // the leader's assignment is being written
	JoinTimer bool
	SyncTimer bool
	Offsets   bool // some offset is committed
	Slots     [MaxSlots]Slot
}

// Lexicon gives protocol lists meaning: symbol i stands for Lists[i]. Equal symbols are equal lists, names and bytes and order. It
// only ever grows during a run; entry 0 is the empty list.
type Lexicon struct{ Lists []List }

// List is a JoinGroup's protocol list: the symbols of its protocol names in order. Metadata plays no part in any decision beyond
// the equality of the whole list, so it stays with whoever interned the list.
type List struct{ Names []uint8 }
