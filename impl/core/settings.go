package core

import (
	"math"
	"time"
)

// Settings are the coordinator's settings and what it asks of its caller. The zero value of a duration or size is Kafka's default,
// except for the initial rebalance delay and the periodic cleanup, which are off.
type Settings struct {
	MinSessionTimeout     time.Duration // group.min.session.timeout.ms; default 6 s
	MaxSessionTimeout     time.Duration // group.max.session.timeout.ms; default 30 min
	InitialRebalanceDelay time.Duration // group.initial.rebalance.delay.ms; default 0
	MetadataMaxBytes      int           // offset.metadata.max.bytes, in UTF-16 units; default 4096
	MaxSize               int           // group.max.size, in members; default no limit
	OffsetsRetention      time.Duration // offsets.retention.minutes; default 7 days
	CleanupInterval       time.Duration // offsets.retention.check.interval.ms; default never, but for the event Cleanup

	// Node is what FindCoordinator answers.
	Node Node

	// TopicExists says whether a partition exists. Without it, every partition does.
	TopicExists func(topic string, partition int32) bool

	// TopicName and TopicID translate between the names of topics and their ids, for the versions of OffsetCommit, OffsetFetch and
	// TxnOffsetCommit that speak of ids. Without them, no id is known.
	TopicName func(id [16]byte) (name string, ok bool)
	TopicID   func(name string) (id [16]byte, ok bool)

	// Transactions says that the caller coordinates transactions: FindCoordinator then names this node for them too.
	Transactions bool

	// Choose picks one of n, 0 to n-1, where Kafka's choice is free: the leader among candidates, a tied vote.
	// Without it, the first.
	Choose func(n int) int

	// NewMemberID makes a member id that was never used before, "<clientID>-<uuid>". Without it, ids are counted: unique only as long
	// as no other coordinator, and no earlier run of this one, counts too.
	NewMemberID func(clientID string) string

	// Report is told of every InconsistencyError and WriteError.
	Report func(error)

	// Observe is told of every change of a group, in order, in the middle of a Step. It may be nil.
	Observe func(Change)
}

// Node is an address as FindCoordinator and Metadata give it.
type Node struct {
	ID   int32
	Host string
	Port int32
}

// newMemberTimeout is a constant in Kafka too (§6; join.new.timeout).
const newMemberTimeout = 5 * time.Minute

// WithDefaults fills in what has been left out.
func (s Settings) WithDefaults() Settings {
	if s.MinSessionTimeout == 0 {
		s.MinSessionTimeout = 6 * time.Second
	}
	if s.MaxSessionTimeout == 0 {
		s.MaxSessionTimeout = 30 * time.Minute
	}
	if s.MetadataMaxBytes == 0 {
		s.MetadataMaxBytes = 4096
	}
	if s.MaxSize <= 0 {
		s.MaxSize = math.MaxInt32
	}
	if s.OffsetsRetention == 0 {
		s.OffsetsRetention = 7 * 24 * time.Hour
	}
	if s.TopicName == nil {
		s.TopicName = func([16]byte) (string, bool) { return "", false }
	}
	if s.TopicID == nil {
		s.TopicID = func(string) ([16]byte, bool) { return [16]byte{}, false }
	}
	if s.TopicExists == nil {
		s.TopicExists = func(string, int32) bool { return true }
	}
	if s.Choose == nil {
		s.Choose = func(int) int { return 0 }
	}
	if s.NewMemberID == nil {
		var last uint64
		s.NewMemberID = func(clientID string) string {
			last++
			return MemberID(clientID, 0, last)
		}
	}
	if s.Report == nil {
		s.Report = func(error) {}
	}
	return s
}
