package classic

// DefectID is the index of a defect: a contract or compat rule that some releases break by a fault, which most of them fixed.
type DefectID uint8

const (
	DefectHeartbeatCompleting DefectID = iota
	DefectNoSyncTimer
	DefectReplacedCompleting
	DefectReplacedUnwritten
	DefectExpiryRebalancing
	DefectCleanupPending
	DefectPendingMaxSize
	DefectNewMemberOld
	DefectNewMemberStuck
	DefectEmptyTimestamp
	DefectLoadOrder
	DefectTxnUnverified
	DefectMetadataUnstable
	DefectTxnCompletion
	DefectFetchOldErrors
	DefectDeletedLog
	DefectCommitErased
	DefectDeletedLoading
	DefectCommitEmptyNamed
	DefectTxnEmptyNamed
	DefectTxnMetadataErases
	DefectTxnNoMember
	DefectTxnNoGeneration
	DefectReplacedVote
	DefectRefusedInstance
	DefectRefusedPending
	DefectOffsetDeleteRepeats
	DefectRejoinedTimeouts
	DefectLeavePendingInstance
	DefectOldLeaderStatic

	defectCount
)

// DefectSet is a set of defects.
type DefectSet uint32

// Has says whether the defect is in the set.
func (s DefectSet) Has(d DefectID) bool { return s>>d&1 == 1 }

// Defect is one entry: which rule which releases break, how, and where the public can read of it.
type Defect struct {
	ID       DefectID
	Rule     RuleID
	Releases string
	Issue    string // of Kafka's tracker; empty where none is known
	What     string // what such a release does instead

	// Modelled: a Profile with the defect behaves so. The others are of values, of races or of several brokers, and are the driver's or
	// nobody's.
	Modelled bool

	in   spans
	java bool // a fault of the Java coordinator, which is there before 4.0 if it is switched on
}

// Defects are all defects that the model knows of.
func Defects() []Defect {
	out := make([]Defect, defectCount)
	for i, d := range defects {
		d.ID, d.Releases = DefectID(i), d.in.String()
		out[i] = d
	}
	return out
}

var defects = [defectCount]Defect{
	DefectHeartbeatCompleting: {
		Rule: HeartbeatCompleting, in: before(2, 6, 1), Issue: "KAFKA-10134", Modelled: true,
		What: "Heartbeat in CompletingRebalance is answered REBALANCE_IN_PROGRESS and renews nothing",
	},
	DefectNoSyncTimer: {
		Rule: SyncTimerExpels, in: before(2, 8, 1), Issue: "KAFKA-12890", Modelled: true,
		What: "there is no sync timer: members that heartbeat and never sync hold the group up for ever",
	},
	DefectReplacedCompleting: {
		Rule: StaticReplacedCompleting, in: before(2, 5, 0), Issue: "KAFKA-9801", Modelled: true,
		What: "a static member that is replaced in CompletingRebalance is answered with the current generation",
	},
	DefectReplacedUnwritten: {
		Rule: StaticReplacedRecord, in: before(2, 6, 1), Issue: "KAFKA-10284", Modelled: true,
		What: "a replacement without a rebalance is not written, so that a failover brings the former id back",
	},
	DefectExpiryRebalancing: {
		Rule: ExpiryRebalancing, in: spans{{until: release{2, 8, 2}}, {since: release{3, 0, 0}, until: release{3, 0, 1}}, {since: release{3, 1, 0}, until: release{3, 1, 1}}},
		Issue: "KAFKA-13636", Modelled: true,
		What: "offsets of topics that the group does not subscribe to expire while it rebalances",
	},
	DefectCleanupPending: {
		Rule: CleanupPending, in: spans{{since: release{4, 0, 0}, until: release{4, 0, 1}}}, java: true, Issue: "KAFKA-19163", Modelled: true,
		What: "an Empty group with nothing but pending transactional offsets is removed by the cleanup",
	},
	DefectPendingMaxSize: {
		Rule: MaxSizeRefuses, in: before(2, 6, 0), Issue: "KAFKA-9885", Modelled: true,
		What: "pending ids join beyond group.max.size, members that have not come back count while the group rebalances, strangers are not counted",
	},
	DefectNewMemberOld: {
		Rule: JoinNewMemberTimeout, in: before(2, 4, 1), Issue: "KAFKA-9232",
		What: "the five minutes of a member that joined with version 3 or less run on after its join has completed",
	},
	DefectNewMemberStuck: {
		Rule: SessionRenewedByCompletion, in: before(2, 5, 0), Issue: "KAFKA-9752", Modelled: true,
		What: "a member that dies right after its first join completed is never found dead",
	},
	DefectEmptyTimestamp: {
		Rule: ExpiryEmpty, in: before(2, 6, 1), Issue: "KAFKA-10401",
		What: "since when a group is Empty is forgotten in a failover",
	},
	DefectLoadOrder: {
		Rule: LoadEpoch, in: before(2, 8, 1), Issue: "KAFKA-10614",
		What: "a late order to give up a partition takes a newer tenure's groups away",
	},
	DefectTxnUnverified: {
		Rule: TxnVerified, in: before(3, 7, 0), Issue: "KAFKA-15449",
		What: "TxnOffsetCommit is accepted without asking whether the group is part of the transaction",
	},
	DefectMetadataUnstable: {
		Rule: FetchUnstable, in: spans{{since: release{2, 5, 0}, until: release{3, 7, 1}}}, Issue: "KAFKA-16371", Modelled: true,
		What: "a partition whose commit was refused for its metadata is UNSTABLE_OFFSET_COMMIT until the next commit of it, or until the transaction ends, if another partition of the request was accepted",
	},
	DefectTxnCompletion: {
		Rule: TxnPending, in: before(3, 9, 1), Issue: "KAFKA-17507",
		What: "a late completion of one transaction takes effect on the next one's offsets",
	},
	DefectFetchOldErrors: {
		Rule: FetchOldErrors, in: spans{{since: release{3, 5, 0}, until: release{3, 9, 2}}, {since: release{4, 0, 0}, until: release{4, 0, 2}}}, Issue: "KAFKA-19246",
		What: "OffsetFetch version 1 answers a group error with no topics and no error",
	},
	DefectDeletedLog: {
		Rule: UnloadForgets, in: spans{{since: release{4, 0, 0}, until: release{4, 0, 1}}}, java: true, Issue: "KAFKA-19274",
		What: "offsets are served on after __consumer_offsets has been deleted",
	},
	DefectCommitErased: {
		Rule: FetchCommitted, in: spans{{since: release{4, 0, 0}, until: release{4, 3, 1}}}, java: true, Issue: "KAFKA-20634",
		What: "a commit that a change of leader has erased may be acknowledged",
	},
	DefectDeletedLoading: {
		Rule: TopicDeleted, in: everyone,
		What: "the offsets of a topic that is deleted while the group's coordinator loads stay",
	},
	DefectCommitEmptyNamed: {
		Rule: CommitEmptyGroup, in: spans{{since: release{3, 0, 0}, until: release{3, 3, 0}}}, Issue: "KAFKA-14201", Modelled: true,
		What: "OffsetCommit without generation to an Empty group is refused where it names a member or an instance; so is one to a group that does not exist, which is made nevertheless",
	},
	DefectTxnEmptyNamed: {
		Rule: TxnEmptyGroup, in: spans{{since: release{2, 5, 0}, until: release{3, 3, 0}}}, Issue: "KAFKA-14201", Modelled: true,
		What: "TxnOffsetCommit without generation to an Empty group is refused where it names a member, from 3.0.0 on an instance too; so is one to a group that does not exist, which is made nevertheless",
	},
	DefectTxnMetadataErases: {
		Rule: TxnCommits, in: before(3, 7, 1), Issue: "KAFKA-16371",
		What: "a TxnOffsetCommit that is refused for its metadata takes away what the transaction had committed for the partition before",
	},
	DefectTxnNoMember: {
		Rule: TxnUnknownMember, in: spans{{since: release{2, 5, 0}, until: release{3, 0, 0}}}, Issue: "apache/kafka#9958", Modelled: true,
		What: "TxnOffsetCommit that names a generation and no member is accepted",
	},
	DefectTxnNoGeneration: {
		Rule: TxnIllegalGeneration, in: spans{{since: release{2, 5, 0}, until: release{3, 0, 0}}}, Issue: "apache/kafka#9958", Modelled: true,
		What: "TxnOffsetCommit that names a member and no generation is accepted",
	},
	DefectReplacedVote: {
		Rule: StaticReplacedVote, in: before(2, 6, 1), Issue: "KAFKA-10284", Modelled: true,
		What: "a static member that is replaced in a Stable group never starts a rebalance, so that it may be in one whose protocol it does not know",
	},
	DefectRefusedInstance: {
		Rule: MaxSizeRefuses, in: before(2, 8, 0), Issue: "KAFKA-9885", Modelled: true,
		What: "a static member that restarts and is refused by a full group takes its instance id away from its former id",
	},
	DefectRefusedPending: {
		Rule: MaxSizeForgets, in: spans{{since: release{2, 6, 0}, until: release{3, 0, 0}}}, Issue: "apache/kafka#9958", Modelled: true,
		What: "an id handed out that is refused by a full group stays pending, so that the others wait for it, and joins when there is room",
	},
	DefectOffsetDeleteRepeats: {
		Rule: OffsetDeleteEmpty, in: before(2, 6, 0), Issue: "apache/kafka#8485",
		What: "OffsetDelete answers a topic once for each partition that was named of it",
	},
	DefectLeavePendingInstance: {
		Rule: LeavePending, in: before(3, 0, 0), Issue: "apache/kafka#9958", Modelled: true,
		What: "LeaveGroup of an id that was handed out, with an instance id, is answered UNKNOWN_SERVER_ERROR, and the id stays",
	},
	DefectOldLeaderStatic: {
		Rule: JoinReplyLeader, in: spans{{since: release{2, 5, 0}, until: release{3, 3, 2}}}, Issue: "KAFKA-14422",
		What: "a leader of a JoinGroup version before 5 is never answered, or with UNSUPPORTED_VERSION, where the group has a static member",
	},
	DefectRejoinedTimeouts: {
		Rule: SessionExpires, in: before(3, 3, 2), Issue: "KAFKA-14009", Modelled: true,
		What: "a member that joins again with other timeouts keeps those of its first join",
	},
}

// defectsOf collects the defects of a release with either coordinator. Kafka 3.9 with the Java coordinator has the faults that the
// first 4.0 was released with.
func defectsOf(r release, java bool) (s DefectSet) {
	for i, d := range defects {
		switch {
		case d.java && !java:
			continue
		case d.java && r.before(release{4, 0, 0}):
			if d.in.has(release{4, 0, 0}) || d.in.has(r) {
				s |= 1 << i
			}
		case d.in.has(r):
			s |= 1 << i
		}
	}
	return s
}
