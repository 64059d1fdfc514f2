package classic

// Profile holds the variation points: compat and quirk rules on which releases differ. Contract rules have none.
type Profile struct {
	Name string

	// SyncRenewsTimer: SyncGroup in Stable renews the session timer (sync.stable.keeps-timer; Scala coordinator).
	SyncRenewsTimer bool
	// PendingLeaveRebalances: a pending id's LeaveGroup starts a rebalance (leave.pending.rebalances; Java coordinator).
	PendingLeaveRebalances bool
	// UnknownGroupCommit69: OffsetCommit v9+ for an unknown group is GROUP_ID_NOT_FOUND (commit.group.unknown.code; Java coordinator).
	UnknownGroupCommit69 bool
	// CreationRecord: the JoinGroup that creates a group writes a record (no rule: seen in the log only; Java coordinator). A group
	// without a record also needs no tombstone.
	CreationRecord bool
	// AnswersDropped: superseded requests and those of removed members are answered rather than dropped (join.parked.superseded,
	// sync.parked.superseded, sync.parked.removed; the reference).
	AnswersDropped bool
	// DescribesFormerAssignment: describe.rebalancing.assignment (Java coordinator).
	DescribesFormerAssignment bool
	// HeartbeatShortensNew: heartbeat.new-member (all Kafka releases, not the reference). An accepted OffsetCommit does the same.
	HeartbeatShortensNew bool
	// WritesReported: a LeaveGroup whose Empty record, or a DeleteGroups whose tombstones, could not be written is answered with the
	// error, and the deletion or the creation of the group is undone (no rule: seen only when the log fails; Java coordinator). The
	// Scala coordinator answers NONE and goes by its memory.
	WritesReported bool
	// LeavesOneByOne: a batch LeaveGroup is taken entry by entry, the group reacting to each, rather than all at once (no rule: DF9;
	// Scala coordinator). Whoever drives the model takes the batch apart; one event is one reaction.
	LeavesOneByOne bool
}

// Java, Scala and Reference are the profiles of Kafka 4.x, of Kafka up to 3.9, and of the contract with every quirk replaced.
var (
	Java = Profile{
		Name: "java", PendingLeaveRebalances: true, UnknownGroupCommit69: true, CreationRecord: true,
		DescribesFormerAssignment: true, HeartbeatShortensNew: true, WritesReported: true,
	}
	Scala     = Profile{Name: "scala", SyncRenewsTimer: true, HeartbeatShortensNew: true, LeavesOneByOne: true}
	Reference = Profile{
		Name: "reference", UnknownGroupCommit69: true, CreationRecord: true, DescribesFormerAssignment: true,
		AnswersDropped: true, WritesReported: true,
	}
)
