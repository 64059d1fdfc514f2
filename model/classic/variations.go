package classic

// Variation is a point on which releases differ, as data.
type Variation struct {
	Name     string // the field of Profile
	Rule     RuleID // the rule that it varies; for CreationRecord and WritesReported, which are seen in the log, the nearest one
	Releases string // where it is on
	Driver   bool   // the model takes no decision by it: the driver does

	in    spans
	field func(*Profile) *bool
}

// Variations are all variation points.
func Variations() []Variation {
	out := make([]Variation, len(variations))
	for i, v := range variations {
		v.Releases = v.in.String()
		out[i] = v
	}
	return out
}

// On says whether the point is on in a profile.
func (v Variation) On(p Profile) bool { return *v.field(&p) }

// Set turns the point on or off in a profile: for those who ask which point makes a difference.
func (v Variation) Set(p *Profile, on bool) { *v.field(p) = on }

var variations = []Variation{
	{Name: "SyncRenewsTimer", Rule: SyncStableKeepsTimer, in: scalaOnly, field: func(p *Profile) *bool { return &p.SyncRenewsTimer }},
	{Name: "PendingLeaveRebalances", Rule: LeavePendingRebalances, in: javaOnly, field: func(p *Profile) *bool { return &p.PendingLeaveRebalances }},
	{Name: "UnknownGroupCommit69", Rule: CommitUnknownGroupCode, in: javaOnly, field: func(p *Profile) *bool { return &p.UnknownGroupCommit69 }},
	{Name: "CreationRecord", Rule: JoinCreatesGroup, in: javaOnly, field: func(p *Profile) *bool { return &p.CreationRecord }},
	{Name: "AnswersDropped", Rule: JoinParkedSuperseded, in: nil, field: func(p *Profile) *bool { return &p.AnswersDropped }},
	{Name: "DescribesFormerAssignment", Rule: DescribeRebalancingAssignment, Driver: true, in: javaOnly, field: func(p *Profile) *bool { return &p.DescribesFormerAssignment }},
	{Name: "HeartbeatShortensNew", Rule: HeartbeatNewMember, in: from(2, 5, 0), field: func(p *Profile) *bool { return &p.HeartbeatShortensNew }},
	{Name: "WritesReported", Rule: LeaveWriteFails, in: javaOnly, field: func(p *Profile) *bool { return &p.WritesReported }},
	{Name: "UnmappedInstancePasses", Rule: StaticUnmapped, in: before(3, 0, 0), field: func(p *Profile) *bool { return &p.UnmappedInstancePasses }},
	{Name: "ReplacedKeepsNew", Rule: StaticReplacedNew, in: scalaOnly, field: func(p *Profile) *bool { return &p.ReplacedKeepsNew }},
	{Name: "ReplacedLeavesStale", Rule: StaticReplacedOwes, in: from(3, 0, 0), field: func(p *Profile) *bool { return &p.ReplacedLeavesStale }},
	{Name: "ReplacedFormerSession", Rule: StaticReplacedTimer, in: everyone, field: func(p *Profile) *bool { return &p.ReplacedFormerSession }},
	{Name: "ReplacedKeepsTimeouts", Rule: StaticReplacedTimeouts, in: before(3, 3, 2), field: func(p *Profile) *bool { return &p.ReplacedKeepsTimeouts }},
	{Name: "FailedReplacementKeepsList", Rule: StaticWriteFailsList, in: scalaOnly, field: func(p *Profile) *bool { return &p.FailedReplacementKeepsList }},
	{Name: "PendingInstanceSilent", Rule: StaticPending, in: before(2, 5, 0), field: func(p *Profile) *bool { return &p.PendingInstanceSilent }},
	{Name: "LeavesOneByOne", Rule: LeaveOneByOne, in: scalaOnly, field: func(p *Profile) *bool { return &p.LeavesOneByOne }},
	{Name: "DelayExtendsReused", Rule: DelayExtendsReused, in: javaOnly, field: func(p *Profile) *bool { return &p.DelayExtendsReused }},
	{Name: "DelayEarlyEnd", Rule: DelayEarlyEnd, in: javaOnly, field: func(p *Profile) *bool { return &p.DelayEarlyEnd }},
	{Name: "DelayFlagKept", Rule: DelayFlag, in: everyone, field: func(p *Profile) *bool { return &p.DelayFlagKept }},
	{Name: "RefusalReevaluates", Rule: MaxSizeReevaluates, in: scalaOnly, field: func(p *Profile) *bool { return &p.RefusalReevaluates }},
	{Name: "EarlySyncRefused", Rule: SyncProtocolEarly, in: scalaOnly, field: func(p *Profile) *bool { return &p.EarlySyncRefused }},
	{Name: "NothingStoredCreates", Rule: CommitNothingStored, in: everyone, field: func(p *Profile) *bool { return &p.NothingStoredCreates }},
	{Name: "ShownWhenWritten", Rule: GroupUnseen, Driver: true, in: javaOnly, field: func(p *Profile) *bool { return &p.ShownWhenWritten }},
	{Name: "TxnCreatesGroup", Rule: TxnUnknownGroupCreates, in: scalaOnly, field: func(p *Profile) *bool { return &p.TxnCreatesGroup }},
	{Name: "EmptiedRemoved", Rule: OffsetDeleteLast, in: scalaOnly, field: func(p *Profile) *bool { return &p.EmptiedRemoved }},
	{Name: "PendingTombstoned", Rule: OffsetDeletePending, in: javaOnly, field: func(p *Profile) *bool { return &p.PendingTombstoned }},
	{Name: "ExpirySparesPending", Rule: ExpiryPending, Driver: true, in: javaOnly, field: func(p *Profile) *bool { return &p.ExpirySparesPending }},
	{Name: "DuplicatesTwice", Rule: CommitDuplicates, Driver: true, in: javaOnly, field: func(p *Profile) *bool { return &p.DuplicatesTwice }},
	{Name: "PlainUnstable", Rule: FetchUnstablePlain, Driver: true, in: scalaOnly, field: func(p *Profile) *bool { return &p.PlainUnstable }},
	{Name: "DescribesNoOperations", Rule: DescribeState, Driver: true, in: before(2, 5, 0), field: func(p *Profile) *bool { return &p.DescribesNoOperations }},
	{Name: "ConfigOperations", Rule: DescribeState, Driver: true, in: javaOnly, field: func(p *Profile) *bool { return &p.ConfigOperations }},
	{Name: "ListStatesExact", Rule: ListFilters, Driver: true, in: before(3, 8, 0), field: func(p *Profile) *bool { return &p.ListStatesExact }},
	{Name: "LoadingSync27", Rule: LoadingSync, in: scalaOnly, field: func(p *Profile) *bool { return &p.LoadingSync27 }},
	{Name: "LoadingListsPartly", Rule: LoadingList, Driver: true, in: scalaOnly, field: func(p *Profile) *bool { return &p.LoadingListsPartly }},
	{Name: "SessionBeforeGate", Rule: GateSession, in: javaOnly, field: func(p *Profile) *bool { return &p.SessionBeforeGate }},
	{Name: "GateEchoes", Rule: GateEcho, in: scalaOnly, field: func(p *Profile) *bool { return &p.GateEchoes }},
}
