package classic

// Profile holds the variation points: compat and quirk rules on which releases differ. Contract rules have none: a release that breaks
// one has an entry among Defects. Variations tells which rule and which releases each point belongs to.
//
// What the model's driver decides (values, encodings, what of a group is listed while loading) is a point here too, for the driver to
// look at; those say so.
type Profile struct {
	Name string

	// SyncRenewsTimer: SyncGroup in Stable renews the session timer.
	SyncRenewsTimer bool
	// PendingLeaveRebalances: a pending id's LeaveGroup starts a rebalance.
	PendingLeaveRebalances bool
	// UnknownGroupCommit69: OffsetCommit v9+ for an unknown group is GROUP_ID_NOT_FOUND.
	UnknownGroupCommit69 bool
	// CreationRecord: the JoinGroup that creates a group writes a record (no rule: seen in the log only). A group without a record also
	// needs no tombstone.
	CreationRecord bool
	// AnswersDropped: superseded requests and those of removed members are answered rather than dropped.
	AnswersDropped bool
	// DescribesFormerAssignment: what DescribeGroups shows of a group that rebalances. The driver's.
	DescribesFormerAssignment bool
	// HeartbeatShortensNew: a heartbeat, or an accepted OffsetCommit, replaces a new member's five minutes by its session timeout.
	HeartbeatShortensNew bool
	// WritesReported: a LeaveGroup whose Empty record, or a DeleteGroups or OffsetDelete whose tombstones, could not be written is
	// answered with the error, and the deletion or the creation of the group is undone. Otherwise the answer is NONE, by memory.
	WritesReported bool

	// UnmappedInstancePasses: an instance id that the group does not know is passed over, but by JoinGroup.
	UnmappedInstancePasses bool
	// ReplacedKeepsNew: a static member that is replaced in its first JoinGroup is still new.
	ReplacedKeepsNew bool
	// ReplacedLeavesStale: a replacement does not take over that a SyncGroup is owed; the sync timer runs for the id that is gone.
	ReplacedLeavesStale bool
	// ReplacedFormerSession: a replaced member's session timer first runs for the former session timeout.
	ReplacedFormerSession bool
	// ReplacedKeepsTimeouts: a replaced member keeps its former timeouts for good.
	ReplacedKeepsTimeouts bool
	// FailedReplacementKeepsList: the list of a replacement that could not be written stays.
	FailedReplacementKeepsList bool
	// PendingInstanceSilent: a pending id's JoinGroup with an instance id is never answered.
	PendingInstanceSilent bool

	// LeavesOneByOne: the group reacts to each entry of a LeaveGroup.
	LeavesOneByOne bool

	// DelayExtendsReused: a member that is added extends the initial delay of a group that was in use before, too.
	DelayExtendsReused bool
	// DelayEarlyEnd: a timer of a member or pending id that fires may end the initial delay.
	DelayEarlyEnd bool
	// DelayFlagKept: that a member was added in the last part of an initial delay is remembered until the next one.
	DelayFlagKept bool

	// RefusalReevaluates: a JoinGroup refused for group.max.size may complete the join.
	RefusalReevaluates bool
	// EarlySyncRefused: SyncGroup that names a protocol before there is one is INCONSISTENT_GROUP_PROTOCOL.
	EarlySyncRefused bool

	// NothingStoredCreates: a commit without generation of which nothing is stored makes the group nonetheless.
	NothingStoredCreates bool
	// ShownWhenWritten: a group without any record is not shown until something is written near it. The driver's.
	ShownWhenWritten bool
	// TxnCreatesGroup: TxnOffsetCommit with a generation for an unknown group creates it and is UNKNOWN_MEMBER_ID.
	TxnCreatesGroup bool
	// EmptiedRemoved: an Empty group goes with its last offset, when offsets or topics are deleted.
	EmptiedRemoved bool
	// PendingTombstoned: a pending transactional offset that is deleted gets a tombstone.
	PendingTombstoned bool
	// ExpirySparesPending: an offset does not expire while one is pending for its partition. The driver's.
	ExpirySparesPending bool
	// DuplicatesTwice: a partition that a commit or fetch names twice is answered twice. The driver's.
	DuplicatesTwice bool
	// PlainUnstable: a plain commit that is being written makes its offset unstable. The driver's.
	PlainUnstable bool

	// DescribesNoOperations: DescribeGroups that was not asked for operations says that there are none. The driver's.
	DescribesNoOperations bool
	// ConfigOperations: DescribeGroups counts what a client may do with a group's configuration. The driver's.
	ConfigOperations bool
	// ListStatesExact: ListGroups compares the states of its filter with the case of their letters. The driver's.
	ListStatesExact bool

	// LoadingSync27: SyncGroup while loading is REBALANCE_IN_PROGRESS.
	LoadingSync27 bool
	// LoadingListsPartly: ListGroups while loading lists what is loaded. The driver's.
	LoadingListsPartly bool
	// SessionBeforeGate: the session bounds are checked before whether the broker serves the group.
	SessionBeforeGate bool
	// GateEchoes: a JoinGroup that the broker does not serve is answered with its member id.
	GateEchoes bool

	// Defects are the contract rules that the release breaks.
	Defects DefectSet
}

// Java and Scala are the newest Kafka and the last one with the Scala coordinator. Reference is the newest Kafka with every quirk
// replaced by its contract: where a quirk's sentence gives a contract, that is what the reference does.
var (
	Java      = profileOf(release{4, 4, 0}, "java")
	Scala     = profileOf(release{3, 9, 2}, "scala")
	Reference = reference()
)

func reference() Profile {
	p := profileOf(release{4, 4, 0}, "reference")
	p.PendingLeaveRebalances, p.ReplacedLeavesStale, p.DelayFlagKept = false, false, false
	p.AnswersDropped, p.RefusalReevaluates = true, true
	p.HeartbeatShortensNew, p.NothingStoredCreates, p.ShownWhenWritten = false, false, false
	p.Defects = 0
	return p
}
