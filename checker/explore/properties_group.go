package explore

import c "github.com/muster-kafka/muster/model/classic"

// stored is what an OffsetCommit is answered that nothing is wrong with.
func (v *view) stored() int16 {
	switch {
	case v.e.TooLarge:
		return c.CodeOffsetMetadataTooLarge
	case v.e.Write == c.WriteFailed:
		return c.CodeWriteFailed
	}
	return c.CodeNone
}

// undone says whether a commit that made a group has left none.
func (v *view) undone() bool {
	return (v.code() == c.CodeWriteFailed || v.e.TooLarge && !v.profile.NothingStoredCreates) && v.t.Next == c.State{}
}

// missed says whether a commit without generation finds a release of KAFKA-14201, which makes the group and then misses the member.
func (v *view) missed(txn bool) bool {
	defects := v.profile.Defects
	return defects.Has(c.DefectCommitEmptyNamed) && !v.is(noID|noInstance) || txn && defects.Has(c.DefectTxnEmptyNamed) && !v.is(noID)
}

// hollow says whether a commit was refused as a stranger's and has left a group with nothing in it.
func (v *view) hollow() bool {
	return v.code() == c.CodeUnknownMemberID && v.t.Next == c.State{Phase: c.Empty, FirstGen: true}
}

// nothingStored is asked about commits without generation for a group that does not exist.
func (v *view) nothingStored() bool {
	return v.is(badGroup) || v.code() != c.CodeOffsetMetadataTooLarge || (v.t.Next.Phase == c.Empty) == v.profile.NothingStoredCreates
}

// commitProperties are asked about every OffsetCommit.
var commitProperties = []property{
	{"OffsetCommit of a generation of an unknown group is refused", c.CommitUnknownGroup, isAbsent, func(v *view) bool {
		return v.is(noGen) || v.inert && (v.code() == c.CodeIllegalGeneration || v.code() == c.CodeGroupIDNotFound)
	}},
	{"OffsetCommit of a generation of an unknown group has the code of its version", c.CommitUnknownGroupCode, isAbsent, func(v *view) bool {
		if v.is(noGen) || v.code() == c.CodeNone {
			return true
		}
		late := v.e.CommitVersion >= 9 && v.profile.UnknownGroupCommit69
		return late == (v.code() == c.CodeGroupIDNotFound)
	}},
	{"OffsetCommit without generation creates a simple group", c.CommitSimpleGroup, isAbsent | noGen, func(v *view) bool {
		if v.missed(false) {
			return v.hollow()
		}
		stored := v.code() == c.CodeNone
		return v.code() == v.stored() && (v.undone() || v.t.Next == c.State{Phase: c.Empty, FirstGen: true, Offsets: stored})
	}},
	{"OffsetCommit of which nothing is stored makes a group where the profile says so", c.CommitNothingStored, isAbsent | noGen, (*view).nothingStored},
	{"OffsetCommit without generation in an Empty group is accepted from anyone", c.CommitEmptyGroup, isEmpty | noGen, func(v *view) bool {
		return v.code() == v.stored()
	}},
	{"OffsetCommit of nobody in a group with members is refused", c.CommitAnonymousRefused, busy | noGen | noID | noInstance, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"OffsetCommit of whoever is no member is refused", c.CommitUnknownMember, guarded | byNobody, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"OffsetCommit of another generation is refused", c.CommitIllegalGeneration, guarded | acts | wrongGen, func(v *view) bool {
		return v.refused(c.CodeIllegalGeneration)
	}},
	{"no OffsetCommit of an older generation succeeds", c.GenerationFence, otherGen, func(v *view) bool {
		return v.code() != c.CodeNone && v.code() != c.CodeOffsetMetadataTooLarge
	}},
	{"OffsetCommit in CompletingRebalance is told to rejoin", c.CommitCompleting, acts | currentGen | isCompleting, func(v *view) bool {
		return v.refused(c.CodeRebalanceInProgress)
	}},
	{"OffsetCommit of a member in Stable and PreparingRebalance is accepted", c.CommitMember, acts | currentGen, func(v *view) bool {
		return !v.is(isStable) && !v.is(isPreparing) || v.code() == v.stored() || v.e.TooLarge
	}},
	{"an accepted OffsetCommit renews the session", c.CommitRefreshesTimer, acts | currentGen, func(v *view) bool {
		passed := v.is(isStable) || v.is(isPreparing)
		return !passed || v.code() == c.CodeRebalanceInProgress || v.slot().New || v.armed(v.e.Ref.Slot)
	}},
	{"OffsetCommit that could not be written is answered with the error and stores nothing", c.CommitWriteFails, writeFails, func(v *view) bool {
		return v.code() != c.CodeNone && v.t.Offsets == c.KeepOffsets
	}},
	{"OffsetCommit with too large metadata stores nothing", c.CommitMetadataTooLarge, tooLarge, func(v *view) bool {
		return v.code() != c.CodeNone && v.t.Offsets == c.KeepOffsets
	}},
}

// heldAgainstMembers says whether a commit is held against members and generation.
func (v *view) heldAgainstMembers() bool {
	if v.s.Phase == c.Absent || v.e.Gen == c.NoGen && v.s.Phase == c.Empty {
		return false
	}
	return v.e.Gen != c.NoGen || v.e.Ref.Kind != c.NoID || v.e.Instance.Kind != c.NoInstance
}

// readProperties are asked about OffsetFetch, DescribeGroups and ListGroups.
var readProperties = []property{
	{"reading changes nothing", c.FetchCommitted, always, func(v *view) bool { return v.refused(c.CodeNone) }},
}

// deleteProperties are asked about every DeleteGroups.
var deleteProperties = []property{
	{"DeleteGroups of an Empty group removes it with its offsets", c.DeleteEmpty, isEmpty, func(v *view) bool {
		if v.code() == c.CodeWriteFailed {
			return v.t.Next == *v.s && v.e.Write == c.WriteFailed
		}
		return v.code() == c.CodeNone && v.t.Next == c.State{} && v.t.Offsets == c.ClearOffsets
	}},
	{"DeleteGroups of a group that is not Empty is refused", c.DeleteNonEmpty, busy, func(v *view) bool {
		return v.refused(c.CodeNonEmptyGroup)
	}},
	{"DeleteGroups of an unknown group is refused", c.DeleteUnknown, isAbsent, func(v *view) bool {
		return v.refused(c.CodeGroupIDNotFound)
	}},
}

// memberTimerProperties are asked when a slot's timer fires.
var memberTimerProperties = []property{
	{"a pending id is forgotten when its time is over", c.JoinPendingExpires, always, func(v *view) bool {
		return v.timed().Kind != c.Pending || v.t.Next.Slots[v.e.Slot].Kind == c.Free
	}},
	{"a new member that waits is removed when its time is over", c.JoinNewMemberTimeout, always, func(v *view) bool {
		return !v.timed().New || v.t.Next.Slots[v.e.Slot].Kind == c.Free
	}},
	{"a member that waits is not removed by its session", c.SessionParkedIgnored, always, func(v *view) bool {
		m := v.timed()
		if m.New || !m.Joining && !m.Syncing {
			return true
		}
		want := *v.s
		want.Slots[v.e.Slot].Timed = false
		return v.t.Next == want && len(v.t.Replies) == 0
	}},
	{"a silent member is removed and the group rebalances", c.SessionExpires, always, func(v *view) bool {
		m := v.timed()
		if m.Kind != c.Member || m.Joining || m.Syncing {
			return true
		}
		return v.t.Next.Slots[v.e.Slot].Kind == c.Free && (!open(v.s.Phase) || v.rebalances())
	}},
}

// timed is the slot whose timer fires.
func (v *view) timed() *c.Slot { return &v.s.Slots[v.e.Slot] }

// joinTimerProperties are asked when the join timer fires.
var joinTimerProperties = []property{
	{"the join timer completes the join with those who have joined", c.JoinCompleteTimeout, always, func(v *view) bool {
		joined, kept := 0, 0
		for i := range v.of(v.s) {
			if v.s.Slots[i].Joining {
				joined++
			} else if v.s.Slots[i].Static {
				kept++
			}
		}
		if joined == 0 && kept > 0 || v.s.Initial && v.s.Extends && v.e.Rest {
			return true
		}
		return v.completed && v.members(&v.t.Next) == joined+kept
	}},
}

// syncTimerProperties are asked when the sync timer fires.
var syncTimerProperties = []property{
	{"members that owe their SyncGroup are removed in time, and the group rebalances", c.SyncTimerExpels, always, func(v *view) bool {
		for i := range v.of(v.s) {
			if v.s.Slots[i].OwesSync && v.t.Next.Slots[i].Kind != c.Free {
				return false
			}
		}
		return v.rebalances()
	}},
}

// writeProperties are asked when the write of the leader's assignment ends.
var writeProperties = []property{
	{"a written assignment makes the group Stable", c.SyncLeaderAssigns, always, func(v *view) bool {
		return v.e.Write != c.WriteOK || v.t.Next.Phase == c.Stable
	}},
	{"an assignment that could not be written is given to nobody, and the group rebalances", c.SyncWriteFails, always, func(v *view) bool {
		return v.e.Write == c.WriteOK || v.failedWrite()
	}},
}
