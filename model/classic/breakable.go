package classic

// unbreakable lists the rules that Config.Broken does not touch, because the model takes no decision by them. Those that the driver decides,
// the driver can break (checker/observe).
var unbreakable = map[RuleID]string{
	JoinReplyError:                "says how a refusal is encoded; the model only names the code",
	SyncAssignsMembersOnly:        "speaks of ids, which the driver has resolved to slots; the model has no stranger to give anything to",
	JoinTimerFixed:                "speaks of how long a timer runs, which is the driver's",
	CommitUnknownTopic:            "is decided before the group is asked",
	FetchCommitted:                "speaks of values, which are the driver's",
	FetchNothing:                  "speaks of values, which are the driver's",
	FetchAll:                      "speaks of values, which are the driver's",
	DescribeUnknown:               "the driver reads what is described from the state",
	DescribeUnknownCode:           "the driver reads what is described from the state and the version",
	DescribeState:                 "the driver reads what is described from the state",
	DescribeMembers:               "the driver reads what is described from the state",
	DescribeRebalancingAssignment: "the driver reads what is described from the state",
	ListState:                     "the driver reads what is listed from the state",
	ListFilters:                   "the driver reads what is listed from the state",
	FindCoordinatorGroup:          "no event of the group",
	FindCoordinatorBatch:          "no event of the group",
	StaticReplacedClient:          "speaks of client ids and hosts, which are the driver's",
	StaticListed:                  "says how an answer is encoded; the model keeps no instance ids",
	JoinDuplicateProtocol:         "not modelled: a list counts a protocol once",
	JoinZeroVersion:               "speaks of how long a timer runs, which is the driver's",
	CommitGroupIDFree:             "the model looks at the group id only where it is refused",
	CommitRetention:               "speaks of values, which are the driver's",
	CommitTopicID:                 "is decided before the group is asked",
	CommitDuplicates:              "speaks of values, which are the driver's",
	GroupUnseen:                   "the driver reads what is described from the state",
	TxnVerified:                   "is decided before the group is asked",
	TxnNewerWins:                  "speaks of values, which are the driver's",
	FetchUnstable:                 "speaks of values, which are the driver's",
	FetchUnstablePlain:            "speaks of values, which are the driver's",
	FetchEachGroup:                "the driver asks each group for itself",
	FetchOldErrors:                "says how an error is encoded; the model only names the code",
	ExpiryExplicit:                "speaks of values, which are the driver's",
	ExpiryPending:                 "speaks of values, which are the driver's",
	LoadingList:                   "the driver reads what is listed from the state",
	LoadOneProtocol:               "speaks of what is written, which Durable says",
	LoadEpoch:                     "no event of the group: the driver orders them",
}

// Breakable says whether Config.Broken makes a difference for the rule and, if not, why.
func Breakable(rule RuleID) (bool, string) {
	why, no := unbreakable[rule]
	return !no, why
}
