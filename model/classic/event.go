package classic

// EventKind is what happens to the group: a request arrives, a timer fires, or a write ends.
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

	MemberTimer // the session, new-member or pending timer of Slot fires
	JoinTimer
	SyncTimer
	WriteDone // the leader's assignment has been written, or has failed (Write)
)

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

// Gen is how a request's generation relates to the group's.
type Gen uint8

const (
	CurrentGen Gen = iota
	OtherGen       // any other generation >= 0
	NoGen          // negative
)

// Write is how the write that an event needs ends, where it needs one. Only WriteDone, and requests whose write the model takes as
// atomic (an Empty record, offsets, tombstones, group creation), look at it.
type Write uint8

const (
	WriteOK Write = iota
	WriteFailed
)

// Event is one thing that happens. Fields that the kind does not use are zero.
type Event struct {
	Kind EventKind
	Slot int8 // MemberTimer
	Ref  Ref  // member id of a request
	Gen  Gen

	BadGroup      bool            // the request's group id is the empty string
	BadSession    bool            // JoinGroup: session timeout out of bounds
	NeedsID       bool            // JoinGroup v4+: a dynamic member without id is sent away with one
	Type          uint8           // JoinGroup, SyncGroup: protocol type symbol; 0 is empty or not given
	List          uint8           // JoinGroup: protocol list symbol
	Protocol      uint8           // SyncGroup: protocol name symbol; 0 is not given
	NoProtocol    bool            // SyncGroup v5+: protocol type or name is null
	Assign        [MaxSlots]uint8 // SyncGroup: the leader's assignment by slot; of slots that are no members it is ignored
	Leaves        []Ref           // LeaveGroup: one entry a member
	OldLeave      bool            // LeaveGroup v0-2
	CommitVersion int16           // OffsetCommit: version, for the code of an unknown group
	TooLarge      bool            // OffsetCommit: every offset is refused for its metadata, so nothing is written; the answer is
	// OFFSET_METADATA_TOO_LARGE. Where only some are, the driver refuses those itself.
	Write Write
}
