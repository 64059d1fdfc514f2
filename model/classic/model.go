// Package classic is the specification of Kafka's classic group protocol, the part that JoinGroup, SyncGroup, Heartbeat, LeaveGroup,
// OffsetCommit and their kin speak: one pure step function that every judge shares.
//
// A State is one group in a coordinator's memory, relative to the present. Step yields every transition that the coordinator may
// make about an event, each with the rules that decided it. Nothing here knows time, bytes, member ids or generation numbers.
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
	// CreationRecord: the JoinGroup that creates a group writes a record (no rule: seen in the log only; Java coordinator).
	CreationRecord bool
	// AnswersDropped: superseded requests and those of removed members are answered rather than dropped (join.parked.superseded,
	// sync.parked.superseded, sync.parked.removed; the reference).
	AnswersDropped bool
	// DescribesFormerAssignment: describe.rebalancing.assignment (Java coordinator).
	DescribesFormerAssignment bool
	// HeartbeatShortensNew: heartbeat.new-member (all Kafka releases, not the reference).
	HeartbeatShortensNew bool
}

// Java, Scala and Reference are the profiles of Kafka 4.x, of Kafka up to 3.9, and of the contract with every quirk replaced.
var (
	Java      = Profile{Name: "java", PendingLeaveRebalances: true, UnknownGroupCommit69: true, CreationRecord: true, DescribesFormerAssignment: true, HeartbeatShortensNew: true}
	Scala     = Profile{Name: "scala", SyncRenewsTimer: true, HeartbeatShortensNew: true}
	Reference = Profile{Name: "reference", UnknownGroupCommit69: true, CreationRecord: true, DescribesFormerAssignment: true, AnswersDropped: true}
)
