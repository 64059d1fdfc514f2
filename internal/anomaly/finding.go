package anomaly

// Rule is the id of a rule.
type Rule string

// The rules, from the gravest.
const (
	Wedged            Rule = "doctor.wedged"
	StuckPreparing    Rule = "doctor.stuck-preparing"
	StuckCompleting   Rule = "doctor.stuck-completing"
	Rebalancing       Rule = "doctor.rebalancing"
	FlappingSession   Rule = "doctor.flapping-session"
	FlappingPoll      Rule = "doctor.flapping-poll"
	FlappingMembers   Rule = "doctor.flapping-members"
	RebalancesOften   Rule = "doctor.rebalances-often"
	LeftOut           Rule = "doctor.left-out"
	LagWithoutMembers Rule = "doctor.lag-no-member"
	EmptyLong         Rule = "doctor.empty-long"
)

// Rules are all rules, the gravest first, each with a sentence that says when it speaks.
var Rules = []struct {
	Rule     Rule
	Severity Severity
	Says     string
}{
	{Wedged, Critical, "PreparingRebalance outlasts every rebalance timeout, so nothing is left that could end it."},
	{StuckPreparing, Critical, "One PreparingRebalance lasts long: a member has not rejoined."},
	{StuckCompleting, Critical, "One CompletingRebalance lasts long: the leader has not synced."},
	{Rebalancing, Critical, "The group has been neither Stable nor Empty for long, one rebalance after the other."},
	{FlappingSession, Warning, "A client loses its membership again and again after about one session timeout."},
	{FlappingPoll, Warning, "A client loses its membership again and again after about one rebalance timeout: it polls too rarely."},
	{FlappingMembers, Warning, "A client comes and goes again and again."},
	{RebalancesOften, Warning, "The last rebalances came quickly one after the other, and arrivals and departures do not explain them."},
	{LeftOut, Warning, "The leader's assignment says nothing about a member of a Stable group."},
	{LagWithoutMembers, Warning, "Records wait and nobody is there to read them."},
	{EmptyLong, Info, "The group has had no member for long."},
}

// Severity says how soon somebody should look.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // the group does not consume
	Warning  Severity = "warning"  // the group consumes late or in part, or is about to stop
	Info     Severity = "info"     // something to tidy up
)

// Finding is what is wrong with a group.
type Finding struct {
	Rule     Rule     `json:"rule"`
	Group    string   `json:"group"`
	Severity Severity `json:"severity"`

	// Certain: the evidence admits no other reading. Otherwise the finding is inferred, and Evidence says what is not known.
	Certain bool `json:"certain"`

	Summary  string   `json:"summary"`
	Evidence []string `json:"evidence"`

	// Members are those whom the evidence points at, by what people know them by; empty where it singles out nobody.
	Members []string `json:"members"`

	Causes []string `json:"causes"` // the likeliest first
	Do     []string `json:"do"`     // in this order
}

func severityOf(r Rule) Severity {
	for _, known := range Rules {
		if known.Rule == r {
			return known.Severity
		}
	}
	return Warning
}
