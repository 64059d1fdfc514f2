package variant

// Reading is one way to read the description: the zero value is the text taken at its word, and where it can be taken in two ways, in
// the one that works better.
type Reading struct {
	Table         TableReading
	Forbidden     ForbiddenReading
	LastLeave     LastLeaveReading
	LeaveInJoin   LeaveInJoinReading
	Recheck       bool // whether all have joined is asked after each change of membership; the text asks after a JoinGroup in PreparingRebalance
	LeaderGone    bool // in CompletingRebalance an expired member starts a rebalance; in the text "the rebalance goes on"
	Reset         ResetReading
	RaisedAtEnd   bool // the generation is raised when a join completes; in the text on entering PreparingRebalance
	Heartbeat     HeartbeatReading
	UnknownCode   bool // a stranger's heartbeat is answered UNKNOWN_MEMBER_ID; in the text ILLEGAL_GENERATION
	DeadCode      bool // the same for Heartbeat and LeaveGroup of a Dead group; in the text GROUP_ID_NOT_FOUND
	DeadJoin      DeadJoinReading
	Repeats       bool // a follower's repeated JoinGroup is answered at once; in the text it restarts the rebalance
	CompletedOnly bool // only Stable and Empty groups are saved; in the text each transition is
	LoadTimers    bool // loading starts the members' timers; the text says nothing of timers
	Offsets       bool // clean-up removes offsets; in the text it does not touch them
	DeleteEmpty   bool // only an Empty group is deleted; in the text any is
	SyncsAborted  bool // a rebalance answers the SyncGroups that wait; in the text it is announced by heartbeats only
	LeaderKept    bool // a leader that rejoins stays leader; in the text the leader is cleared and chosen anew
	CommitState   CommitReading
	CommitMember  bool // a commit is refused where its sender is no member; in the text only for an older generation
	AddFirst      bool // the first member is added and the group enters PreparingRebalance then, as section C orders it
	MarkWaits     bool // "awaiting join" says that a JoinGroup waits, so that everybody counts as joined on entering PreparingRebalance
	AbsentKept    bool // at the timeout who has not joined stays a member
	WaitingDies   bool // the session timer of a member whose request waits runs on
}

// TableReading is which predecessors Empty has.
type TableReading uint8

const (
	TableAsWritten TableReading = iota // PreparingRebalance and Dead
	TableRevives                       // Stable and CompletingRebalance too
	TableAmended                       // the same, and not Dead
)

// ForbiddenReading is what becomes of a transition outside the table, which "leaves the group as it was".
type ForbiddenReading uint8

const (
	ForbiddenUndone    ForbiddenReading = iota // nothing of the event has happened
	ForbiddenStateOnly                         // the state stays, what the handler had done stays too
	ForbiddenPasses                            // the table is not asked
)

// LastLeaveReading is where the last LeaveGroup in Stable leads.
type LastLeaveReading uint8

const (
	LastToEmpty LastLeaveReading = iota // the handler
	LastToDead                          // the prose: where no offsets are left
)

// LeaveInJoinReading is what a LeaveGroup in PreparingRebalance does where members are left.
type LeaveInJoinReading uint8

const (
	LeaveEnters LeaveInJoinReading = iota // to PreparingRebalance, once more
	LeaveStays                            // no transition
)

// ResetReading is what Empty does to the generation.
type ResetReading uint8

const (
	ResetTwice ResetReading = iota // entering Empty sets 0, leaving it sets 1, entering PreparingRebalance adds 1
	ResetOnce                      // the last two are one and the same
	ResetNever
)

// HeartbeatReading is how a member's heartbeat in PreparingRebalance is answered.
type HeartbeatReading uint8

const (
	HeartbeatMember     HeartbeatReading = iota // NONE; "valid" is who is a member
	HeartbeatGeneration                         // NONE with the group's generation, else ILLEGAL_GENERATION
	HeartbeatRebalance                          // REBALANCE_IN_PROGRESS with the last completed generation, else ILLEGAL_GENERATION
)

// DeadJoinReading is what a JoinGroup of a Dead group comes to.
type DeadJoinReading uint8

const (
	DeadRefuses   DeadJoinReading = iota // GROUP_ID_NOT_FOUND, for ever
	DeadRevives                          // the table lets Dead become Empty
	DeadForgotten                        // the group has been removed, no snapshot means a new Empty group
)

// CommitReading is in which states a commit with the right generation is accepted.
type CommitReading uint8

const (
	CommitAnyState    CommitReading = iota // wherever the generation is right
	CommitStable                           // in Stable, of which alone it is said that commits are served
	CommitGenerations                      // in Stable and in the PreparingRebalance after it
)

// Described is the description as it is.
func Described() Reading { return Reading{} }

// Repaired is the description with every sentence repaired that breaks a property.
func Repaired() Reading {
	r := Reading{}
	for _, c := range Choices() {
		c.Readings[c.Repair].Choose(&r)
	}
	return r
}

// Choice is a place where the description can be read in several ways or has to be repaired.
type Choice struct {
	Title    string
	Sections string // of the description, that speak of it
	Readings []Option
	Repair   int // the reading that breaks nothing

	Restarts, Offsets bool // dimensions that it shows in alone
}

// Option is one reading of a Choice.
type Option struct {
	Text   string
	Choose func(*Reading)
}

// Setting is one exploration.
type Setting struct {
	Reading  Reading
	Restarts bool // the coordinator may restart
	Commits  bool // committed offsets are remembered

	// Generations is the highest generation, 1 to 7: an event that would raise it further is not taken. 0 is MaxGeneration.
	Generations int8
}

// Alone is the repaired description with one choice read otherwise, so that what it breaks is its own doing.
func (c Choice) Alone(reading int) Setting {
	s := Setting{Reading: Repaired(), Restarts: c.Restarts, Commits: c.Offsets}
	c.Readings[reading].Choose(&s.Reading)
	return s
}
