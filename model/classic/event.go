package classic

// EventKind is what happens to the group: a request arrives, a timer fires, a write ends, or the broker's part changes.
type EventKind uint8

const (
	JoinGroup EventKind = iota
	SyncGroup
	Heartbeat
	LeaveGroup
	OffsetCommit
	OffsetFetch
	DescribeGroups
	ListGroups
	DeleteGroups
	TxnOffsetCommit // one that the transaction coordinator has verified
	OffsetDelete

	MemberTimer // the session, new-member or pending timer of Slot fires
	JoinTimer   // the join timer or the initial delay ends
	SyncTimer
	WriteDone // the leader's assignment has been written, or has failed (Write)

	TxnMarker     // a transaction ends: Aborted or not, Taken its pending offsets
	TopicsDeleted // topics are deleted: Taken their offsets
	Cleanup       // offsets expire: Taken those that are old enough; groups with nothing left go

	Unload // the broker gives up the group's partition
	LoadStarts
	Loaded // the group has been read from the log, as Record says

	eventKinds
)

// Request says whether the kind is a client's request: one that is answered, parked or superseded.
func (k EventKind) Request() bool { return k <= OffsetDelete }

// RefKind is how a request's member id relates to the group.
type RefKind uint8

const (
	NoID      RefKind = iota // the empty string
	KnownID                  // the id of a slot
	UnknownID                // any id that is in no slot
)

// Ref is a member id in a request.
type Ref struct {
	Kind RefKind
	Slot int8 // for KnownID
}

// InstanceKind is how a request's group.instance.id relates to the group.
type InstanceKind uint8

const (
	NoInstance      InstanceKind = iota // none given; the empty string is one like any other
	KnownInstance                       // the instance id of a slot that is a static member
	UnknownInstance                     // any other
)

// Instance is a group.instance.id in a request.
type Instance struct {
	Kind InstanceKind
	Slot int8 // for KnownInstance
}

// Gen is how a request's generation relates to the group's.
type Gen uint8

const (
	CurrentGen Gen = iota
	OtherGen       // any other generation >= 0
	NoGen          // negative
)

// Write is how the write that an event needs ends, where it needs one. Only WriteDone, and events whose write the model takes as
// atomic (a replaced static member, an Empty record, offsets, tombstones, group creation), look at it.
type Write uint8

const (
	WriteOK Write = iota
	WriteFailed
)

// Some says of a group's offsets, or of some of them, whether there are committed ones and pending ones of open transactions.
type Some struct{ Committed, Pending bool }

// Event is one thing that happens. Fields that the kind does not use are zero.
type Event struct {
	Kind     EventKind
	Slot     int8 // MemberTimer
	Ref      Ref  // member id of a request
	Instance Instance
	Gen      Gen

	BadGroup      bool            // the request's group id is the empty string
	BadSession    bool            // JoinGroup: session timeout out of bounds
	NeedsID       bool            // JoinGroup v4+: a dynamic member without id is sent away with one
	Skips         bool            // JoinGroup v9+: the answer can say to skip the assignment
	Type          uint8           // JoinGroup, SyncGroup: protocol type symbol; 0 is empty or not given
	List          uint8           // JoinGroup: protocol list symbol
	Protocol      uint8           // SyncGroup: protocol name symbol; 0 is not given
	Slow          bool            // SyncGroup: what it makes the leader's assignment wait for ends with WriteDone, as with Config.SyncInFlight
	NoProtocol    bool            // SyncGroup v5+: protocol type or name is null
	Assign        [MaxSlots]uint8 // SyncGroup: the leader's assignment by slot; of slots that are no members it is ignored
	Leaves        []Ref           // LeaveGroup: one entry a member
	Instances     []Instance      // LeaveGroup: their instances, in the same order; nil for none
	OldLeave      bool            // LeaveGroup v0-2
	CommitVersion int16           // OffsetCommit, TxnOffsetCommit: version, for the codes that depend on it
	TooLarge      bool            // commits: every offset is refused for its metadata, so nothing is written; the answer is
	// OFFSET_METADATA_TOO_LARGE. Where only some are, the driver refuses those itself.
	Stable bool   // OffsetFetch v7+: stable offsets are required
	Topics Topics // OffsetDelete: the topics of the request that exist; without any, nothing but the group is checked

	// OffsetDelete, TxnMarker, TopicsDeleted, Cleanup: the offsets that go, and what the group has left then, if the group lets them
	// go. For an OffsetDelete those of the topics that Refused does not name; for a Cleanup those that Expiry says.
	Taken, Left Some
	Aborted     bool // TxnMarker

	Rest   bool   // JoinTimer of an initial delay: some of the first member's rebalance timeout is left to extend it into
	Record *State // Loaded: what the log says (see Durable); nil for a group that it does not have
	Write  Write
}
