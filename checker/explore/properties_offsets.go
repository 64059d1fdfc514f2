package explore

import c "github.com/muster-kafka/muster/model/classic"

// offsetsKept looks at where the group's offsets have gone: who may take them.
func offsetsKept(v *view) bool {
	committed, pending := v.t.Next.Offsets, v.t.Next.Open
	kept := committed == v.s.Offsets && pending == v.s.Open
	switch v.t.Offsets {
	case c.KeepOffsets:
		return kept
	case c.StoreOffsets:
		return committed && pending == v.s.Open && v.e.Kind == c.OffsetCommit
	case c.PendOffsets:
		return pending && committed == v.s.Offsets && v.e.Kind == c.TxnOffsetCommit
	case c.CommitPending, c.DropPending:
		return v.e.Kind == c.TxnMarker
	case c.RemoveOffsets:
		return v.e.Kind == c.OffsetDelete || v.e.Kind == c.TopicsDeleted || v.e.Kind == c.Cleanup
	}
	return !committed && !pending && v.e.Kind == c.DeleteGroups && v.code() == c.CodeNone
}

// txnProperties are asked about every TxnOffsetCommit.
var txnProperties = []property{
	{"TxnOffsetCommit without group id is refused", c.TxnGroupID, badGroup, func(v *view) bool {
		return v.refused(c.CodeInvalidGroupID)
	}},
	{"TxnOffsetCommit of a generation of an unknown group is refused", c.TxnUnknownGroup, wellFormed | isAbsent, func(v *view) bool {
		return v.is(noGen) || v.code() != c.CodeNone && !v.t.Next.Open && v.t.Offsets == c.KeepOffsets
	}},
	{"TxnOffsetCommit of a generation of an unknown group is answered as the profile says", c.TxnUnknownGroupCreates, wellFormed | isAbsent, func(v *view) bool {
		if v.is(noGen) || v.code() == c.CodeNone {
			return true
		}
		if v.profile.TxnCreatesGroup {
			return v.code() == c.CodeUnknownMemberID && v.t.Next.Phase == c.Empty
		}
		return v.refused(c.CodeIllegalGeneration)
	}},
	{"TxnOffsetCommit without generation creates a simple group", c.TxnSimpleGroup, wellFormed | isAbsent | noGen, func(v *view) bool {
		if v.missed(true) {
			return v.hollow()
		}
		return v.code() == v.stored() && (v.undone() || v.t.Next.Phase == c.Empty && v.t.Next.Type == 0)
	}},
	{"TxnOffsetCommit without generation in an Empty group is accepted from anyone", c.TxnEmptyGroup, wellFormed | isEmpty | noGen, func(v *view) bool {
		return v.code() == v.stored()
	}},
	{"TxnOffsetCommit of nobody is accepted in every group", c.TxnAnonymous, wellFormed | busy | noGen | noID | noInstance, func(v *view) bool {
		return v.code() == v.stored()
	}},
	{"TxnOffsetCommit of whoever is no member is refused", c.TxnUnknownMember, wellFormed | guarded | byNobody, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"TxnOffsetCommit of another generation is refused", c.TxnIllegalGeneration, wellFormed | guarded | acts | wrongGen, func(v *view) bool {
		return v.refused(c.CodeIllegalGeneration)
	}},
	{"TxnOffsetCommit of a member is accepted in every phase", c.TxnAnyPhase, inOrder | exists, func(v *view) bool {
		return v.code() == v.stored()
	}},
	{"TxnOffsetCommit renews no session", c.TxnKeepsTimer, always, func(v *view) bool { return len(v.t.Timers) == 0 }},
	{"an accepted TxnOffsetCommit is pending", c.TxnPending, always, func(v *view) bool {
		return v.code() != c.CodeNone || v.t.Offsets == c.PendOffsets && v.t.Next.Open && v.t.Next.Offsets == v.s.Offsets
	}},
}

// markerProperties are asked when a transaction ends.
var markerProperties = []property{
	{"a commit makes the transaction's offsets the group's", c.TxnCommits, always, func(v *view) bool {
		return v.e.Aborted || !v.e.Taken.Pending || v.t.Next.Offsets && v.t.Next.Open == v.e.Left.Pending && v.t.Offsets == c.CommitPending
	}},
	{"an abort drops the transaction's offsets", c.TxnAborts, always, func(v *view) bool {
		return !v.e.Aborted || !v.e.Taken.Pending ||
			v.t.Next.Offsets == v.s.Offsets && v.t.Next.Open == v.e.Left.Pending && v.t.Offsets == c.DropPending
	}},
	{"the end of a transaction without offsets here changes nothing", c.TxnCommits, always, func(v *view) bool {
		return v.e.Taken.Pending || v.inert
	}},
}

// offsetDeleteProperties are asked about every OffsetDelete.
var offsetDeleteProperties = []property{
	{"OffsetDelete without group id is refused", c.OffsetDeleteGroupID, badGroup, func(v *view) bool {
		return v.refused(c.CodeInvalidGroupID)
	}},
	{"OffsetDelete for an unknown group is refused", c.OffsetDeleteUnknownGroup, wellFormed | isAbsent, func(v *view) bool {
		return v.refused(c.CodeGroupIDNotFound)
	}},
	{"OffsetDelete in an Empty group removes what is named", c.OffsetDeleteEmpty, isEmpty, func(v *view) bool {
		return !v.deletes() || v.reply.Refused == c.KnownTopics && v.took()
	}},
	{"OffsetDelete refuses topics that are subscribed to, or may be", c.OffsetDeleteSubscribed, busy, func(v *view) bool {
		if !v.deletes() || v.s.Type != groupType || !v.subscriptions() {
			return true
		}
		if !v.s.Subscribed.Known() {
			return v.reply.Refused == v.e.Topics && v.inert
		}
		return v.reply.Refused&v.s.Subscribed == v.e.Topics&v.s.Subscribed
	}},
	{"OffsetDelete removes what is not subscribed to", c.OffsetDeleteUnsubscribed, busy, func(v *view) bool {
		if !v.deletes() || v.s.Type != groupType || !v.subscriptions() || !v.s.Subscribed.Known() {
			return true
		}
		free := v.e.Topics &^ v.s.Subscribed &^ c.KnownTopics
		return v.reply.Refused&free == 0 && (free == 0 || v.took())
	}},
	{"OffsetDelete in a group of another type is refused while it has members", c.OffsetDeleteOtherType, wellFormed | busy, func(v *view) bool {
		return v.s.Type == groupType && v.subscriptions() || v.refused(c.CodeNonEmptyGroup)
	}},
	{"an Empty group goes with its last offset only as the profile says", c.OffsetDeleteLast, isEmpty, func(v *view) bool {
		if !v.deletes() || v.e.Topics == c.KnownTopics {
			return true
		}
		last := !v.left().Committed && !v.left().Pending
		return (v.t.Next.Phase == c.Absent) == (last && v.profile.EmptiedRemoved)
	}},
	{"a pending offset that goes gets a tombstone only as the profile says", c.OffsetDeletePending, always, func(v *view) bool {
		if v.t.Offsets != c.RemoveOffsets || v.e.Taken.Committed {
			return true
		}
		written := false
		for _, r := range v.t.Records {
			written = written || r.Kind == c.SomeTombstones
		}
		return written == v.profile.PendingTombstoned
	}},
}

func (v *view) subscriptions() bool { return v.group.Subscriptions }

// deletes says whether an OffsetDelete has been answered without an error of the group.
func (v *view) deletes() bool {
	return !v.is(badGroup) && v.code() == c.CodeNone && v.s.Phase != c.Absent
}

// left is what the group has if the event takes what it names.
func (v *view) left() c.Some {
	left := c.Some{Committed: v.s.Offsets, Pending: v.s.Open}
	if v.e.Taken.Committed {
		left.Committed = v.e.Left.Committed
	}
	if v.e.Taken.Pending {
		left.Pending = v.e.Left.Pending
	}
	return left
}

// took says whether the event has taken what it names, and nothing more.
func (v *view) took() bool {
	if v.e.Taken != (c.Some{}) && v.t.Offsets != c.RemoveOffsets || v.e.Topics == c.KnownTopics {
		return v.e.Topics == c.KnownTopics
	}
	if v.t.Next.Phase == c.Absent {
		return v.left() == c.Some{}
	}
	return c.Some{Committed: v.t.Next.Offsets, Pending: v.t.Next.Open} == v.left()
}

// reverted says whether the event's tombstones could not be written, and the coordinator lets it not have happened.
func (v *view) reverted() bool {
	return v.e.Write == c.WriteFailed && v.profile.WritesReported && v.t.Next == *v.s
}

// topicProperties are asked when topics are deleted.
var topicProperties = []property{
	{"offsets of deleted topics go", c.TopicDeleted, exists, func(v *view) bool {
		return v.reverted() || v.took()
	}},
}

// cleanupProperties are asked about every cleanup.
var cleanupProperties = []property{
	{"old offsets of an Empty group expire", c.ExpiryEmpty, isEmpty, func(v *view) bool {
		return v.s.Type == 0 || v.expired()
	}},
	{"old offsets of a simple group expire", c.ExpirySimple, exists, func(v *view) bool {
		return v.s.Type != 0 || v.expired()
	}},
	{"old offsets that a Stable consumer group does not subscribe to expire", c.ExpiryUnsubscribed, isStable, func(v *view) bool {
		return v.s.Type != groupType || !v.s.Subscribed.Known() || v.expired()
	}},
	{"no offset of another group with members expires", c.ExpiryRebalancing, busy, func(v *view) bool {
		stable := v.s.Phase == c.Stable && v.s.Type == groupType && v.s.Subscribed.Known()
		return stable || v.inert
	}},
	{"an Empty group without offsets goes", c.CleanupRemoves, isEmpty, func(v *view) bool {
		return v.left() != c.Some{} || v.t.Next.Phase == c.Absent || v.reverted()
	}},
	{"a group with offsets, pending ones too, stays", c.CleanupPending, exists, func(v *view) bool {
		return v.left() == c.Some{} || v.t.Next.Phase == v.s.Phase
	}},
}

// expired says whether what is old enough has gone.
func (v *view) expired() bool { return v.reverted() || v.took() }
