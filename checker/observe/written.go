package observe

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// Written says whether an answer is what the branch shows to a static member whose replacement without a rebalance is answered only now: Kafka makes that answer when
// the group's record has been written (static.replaced.record), with the leader and the members of that moment. What else is in it has not changed meanwhile: a rebalance
// that began and ended would have answered the member itself. Nor is a leader told of the members of a group that prepares a rebalance: it waits for that then.
func (w *World) Written(b *Branch, actual *kmsg.JoinGroupResponse) bool {
	own := b.slot(actual.MemberID)
	if own < 0 || b.generation != actual.Generation {
		return false
	}
	leads := b.state.Slots[own].Leader
	if b.state.Phase != classic.Stable && (leads || b.state.Phase != classic.PreparingRebalance) {
		return false
	}
	names := w.symbols.Load()
	now := *actual
	now.LeaderID, now.SkipAssignment, now.Members = "", leads, nil
	for i := range b.used() {
		slot := &b.state.Slots[i]
		if slot.Kind != classic.Member {
			continue
		}
		if slot.Leader {
			now.LeaderID = b.holders[i].id
		}
		if !leads {
			continue
		}
		one := kmsg.NewJoinGroupResponseMember()
		one.MemberID, one.ProtocolMetadata = b.holders[i].id, names.metadata(slot.List, b.state.Protocol)
		if slot.Static {
			one.InstanceID = kmsg.StringPtr(b.holders[i].instance)
		}
		now.Members = append(now.Members, one)
	}
	return Match(&now, actual) == nil
}
