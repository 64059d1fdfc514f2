package classic

// unbreakable lists the rules that Config.Broken does not touch, because the model takes no decision by them.
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
}

// Breakable says whether Config.Broken makes a difference for the rule and, if not, why.
func Breakable(rule RuleID) (bool, string) {
	why, no := unbreakable[rule]
	return !no, why
}
