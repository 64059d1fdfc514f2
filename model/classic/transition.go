package classic

// Transition is one thing that the coordinator may do about an event. Replies belong to the transition that decides them: whatever
// delays or loses them on their way is the judge's business. All slices are valid only during the callback.
type Transition struct {
	Next       State
	Generation GenerationEffect
	Rules      []RuleID // the rules that decided it
	Replies    []Reply
	Timers     []TimerEffect // the net effect, at most one for a timer; timers that are not named keep running
	Records    []Record
	Offsets    OffsetsEffect

	Minted     int8      // the slot that got a fresh member id, or -1; it may be free again in Next (the group's creation failed)
	Rekeyed    int8      // the slot of a static member that got a fresh member id in place of its former one, or -1
	Updated    int8      // the slot whose two timeouts now are those of the request, or -1
	Superseded []Address // parked requests that will never be answered
	Midway     *State    // what the group was like when a join completed in the middle of the step (leave.one-by-one); nil otherwise
	Overflow   bool      // MaxSlots is too small for this event: nothing else is meaningful
}

// GenerationEffect is what becomes of the group's generation.
type GenerationEffect uint8

const (
	SameGeneration   GenerationEffect = iota
	NextGeneration                    // +1; an absent group counts as generation 0
	ResetGeneration                   // 0: the group was created or deleted, or is not in the log that was loaded
	SecondGeneration                  // +2: two joins have completed within the step (leave.one-by-one)
	LoadedGeneration                  // that of the record that was loaded
)

// After is the generation that follows the given one. That of a record stays, which whoever drives the model has taken from the log by then.
func (e GenerationEffect) After(generation int32) int32 {
	switch e {
	case NextGeneration:
		return generation + 1
	case SecondGeneration:
		return generation + 2
	case ResetGeneration:
		return 0
	}
	return generation
}

// OffsetsEffect is what becomes of the group's committed offsets.
type OffsetsEffect uint8

const (
	KeepOffsets   OffsetsEffect = iota
	StoreOffsets                // the request's offsets are committed
	ClearOffsets                // all are gone, the pending ones too
	PendOffsets                 // the request's offsets are pending, for its producer
	CommitPending               // the transaction's pending offsets are committed, each where it is the latest in the log
	DropPending                 // the transaction's pending offsets are gone
	RemoveOffsets               // Event.Taken is gone, the pending ones too; of an OffsetDelete those of the topics that are not refused
	LoadOffsets                 // they are those of the log
)

// AddressKind says whom a reply goes to.
type AddressKind uint8

const (
	Caller     AddressKind = iota // the request that this event is, also where it was parked and released within the step
	ParkedJoin                    // the parked JoinGroup of Slot
	ParkedSync                    // the parked SyncGroup of Slot
)

// Address is where a reply goes.
type Address struct {
	Kind AddressKind
	Slot int8
}

// EchoKind is which member id a reply carries.
type EchoKind uint8

const (
	EchoNone    EchoKind = iota // ""
	EchoRequest                 // the id of the request that is answered
	EchoSlot                    // the id of Member
	EchoFormer                  // the id that Member had before this step; its slot may be free now
)

// Reply is the answer to one request. What is not said here (members, their metadata, chosen protocol, assignment bytes, states for
// DescribeGroups and ListGroups, offsets for OffsetFetch) is read from Next and from what the driver keeps.
type Reply struct {
	To     Address
	Error  int16
	Echo   EchoKind
	Member int8 // the slot for EchoSlot, and whose assignment a SyncGroup carries

	// JoinGroup, on success, and of a replacement that could not be written: the slot that leads, whether its id is the one that it had
	// before this step, whether the members are listed, and whether the leader is to skip the assignment.
	Leader       int8
	FormerLeader bool
	Members      bool
	Skip         bool
	Filled       bool // an error that carries generation, protocol and leader like a success
	Midway       bool // what the answer says is read from Transition.Midway, of the generation before the step plus one

	// OffsetDelete: the topics of the request that are answered GROUP_SUBSCRIBED_TO_TOPIC; a known set.
	Refused Topics

	// LeaveGroup: the error of each entry, in request order.
	Entries []int16
}

// TimerKind names a timer.
type TimerKind uint8

const (
	SessionTimer   TimerKind = iota // of a member, or of a pending id: one timer a slot, MemberTimer fires it
	GroupJoinTimer                  // JoinTimer fires it
	GroupSyncTimer                  // SyncTimer fires it
)

// Duration is how long an armed timer runs, in terms that the driver has numbers for.
type Duration uint8

const (
	Cancel             Duration = iota // the timer is cancelled (or has fired and is spent)
	SessionOfSlot                      // the slot's session timeout; for a pending id that of its request
	NewMemberTimeout                   // five minutes
	MaxRebalance                       // the largest rebalance timeout over the members of Next, and over the slots of TimerEffect.Also
	FormerSession                      // the session timeout that the slot had before this step
	InitialDelay                       // group.initial.rebalance.delay.ms, at first
	RestOfInitialDelay                 // as much of the delay again as the first member's rebalance timeout leaves room for
)

// TimerEffect arms or cancels a timer.
type TimerEffect struct {
	Timer TimerKind
	Slot  int8 // for SessionTimer
	For   Duration
	Also  uint16 // MaxRebalance: slots, by bit, whose rebalance timeouts of before this step count too (leave.one-by-one)
}

// RecordKind is what is written to __consumer_offsets.
type RecordKind uint8

const (
	GroupRecord      RecordKind = iota // the group with the members of Next (none: an Empty group)
	GroupTombstone                     //
	OffsetRecords                      // the request's accepted offsets
	OffsetTombstones                   // all of the group's offsets
	TxnOffsetRecords                   // the request's accepted offsets, as part of a transaction
	SomeTombstones                     // the offsets that the event takes
)

// Record is one write, in the order of the log: handed to the log, whether or not it gets there (Event.Write, WriteDone).
type Record struct{ Kind RecordKind }
