package doctor

import (
	"encoding/binary"
	"time"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/internal/anomaly"
)

// entry is what a record of __consumer_offsets says, as far as the doctor needs it. Exactly one of the fields below group counts.
type entry struct {
	group string
	at    time.Time // the coordinator's clock

	generation *anomaly.Generation
	assigned   map[string][]byte // with a generation: the assignments by member
	removed    bool              // the group is gone

	commit bool
	topicPartition
}

// readRecord understands a record; false where it is none that matters, such as those of the newer group protocols.
func readRecord(r *kgo.Record) (entry, bool) {
	e := entry{at: r.Timestamp}
	if len(r.Key) < 2 {
		return e, false
	}
	switch version := int16(binary.BigEndian.Uint16(r.Key)); {
	case version == 0 || version == 1:
		key := kmsg.NewOffsetCommitKey()
		if key.ReadFrom(r.Key) != nil || r.Value == nil {
			return e, false
		}
		value := kmsg.NewOffsetCommitValue()
		if value.ReadFrom(r.Value) != nil {
			return e, false
		}
		e.group, e.commit, e.topicPartition = key.Group, true, topicPartition{key.Topic, key.Partition}
		if value.CommitTimestamp > 0 {
			e.at = time.UnixMilli(value.CommitTimestamp)
		}
		return e, true
	case version == 2:
		key := kmsg.NewGroupMetadataKey()
		if key.ReadFrom(r.Key) != nil {
			return e, false
		}
		e.group = key.Group
		if r.Value == nil {
			e.removed = true
			return e, true
		}
		value := kmsg.NewGroupMetadataValue()
		if value.ReadFrom(r.Value) != nil {
			return e, false
		}
		if value.CurrentStateTimestamp > 0 {
			e.at = time.UnixMilli(value.CurrentStateTimestamp)
		}
		e.generation, e.assigned = generationOf(value, e.at)
		return e, true
	}
	return e, false
}

func generationOf(value kmsg.GroupMetadataValue, at time.Time) (*anomaly.Generation, map[string][]byte) {
	g := &anomaly.Generation{Number: value.Generation, At: at}
	if value.Protocol != nil {
		g.Protocol = *value.Protocol
	}
	if value.Leader != nil {
		g.Leader = *value.Leader
	}
	assigned := make(map[string][]byte, len(value.Members))
	for _, m := range value.Members {
		out := anomaly.Member{
			ID: m.MemberID, Client: m.ClientID, Host: m.ClientHost,
			Session: milliseconds(m.SessionTimeoutMillis), RebalanceTimeout: milliseconds(m.RebalanceTimeoutMillis),
			Assignment: anomaly.AssignmentMissing,
		}
		if m.InstanceID != nil {
			out.Instance = *m.InstanceID
		}
		if len(m.Assignment) > 0 {
			out.Assignment = anomaly.AssignmentGiven
		}
		if out.RebalanceTimeout == 0 { // records of the first version have none; the coordinator then uses the session timeout
			out.RebalanceTimeout = out.Session
		}
		g.Members = append(g.Members, out)
		if value.ProtocolType == "consumer" {
			assigned[m.MemberID] = m.Assignment
		}
	}
	return g, assigned
}

func milliseconds(ms int32) time.Duration { return max(0, time.Duration(ms)*time.Millisecond) }

// owners are the members that the last generation gave these partitions to.
func owners(assigned map[string][]byte, committed map[topicPartition]struct{}) []string {
	var out []string
	for id, raw := range assigned {
		a := kmsg.NewConsumerMemberAssignment()
		if a.ReadFrom(raw) != nil {
			continue
		}
		if func() bool {
			for _, t := range a.Topics {
				for _, p := range t.Partitions {
					if _, ok := committed[topicPartition{t.Topic, p}]; ok {
						return true
					}
				}
			}
			return false
		}() {
			out = append(out, id)
		}
	}
	return out
}

// partitionOf is the partition of __consumer_offsets that a group is kept in: Java's hash of its name.
func partitionOf(group string, partitions int32) int32 {
	var h int32
	for _, unit := range utf16.Encode([]rune(group)) {
		h = 31*h + int32(unit)
	}
	return (h & 0x7fffffff) % partitions
}
