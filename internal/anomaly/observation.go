package anomaly

import "time"

// State is a group's state, by Kafka's own names.
type State string

// The states of a group of the classic protocol. An observation in Dead says that the group is gone.
const (
	Empty               State = "Empty"
	PreparingRebalance  State = "PreparingRebalance"
	CompletingRebalance State = "CompletingRebalance"
	Stable              State = "Stable"
	Dead                State = "Dead"
)

func (s State) rebalancing() bool { return s == PreparingRebalance || s == CompletingRebalance }

// Observation is a group as it was seen at one time, and what was read of it since the observation before.
type Observation struct {
	At           time.Time // the observer's clock
	State        State
	ProtocolType string

	// Members are those the coordinator listed; MembersKnown is false where only the state was looked at.
	Members      []Member
	MembersKnown bool

	// Log says whether everything that the group wrote until At has been read, so that a generation which is not known was not
	// completed. Generations are those that were read, oldest first, each once.
	Log         bool
	Generations []Generation

	// Committers are ids of members that own a partition for which an offset was committed since the observation before.
	Committers []string

	LastCommit time.Time // the coordinator's clock; zero: not known
	BrokerNow  time.Time // a time that the coordinator's clock has reached; zero: not known

	Lag *Lag // nil: not known
}

// Member is a member of a group. A timeout of 0 is not known.
type Member struct {
	ID, Instance     string
	Client, Host     string
	Session          time.Duration
	RebalanceTimeout time.Duration
	Assignment       Assignment
}

// Assignment says what a member was given by the leader.
type Assignment uint8

// An assignment of no bytes is not one of no partitions: the leader said nothing about that member.
const (
	AssignmentUnknown Assignment = iota
	AssignmentMissing
	AssignmentGiven
)

// Generation is a generation as the group recorded it: one that a leader has distributed, or one without members.
type Generation struct {
	Number   int32
	At       time.Time // the coordinator's clock
	Protocol string
	Leader   string
	Members  []Member
}

// Lag is how far a group's committed offsets are behind the ends of its partitions.
type Lag struct {
	Total      int64 // records
	Partitions []PartitionLag

	// Unread is an age that the oldest record which the group has not read has at least; 0: not known.
	Unread time.Duration
}

// PartitionLag is the lag of one partition.
type PartitionLag struct {
	Topic     string
	Partition int32
	Committed int64
	End       int64
}
