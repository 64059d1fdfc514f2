package classic

// The rules. Source names the section of the fact sheet ("§2.2.3") that the rule restates; docs/rules.md is made from here.
const (
	JoinGroupID RuleID = iota
	JoinSessionBounds
	JoinUnknownGroup
	JoinCreatesGroup
	JoinInconsistentProtocol
	JoinProtocolBeforeMember
	JoinNewMemberIDRequired
	JoinNewOldVersion
	JoinNewMemberTimeout
	JoinPendingJoins
	JoinPendingExpires
	JoinPendingBlocks
	JoinUnknownMember
	JoinEmptyRebalances
	JoinStartsRebalance
	JoinStableLeaderRepeats
	JoinStableFollowerRepeats
	JoinStableChanged
	JoinCompletingSame
	JoinCompletingChanged
	JoinPreparingParks
	JoinCompleteAll
	JoinCompleteTimeout
	JoinCompleteGeneration
	JoinCompleteEmpty
	JoinCompleteLeader
	JoinCompleteVote
	JoinReplyLeader
	JoinReplyFollower
	JoinReplyError
	JoinParkedRemoved
	JoinParkedSuperseded
	JoinRepeatKeepsTimer
	JoinTimerFixed
	SyncGroupID
	SyncUnknownGroup
	SyncUnknownMember
	SyncIllegalGeneration
	SyncMissingProtocol
	SyncInconsistentProtocol
	SyncPreparing
	SyncFollowerParks
	SyncLeaderAssigns
	SyncAssignsMembersOnly
	SyncStableRepeats
	SyncStableKeepsTimer
	SyncAborted
	SyncWriteFails
	SyncTimerExpels
	SyncParkedRemoved
	SyncParkedSuperseded
	HeartbeatGroupID
	HeartbeatUnknownGroup
	HeartbeatUnknownMember
	HeartbeatIllegalGeneration
	HeartbeatPreparing
	HeartbeatCompleting
	HeartbeatStable
	HeartbeatNewMember
	LeaveGroupID
	LeaveUnknownGroup
	LeaveUnknownMember
	LeaveMember
	LeaveLastEmpties
	LeavePending
	LeavePendingRebalances
	LeaveBatch
	LeaveSingleVersion
	CommitUnknownGroup
	CommitUnknownGroupCode
	CommitSimpleGroup
	CommitEmptyGroup
	CommitAnonymousRefused
	CommitUnknownMember
	CommitIllegalGeneration
	CommitCompleting
	CommitMember
	CommitRefreshesTimer
	CommitMetadataTooLarge
	CommitUnknownTopic
	FetchCommitted
	FetchNothing
	FetchAll
	DescribeUnknown
	DescribeUnknownCode
	DescribeState
	DescribeMembers
	DescribeRebalancingAssignment
	ListState
	ListFilters
	DeleteEmpty
	DeleteNonEmpty
	DeleteUnknown
	FindCoordinatorGroup
	FindCoordinatorBatch
	SessionExpires
	SessionParkedIgnored
	SessionRenewedByCompletion
	GenerationFence
	OffsetsSurviveMembers

	// Static members (rules_static.go).
	StaticJoins
	StaticReplaced
	StaticReplacedJoin
	StaticReplacedSync
	StaticReplacedPreparing
	StaticReplacedCompleting
	StaticReplacedStable
	StaticReplacedVote
	StaticReplacedAssignment
	StaticReplacedLeader
	StaticReplacedLeaderOld
	StaticReplacedRecord
	StaticReplacedTimeouts
	StaticReplacedTimer
	StaticReplacedNew
	StaticReplacedOwes
	StaticReplacedSubscribed
	StaticReplacedClient
	StaticWriteFails
	StaticWriteFailsList
	StaticFenced
	StaticUnmapped
	StaticOptional
	StaticPending
	StaticRetained
	StaticNobodyJoined
	StaticListed
	LeaveInstance
	LeaveOneByOne
	LeaveWriteFails

	// The initial rebalance delay and group.max.size (rules_limits.go).
	DelayWaits
	DelayHolds
	DelayExtends
	DelayExtendsReused
	DelayEarlyEnd
	DelayFlag
	MaxSizeRefuses
	MaxSizePreparing
	MaxSizeForgets
	MaxSizeFirst
	MaxSizeReevaluates
	MaxSizeLoad
	JoinDuplicateProtocol
	JoinZeroVersion
	SyncProtocolEarly

	// Offsets and transactions (rules_offsets.go).
	CommitGroupIDFree
	CommitRetention
	CommitTopicID
	CommitDuplicates
	CommitWriteFails
	CommitNothingStored
	GroupUnseen
	TxnGroupID
	TxnUnknownGroup
	TxnUnknownGroupCreates
	TxnSimpleGroup
	TxnEmptyGroup
	TxnAnonymous
	TxnUnknownMember
	TxnIllegalGeneration
	TxnAnyPhase
	TxnKeepsTimer
	TxnVerified
	TxnPending
	TxnCommits
	TxnAborts
	TxnNewerWins
	FetchUnstable
	FetchUnstablePlain
	FetchEachGroup
	FetchOldErrors
	OffsetDeleteGroupID
	OffsetDeleteUnknownGroup
	OffsetDeleteEmpty
	OffsetDeleteSubscribed
	OffsetDeleteUnsubscribed
	OffsetDeleteOtherType
	OffsetDeleteLast
	OffsetDeletePending
	SubscribedGeneration
	TopicDeleted
	ExpiryEmpty
	ExpirySimple
	ExpiryUnsubscribed
	ExpiryRebalancing
	ExpiryExplicit
	ExpiryPending
	CleanupRemoves
	CleanupPending

	// Loading, and not being the coordinator (rules_serving.go).
	LoadingRefuses
	LoadingHeartbeat
	LoadingSync
	LoadingList
	NotCoordinator
	GateSession
	GateEcho
	UnloadJoin
	UnloadSync
	UnloadForgets
	LoadState
	LoadSessions
	LoadNoSync
	LoadOneProtocol
	LoadEpoch

	ruleCount
)

// Releases that several rules share: every one that was looked at, and those of either coordinator.
const all, java, scala = "2.4-4.4", "4.0-4.4", "2.4-3.9"

// registry is put together from the tables of the rules_*.go files, by subject.
var registry = func() (r [ruleCount]Rule) {
	for _, table := range []map[RuleID]Rule{dynamicRules, staticRules, limitRules, offsetRules, servingRules} {
		for id, rule := range table {
			r[id] = rule
		}
	}
	return r
}()

// dynamicRules are the rules of dynamic members and of what all members share.
var dynamicRules = map[RuleID]Rule{
	JoinGroupID:               {"join.group-id.empty", Compat, "JoinGroup with an empty group id is answered INVALID_GROUP_ID.", all, "§2.0.2", "a misconfigured client joins a nameless group with strangers"},
	JoinSessionBounds:         {"join.session.bounds", Compat, "JoinGroup with a session timeout below the minimum or above the maximum is answered INVALID_SESSION_TIMEOUT; both bounds are valid.", all, "§2.2.1 JG3", "a member is expelled at once, or its death goes unnoticed for hours"},
	JoinUnknownGroup:          {"join.group.unknown", Contract, "JoinGroup with a member id for a group that does not exist is answered UNKNOWN_MEMBER_ID and creates nothing.", all, "§2.2.1 JG4", "a member of a lost group keeps an id that nobody knows"},
	JoinCreatesGroup:          {"join.group.created", Compat, "JoinGroup with an empty member id creates the group, Empty, even when the request itself is refused or only yields an id.", all, "§1.12", "the group cannot be described or deleted by its operator"},
	JoinInconsistentProtocol:  {"join.protocol.inconsistent", Contract, "JoinGroup is answered INCONSISTENT_GROUP_PROTOCOL where its protocol type differs from that of the members, or no protocol of its list is supported by all members; in an Empty group, where type or list is empty.", all, "§1.7, §2.2.1 JG8", "a generation without a protocol that all members can decode"},
	JoinProtocolBeforeMember:  {"join.protocol.before-member", Compat, "The protocol check comes before the membership check: an unknown member id with an incompatible protocol is answered INCONSISTENT_GROUP_PROTOCOL.", all, "§2.2.1", "a client that could never join retries with a new id for ever"},
	JoinNewMemberIDRequired:   {"join.new.member-id-required", Contract, "From version 4 a dynamic member's JoinGroup with an empty member id is answered MEMBER_ID_REQUIRED with a fresh id; nothing else changes.", all, "§2.2.3", "a lost answer leaves a ghost member that holds partitions"},
	JoinNewOldVersion:         {"join.new.old-version", Compat, "Up to version 3 a JoinGroup with an empty member id adds the member at once.", all, "§2.2.3", "old clients cannot join"},
	JoinNewMemberTimeout:      {"join.new.timeout", Contract, "A new member that is parked in its first JoinGroup is removed after five minutes, whatever its session timeout, and its JoinGroup answered UNKNOWN_MEMBER_ID with an empty member id.", all, "§2.2.3, §3.1", "a member that died while joining blocks the group"},
	JoinPendingJoins:          {"join.pending.joins", Contract, "JoinGroup with an id handed out by MEMBER_ID_REQUIRED adds the member.", all, "§2.2.1 JG10", "no client can join"},
	JoinPendingExpires:        {"join.pending.expires", Contract, "An id handed out by MEMBER_ID_REQUIRED is forgotten after the session timeout of the request that asked for it; a JoinGroup with it is then answered UNKNOWN_MEMBER_ID.", all, "§3.2", "a client that never came back blocks every rebalance"},
	JoinPendingBlocks:         {"join.pending.blocks", Compat, "While the group prepares a rebalance, an outstanding pending id delays its completion until it joins, leaves or expires, at most until the join timer.", all, "§2.2.3", "one more rebalance than needed"},
	JoinUnknownMember:         {"join.member.unknown", Contract, "JoinGroup with a member id that the group does not know is answered UNKNOWN_MEMBER_ID, echoing the id.", all, "§2.2.1 JG11", "an expelled member goes on believing in its id"},
	JoinEmptyRebalances:       {"join.empty.rebalances", Contract, "The first member of an Empty group starts a rebalance, which completes after the initial rebalance delay.", all, "§1.2 T1, §1.5", "the first consumer never gets partitions"},
	JoinStartsRebalance:       {"join.new.rebalances", Contract, "A member added to a Stable or CompletingRebalance group starts a rebalance.", all, "§1.2 T3, T12", "the newcomer gets no partitions, or two members share them"},
	JoinStableLeaderRepeats:   {"join.stable.leader-repeats", Contract, "A JoinGroup of the leader in a Stable group starts a rebalance even where nothing changed: so clients ask for a new assignment.", all, "§1.2 T4", "new partitions are never assigned"},
	JoinStableFollowerRepeats: {"join.stable.follower-repeats", Compat, "A follower that repeats its JoinGroup unchanged in a Stable group is answered at once with the current generation and no members; nothing changes.", all, "§1.2 T6, §2.2.4", "a lost reply costs the whole group a rebalance"},
	JoinStableChanged:         {"join.stable.changed", Contract, "A JoinGroup of a member with a changed protocol list (names, bytes or order) in a Stable group starts a rebalance.", all, "§1.2 T5, §1.7", "a changed subscription is ignored"},
	JoinCompletingSame:        {"join.completing.same", Compat, "A JoinGroup with an unchanged protocol list in a CompletingRebalance group is answered at once with the current generation; the leader gets the members again.", all, "§1.2 T14, §2.2.4", "a lost JoinGroup reply restarts the rebalance"},
	JoinCompletingChanged:     {"join.completing.changed", Contract, "A JoinGroup with a changed protocol list in a CompletingRebalance group starts a rebalance.", all, "§1.2 T12", "the leader assigns from an outdated subscription"},
	JoinPreparingParks:        {"join.preparing.parks", Contract, "While the group prepares a rebalance, a member's JoinGroup waits until the join completes.", all, "§2.2.4", "members of one generation disagree on who is in it"},
	JoinCompleteAll:           {"join.complete.all-joined", Contract, "The join completes as soon as all members have joined and no pending id is outstanding.", all, "§0.4, §1.3", "the group idles for a whole rebalance timeout, or for ever"},
	JoinCompleteTimeout:       {"join.complete.timeout", Contract, "When the join timer fires, the dynamic members that have not rejoined are removed and the join completes with the others.", all, "§1.4, §3.3", "one dead member hangs the group"},
	JoinCompleteGeneration:    {"join.complete.generation", Contract, "Each completed join raises the generation by exactly one, and nothing else does.", all, "§1.6", "two assignments carry one generation, so that zombies pass the fence"},
	JoinCompleteEmpty:         {"join.complete.empty", Contract, "A join that completes without members leaves the group Empty, which takes a generation and keeps the protocol type.", all, "§1.4, §1.6", "a returning zombie's generation is valid again"},
	JoinCompleteLeader:        {"join.complete.leader", Contract, "The leader of a new generation is a member that joined it; a leader that rejoins stays leader, otherwise any member may be chosen.", all, "§1.8", "nobody computes the assignment"},
	JoinCompleteVote:          {"join.complete.vote", Contract, "The protocol of a generation is one that all members support, the one with most votes, each member voting for the first such of its list; ties are free.", all, "§1.7", "a member cannot read its assignment"},
	JoinReplyLeader:           {"join.reply.leader", Contract, "The leader's JoinGroup answer carries every member's id and metadata for the chosen protocol.", all, "§2.2.5", "members are left out of the assignment"},
	JoinReplyFollower:         {"join.reply.follower", Compat, "A follower's JoinGroup answer carries no members.", all, "§2.2.5", "two members believe that they lead"},
	JoinReplyError:            {"join.reply.error", Compat, "A refused JoinGroup carries generation -1, no leader, no members, and the protocol name null from version 7, empty before.", all, "§2.2.5", "a client takes a refusal for a generation"},
	JoinParkedRemoved:         {"join.parked.removed", Contract, "The parked JoinGroup of a member that is removed is answered UNKNOWN_MEMBER_ID with an empty member id.", all, "§1.10", "a consumer hangs in poll"},
	JoinParkedSuperseded:      {"join.parked.superseded", Quirk, "A parked JoinGroup that the same member repeats on another connection is never answered. (Contract: the earlier one is answered REBALANCE_IN_PROGRESS, or never; the later one is answered.)", all, "§1.10, §7.3 L8", "nothing, where the client has dropped the first connection"},
	JoinRepeatKeepsTimer:      {"join.repeat.keeps-timer", Compat, "A JoinGroup of an existing member does not renew its session timer.", all, "§1.10, §3.1", "a member that only rejoins is never found dead"},
	JoinTimerFixed:            {"join.timer.fixed", Compat, "The join timer is the largest rebalance timeout of the members present when the rebalance starts, the one that starts it included; later joiners do not extend it.", all, "§1.3", "members with a long rebalance timeout are expelled early"},
	SyncGroupID:               {"sync.group-id.empty", Compat, "SyncGroup with an empty group id is answered INVALID_GROUP_ID.", all, "§2.0.2", "a misconfigured client is sent the wrong way"},
	SyncUnknownGroup:          {"sync.group.unknown", Contract, "SyncGroup for a group that does not exist or is Empty is answered UNKNOWN_MEMBER_ID.", all, "§2.3.1 SG3", "a member of a lost group waits for an assignment"},
	SyncUnknownMember:         {"sync.member.unknown", Contract, "SyncGroup of an unknown or pending member id is answered UNKNOWN_MEMBER_ID, whatever its generation.", all, "§2.0.4", "an expelled member gets an assignment"},
	SyncIllegalGeneration:     {"sync.generation.illegal", Contract, "SyncGroup of a member with another generation is answered ILLEGAL_GENERATION.", all, "§2.3.1 SG6", "a member takes an assignment of another generation"},
	SyncMissingProtocol:       {"sync.protocol.missing", Compat, "From version 5 SyncGroup without protocol type or name is answered INCONSISTENT_GROUP_PROTOCOL before anything else.", all, "§2.3.1 SG1", "a broken client is not told"},
	SyncInconsistentProtocol:  {"sync.protocol.inconsistent", Contract, "SyncGroup that names another protocol type or name than the group's is answered INCONSISTENT_GROUP_PROTOCOL.", all, "§2.3.1 SG7-8", "a member decodes its assignment with the wrong protocol"},
	SyncPreparing:             {"sync.preparing", Contract, "SyncGroup in PreparingRebalance is answered REBALANCE_IN_PROGRESS.", all, "§2.3.2", "a member waits for an assignment that never comes"},
	SyncFollowerParks:         {"sync.follower.parks", Contract, "In CompletingRebalance a follower's SyncGroup waits for the leader's assignment.", all, "§2.3.2", "a follower runs with an empty assignment"},
	SyncLeaderAssigns:         {"sync.leader.assigns", Contract, "The leader's SyncGroup, once written, makes the group Stable and answers every waiting SyncGroup with that member's bytes exactly; a member without an entry gets none.", all, "§2.3.2", "partitions are owned twice or by nobody"},
	SyncAssignsMembersOnly:    {"sync.leader.strangers", Compat, "Entries of the leader's assignment for ids that are not members are ignored; of two entries for one id the last counts.", all, "§2.3.2", "one stale id in the leader's list fails the whole group"},
	SyncStableRepeats:         {"sync.stable.repeats", Contract, "SyncGroup in a Stable group is answered at once with the member's stored assignment, whatever the request carries.", all, "§2.3.2, O5", "a repeated SyncGroup splits the group between two assignments"},
	SyncStableKeepsTimer:      {"sync.stable.keeps-timer", Quirk, "SyncGroup in a Stable group does not renew the session timer (up to 3.9 it does).", java, "§5.1 DF4", "nothing: members heartbeat"},
	SyncAborted:               {"sync.parked.aborted", Contract, "When a rebalance starts in CompletingRebalance, every waiting SyncGroup is answered REBALANCE_IN_PROGRESS with no assignment.", all, "§1.3", "members hang in SyncGroup"},
	SyncWriteFails:            {"sync.write.fails", Contract, "When the leader's assignment cannot be written, every waiting SyncGroup is answered with an error and a rebalance starts.", all, "§2.3.2, §4.3", "an assignment that a failover forgets"},
	SyncTimerExpels:           {"sync.timer.expels", Contract, "Members that have not sent SyncGroup within the rebalance timeout after a join completed are removed, heartbeats or not, and a rebalance starts.", "2.8.1-4.4", "§2.3.3", "a leader that never syncs hangs the group"},
	SyncParkedRemoved:         {"sync.parked.removed", Quirk, "The parked SyncGroup of a member that is removed is never answered. (Contract: UNKNOWN_MEMBER_ID, or never.)", all, "§1.10", "a leaving client's other thread waits for its request timeout"},
	SyncParkedSuperseded:      {"sync.parked.superseded", Quirk, "A parked SyncGroup that the same member repeats on another connection is never answered. (Contract: the earlier one is answered REBALANCE_IN_PROGRESS, or never.)", all, "§1.10", "nothing, where the client has dropped the first connection"},
	HeartbeatGroupID:          {"heartbeat.group-id.empty", Compat, "Heartbeat with an empty group id is answered INVALID_GROUP_ID.", all, "§2.0.2", "a misconfigured client is sent the wrong way"},
	HeartbeatUnknownGroup:     {"heartbeat.group.unknown", Contract, "Heartbeat for a group that does not exist is answered UNKNOWN_MEMBER_ID.", all, "§2.4 HB2", "a member of a lost group never rejoins"},
	HeartbeatUnknownMember:    {"heartbeat.member.unknown", Contract, "Heartbeat of an unknown or pending member id is answered UNKNOWN_MEMBER_ID, whatever its generation.", all, "§2.4 HB4", "an expelled member keeps consuming"},
	HeartbeatIllegalGeneration: {
		"heartbeat.generation.illegal", Contract, "Heartbeat of a member with another generation is answered ILLEGAL_GENERATION and does not renew the timer.", all, "§2.4 HB5",
		"a member that missed a rebalance keeps its old partitions",
	},
	HeartbeatPreparing:            {"heartbeat.preparing", Contract, "Heartbeat in PreparingRebalance is answered REBALANCE_IN_PROGRESS and renews the timer.", all, "§2.4 HB7", "members never learn that they must rejoin"},
	HeartbeatCompleting:           {"heartbeat.completing", Contract, "Heartbeat in CompletingRebalance is answered NONE and renews the timer.", "2.6.1-4.4", "§2.4 HB8", "a slow leader makes members rejoin in circles"},
	HeartbeatStable:               {"heartbeat.stable", Contract, "Heartbeat in a Stable group is answered NONE and renews the session timer.", all, "§2.4 HB9", "living members are expelled"},
	HeartbeatNewMember:            {"heartbeat.new-member", Quirk, "A heartbeat of a new member that is parked in its first JoinGroup replaces its five minutes by its session timeout (in 2.4 it does not).", "2.5-4.4", "§2.4", "nothing: clients do not heartbeat while joining"},
	LeaveGroupID:                  {"leave.group-id.empty", Compat, "LeaveGroup with an empty group id is answered INVALID_GROUP_ID at top level with no members.", all, "§2.0.2", "a misconfigured client is sent the wrong way"},
	LeaveUnknownGroup:             {"leave.group.unknown", Compat, "LeaveGroup for a group that does not exist is answered UNKNOWN_MEMBER_ID for each entry (at top level up to version 2).", all, "§2.5 LG2", "a shutdown reports success for a group that is not there"},
	LeaveUnknownMember:            {"leave.member.unknown", Compat, "LeaveGroup of an unknown member id is answered UNKNOWN_MEMBER_ID for that entry.", all, "§2.5 LG6", "a shutdown reports success for another's id"},
	LeaveMember:                   {"leave.member", Contract, "LeaveGroup removes the member: a Stable or CompletingRebalance group starts a rebalance, a preparing one completes if all others have joined.", all, "§2.5", "partitions of a consumer that left stay with it until its session ends"},
	LeaveLastEmpties:              {"leave.last.empties", Contract, "When the last member leaves, the group becomes Empty at once and takes a generation.", all, "§1.1, §1.6", "a group that nobody uses cannot be reset or deleted"},
	LeavePending:                  {"leave.pending", Compat, "LeaveGroup of a pending id forgets the id and answers NONE.", all, "§2.5 LG5", "a client that gives up delays the others"},
	LeavePendingRebalances:        {"leave.pending.rebalances", Quirk, "LeaveGroup of a pending id in a Stable or CompletingRebalance group starts a rebalance. (Contract: it does not.)", java, "§5.1 DF8", "a spurious rebalance"},
	LeaveBatch:                    {"leave.batch", Compat, "From version 3 LeaveGroup answers each entry on its own, in request order, echoing its ids, with top level NONE; a repeated entry is UNKNOWN_MEMBER_ID; an empty batch is NONE.", all, "§2.5", "an operator's removal of many members cannot be checked"},
	LeaveSingleVersion:            {"leave.single", Compat, "Up to version 2 LeaveGroup carries one member and its error is the top level error.", all, "§2.5", "old clients do not learn that they had been expelled"},
	CommitUnknownGroup:            {"commit.group.unknown", Contract, "OffsetCommit with a generation for a group that does not exist is refused.", all, "§2.6.2 OC2", "a zombie writes offsets after its group was lost"},
	CommitUnknownGroupCode:        {"commit.group.unknown.code", Compat, "OffsetCommit with a generation for a group that does not exist is answered ILLEGAL_GENERATION up to version 8; from version 9 GROUP_ID_NOT_FOUND (up to 3.9 ILLEGAL_GENERATION in every version).", all, "§5.1 DF16", "a client retries what it should give up"},
	CommitSimpleGroup:             {"commit.simple.creates", Contract, "OffsetCommit without generation for a group that does not exist creates it, Empty and without protocol type, and stores the offset.", all, "§2.6.2 OC3", "assign-only consumers lose their progress"},
	CommitEmptyGroup:              {"commit.empty.accepted", Contract, "OffsetCommit without generation in an Empty group is accepted, whatever member it names.", "2.4-2.8, 3.3-4.4", "§2.6.2 OC5", "offsets cannot be reset"},
	CommitAnonymousRefused:        {"commit.anonymous.refused", Contract, "OffsetCommit without generation and member in a group that has members is answered UNKNOWN_MEMBER_ID.", all, "§2.6.2 OC7", "a tool overwrites the progress of a living group"},
	CommitUnknownMember:           {"commit.member.unknown", Contract, "OffsetCommit of an unknown member id is answered UNKNOWN_MEMBER_ID, whatever its generation.", all, "§2.6.2 OC6", "an expelled member overwrites its successor's progress"},
	CommitIllegalGeneration:       {"commit.generation.illegal", Contract, "OffsetCommit of a member with another generation is answered ILLEGAL_GENERATION.", all, "§2.6.2 OC6", "a zombie overwrites its successor's progress"},
	CommitCompleting:              {"commit.completing", Contract, "OffsetCommit of a member in CompletingRebalance is answered REBALANCE_IN_PROGRESS.", all, "§2.6.2 OC8", "a member commits for partitions that it may be about to lose"},
	CommitMember:                  {"commit.member.accepted", Contract, "OffsetCommit of a member with the current generation in a Stable or PreparingRebalance group is accepted.", all, "§2.6.2 OC9", "the last progress before a rebalance is lost and consumed twice"},
	CommitRefreshesTimer:          {"commit.renews-timer", Compat, "An accepted OffsetCommit renews the member's session timer.", all, "§2.6.2 OC9, §3.1", "a busy member is expelled"},
	CommitMetadataTooLarge:        {"commit.metadata.too-large", Compat, "Metadata longer than offset.metadata.max.bytes (4096) is answered OFFSET_METADATA_TOO_LARGE for that partition only; the others are stored.", all, "§2.6.2", "one long note loses all progress"},
	CommitUnknownTopic:            {"commit.topic.unknown", Compat, "OffsetCommit for a topic or partition that does not exist is answered UNKNOWN_TOPIC_OR_PARTITION for it without asking the group.", all, "§2.6.1", "offsets of deleted topics come back"},
	FetchCommitted:                {"fetch.committed", Contract, "OffsetFetch returns the last committed offset and metadata, in every state of the group and to anyone.", all, "§2.7, O13", "a consumer restarts from the wrong place"},
	FetchNothing:                  {"fetch.nothing", Contract, "OffsetFetch of a partition without a committed offset, or of an unknown group, returns offset -1, empty metadata and NONE.", all, "§2.7", "a new consumer fails instead of using its reset policy"},
	FetchAll:                      {"fetch.all", Compat, "OffsetFetch without topics (from version 2) returns all partitions that have a committed offset, and nothing for an unknown group.", all, "§2.7", "tools do not see a group's progress"},
	DescribeUnknown:               {"describe.unknown", Compat, "DescribeGroups calls a group that does not exist Dead.", all, "§2.10", "tools take a missing group for a living one"},
	DescribeUnknownCode:           {"describe.unknown.code", Compat, "From DescribeGroups version 6 an unknown group is answered GROUP_ID_NOT_FOUND as well; before, NONE.", java, "verified item 8", "tools cannot tell a missing group from an empty one"},
	DescribeState:                 {"describe.state", Compat, "DescribeGroups names the group's state and protocol type; the protocol only while Stable; pending ids are never listed.", all, "§2.10", "operators are misled about a stuck group"},
	DescribeMembers:               {"describe.members", Compat, "DescribeGroups of a Stable group lists each member's id, client id, metadata of the chosen protocol and assignment.", all, "§2.10", "operators cannot see who owns a partition"},
	DescribeRebalancingAssignment: {"describe.rebalancing.assignment", Quirk, "While the group rebalances DescribeGroups shows the members' former assignment (up to 3.9 none).", java, "§5.1 DF22", "nothing"},
	ListState:                     {"list.state", Compat, "ListGroups lists every group of the broker with protocol type, state (from version 4) and type classic (from version 5).", all, "§2.11", "groups are invisible to tools"},
	ListFilters:                   {"list.filters", Compat, "ListGroups filters by state and type without regard to case (up to 3.7 states are compared with their case); an unknown name matches nothing.", all, "§2.11", "tools list the wrong groups"},
	DeleteEmpty:                   {"delete.empty", Contract, "DeleteGroups removes an Empty group with its offsets and pending ids; a group of that name starts again at generation 1.", all, "§2.12", "a deleted group's offsets come back"},
	DeleteNonEmpty:                {"delete.non-empty", Contract, "DeleteGroups of a group that is not Empty is answered NON_EMPTY_GROUP and changes nothing.", all, "§2.12", "a living group loses its offsets"},
	DeleteUnknown:                 {"delete.unknown", Compat, "DeleteGroups of a group that does not exist is answered GROUP_ID_NOT_FOUND.", all, "§2.12", "a typo passes for a deletion"},
	FindCoordinatorGroup:          {"find-coordinator.group", Contract, "FindCoordinator for a group returns NONE and a node that serves the group.", all, "§2.1", "clients never find their coordinator"},
	FindCoordinatorBatch:          {"find-coordinator.batch", Compat, "From version 4 FindCoordinator answers each key on its own.", all, "§2.1", "admin clients fail on several groups"},
	SessionExpires:                {"session.expires", Contract, "A member that is silent for its session timeout is removed: a Stable or CompletingRebalance group starts a rebalance, a preparing one completes if all others have joined.", all, "§3.1", "a dead consumer's partitions are never consumed again"},
	SessionParkedIgnored:          {"session.parked", Contract, "The session timer of a member whose JoinGroup or SyncGroup is parked does not remove it, unless it has never completed a join.", all, "§3.1", "members are expelled while they wait for others"},
	SessionRenewedByCompletion:    {"session.renewed-by-completion", Contract, "When a join completes or a waiting SyncGroup is answered, the member's session timer starts anew.", all, "§1.4, §3.1", "members that waited long are expelled at once"},
	GenerationFence:               {"generation.fence", Contract, "Once a join has created a generation, no request with an older one succeeds.", all, "O7", "zombies overwrite progress"},
	OffsetsSurviveMembers:         {"offsets.survive-members", Contract, "Committed offsets stay when the group's members have left.", all, "§1.12, O13", "a restarted application starts over"},
}
