package core

import "github.com/twmb/franz-go/pkg/kmsg"

// VersionRange is the versions of an API that the coordinator serves, both ends included.
type VersionRange struct{ Min, Max int16 }

// Has reports whether v is in the range.
func (r VersionRange) Has(v int16) bool { return r.Min <= v && v <= r.Max }

// Versions are the APIs that the coordinator serves (§5.2; verified items 10 and 16: OffsetCommit 0-1 and OffsetFetch 0 are gone
// from Kafka 4). OffsetCommit and OffsetFetch 10 and TxnOffsetCommit 6 speak of topic ids.
func Versions() map[kmsg.Key]VersionRange {
	return map[kmsg.Key]VersionRange{
		kmsg.OffsetCommit:    {2, 10},
		kmsg.OffsetFetch:     {1, 10},
		kmsg.FindCoordinator: {0, 6},
		kmsg.JoinGroup:       {0, 9},
		kmsg.Heartbeat:       {0, 4},
		kmsg.LeaveGroup:      {0, 5},
		kmsg.SyncGroup:       {0, 5},
		kmsg.DescribeGroups:  {0, 6},
		kmsg.ListGroups:      {0, 5},
		kmsg.DeleteGroups:    {0, 3},
		kmsg.TxnOffsetCommit: {0, 6},
		kmsg.OffsetDelete:    {0, 0},
	}
}

var versions = Versions()
