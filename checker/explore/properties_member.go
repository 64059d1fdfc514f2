package explore

import c "github.com/muster-kafka/muster/model/classic"

// syncProperties are asked about every SyncGroup. Each looks only at requests that the ones before let pass.
var syncProperties = []property{
	{"SyncGroup without protocol is refused", c.SyncMissingProtocol, noProtocol, func(v *view) bool {
		return v.refused(c.CodeInconsistentGroupProtocol)
	}},
	{"SyncGroup without group id is refused", c.SyncGroupID, badGroup, func(v *view) bool {
		return v.refused(c.CodeInvalidGroupID)
	}},
	{"SyncGroup for an unknown or Empty group is refused", c.SyncUnknownGroup, wellFormed | vacant, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"SyncGroup of whoever is no member is refused", c.SyncUnknownMember, wellFormed | byNobody, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"SyncGroup of another generation is refused", c.SyncIllegalGeneration, wellFormed | acts | wrongGen, func(v *view) bool {
		return v.refused(c.CodeIllegalGeneration)
	}},
	{"no SyncGroup of an older generation succeeds", c.GenerationFence, otherGen, func(v *view) bool {
		return v.code() != c.CodeNone && v.code() != waiting
	}},
	{"SyncGroup for another protocol is refused", c.SyncInconsistentProtocol, inOrder, func(v *view) bool {
		return v.is(agrees) || v.refused(c.CodeInconsistentGroupProtocol)
	}},
	{"SyncGroup that names a protocol before there is one is answered as the profile says", c.SyncProtocolEarly, inOrder | isPreparing, func(v *view) bool {
		early := v.s.Protocol == 0 && v.e.Protocol != 0 && (v.e.Type == 0 || v.e.Type == v.s.Type)
		return !early || v.profile.EarlySyncRefused == (v.code() == c.CodeInconsistentGroupProtocol)
	}},
	{"SyncGroup in PreparingRebalance is told to rejoin", c.SyncPreparing, syncs | isPreparing, func(v *view) bool {
		return v.refused(c.CodeRebalanceInProgress)
	}},
	{"a follower's SyncGroup waits for the leader's", c.SyncFollowerParks, syncs | isCompleting, func(v *view) bool {
		return v.slot().Leader || v.reply == nil && v.after().Syncing && !v.after().OwesSync
	}},
	{"of two SyncGroups of a member the later one waits", c.SyncParkedSuperseded, syncs | isCompleting, func(v *view) bool {
		return !v.superseded(c.Caller, 0)
	}},
	{"SyncGroup in Stable is answered at once", c.SyncStableRepeats, syncs | isStable, func(v *view) bool {
		return v.code() == c.CodeNone && !v.after().OwesSync && v.t.Next.Phase == c.Stable
	}},
	{"an assignment that could not be written is given to nobody, and the group rebalances", c.SyncWriteFails, syncs | isCompleting | writeFails, func(v *view) bool {
		return !v.slot().Leader || v.failedWrite()
	}},
	{"SyncGroup in Stable renews the session only as the profile says", c.SyncStableKeepsTimer, syncs | isStable, func(v *view) bool {
		return v.armed(v.e.Ref.Slot) == v.profile.SyncRenewsTimer
	}},
}

// failedWrite says whether the step is what must come of an assignment that could not be written.
func (v *view) failedWrite() bool { return v.rebalances() && v.syncSuccesses() == 0 }

// consistent says whether the SyncGroup's protocol is the group's, as far as it names one.
func (v *view) consistent() bool {
	early := v.s.Protocol == 0 && !v.profile.EarlySyncRefused
	return (v.e.Type == 0 || v.e.Type == v.s.Type) && (v.e.Protocol == 0 || v.e.Protocol == v.s.Protocol || early)
}

// heartbeatProperties are asked about every Heartbeat.
var heartbeatProperties = []property{
	{"Heartbeat without group id is refused", c.HeartbeatGroupID, badGroup, func(v *view) bool {
		return v.refused(c.CodeInvalidGroupID)
	}},
	{"Heartbeat for an unknown group is refused", c.HeartbeatUnknownGroup, wellFormed | isAbsent, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"Heartbeat of whoever is no member is refused", c.HeartbeatUnknownMember, wellFormed | exists | byNobody, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"Heartbeat of another generation is refused and renews nothing", c.HeartbeatIllegalGeneration, wellFormed | acts | wrongGen, func(v *view) bool {
		return v.refused(c.CodeIllegalGeneration)
	}},
	{"no Heartbeat of an older generation succeeds", c.GenerationFence, otherGen, func(v *view) bool {
		return v.code() != c.CodeNone && v.code() != c.CodeRebalanceInProgress
	}},
	{"Heartbeat in PreparingRebalance tells to rejoin and renews the session", c.HeartbeatPreparing, inOrder | isPreparing, func(v *view) bool {
		return v.code() == c.CodeRebalanceInProgress && (v.slot().New || v.armed(v.e.Ref.Slot))
	}},
	{"Heartbeat of a new member that waits shortens its time only as the profile says", c.HeartbeatNewMember, inOrder | isPreparing, func(v *view) bool {
		return !v.slot().New || v.armed(v.e.Ref.Slot) == v.profile.HeartbeatShortensNew
	}},
	{"Heartbeat in CompletingRebalance succeeds and renews the session", c.HeartbeatCompleting, inOrder | isCompleting, func(v *view) bool {
		return v.code() == c.CodeNone && v.armed(v.e.Ref.Slot)
	}},
	{"Heartbeat in Stable succeeds and renews the session", c.HeartbeatStable, inOrder | isStable, func(v *view) bool {
		return v.code() == c.CodeNone && v.armed(v.e.Ref.Slot)
	}},
}

// leaveProperties are asked about every LeaveGroup.
var leaveProperties = []property{
	{"LeaveGroup without group id is refused", c.LeaveGroupID, badGroup, func(v *view) bool {
		return v.refused(c.CodeInvalidGroupID)
	}},
	{"LeaveGroup for an unknown group is refused entry by entry", c.LeaveUnknownGroup, wellFormed | isAbsent, func(v *view) bool {
		return v.inert && v.eachEntry(func(n *entry) bool { return n.code == c.CodeUnknownMemberID })
	}},
	{"LeaveGroup of an unknown id is refused", c.LeaveUnknownMember, exists | leavesNobody, func(v *view) bool {
		return v.eachEntry(func(n *entry) bool {
			return n.slot != nil || n.repeated || n.wrong != c.CodeNone || n.code == c.CodeUnknownMemberID
		})
	}},
	{"a repeated entry of LeaveGroup is refused", c.LeaveBatch, leavesAgain, func(v *view) bool {
		return v.eachEntry(func(n *entry) bool { return !n.repeated || n.code == c.CodeUnknownMemberID })
	}},
	{"LeaveGroup removes the member and starts a rebalance, or lets it go on", c.LeaveMember, leavesMember, func(v *view) bool {
		return v.eachEntry(func(n *entry) bool {
			if n.slot == nil || n.slot.Kind != c.Member || n.wrong != c.CodeNone {
				return true
			}
			if n.code != c.CodeNone || v.t.Next.Slots[n.at].Kind != c.Free {
				return false
			}
			return !open(v.s.Phase) || v.rebalances()
		})
	}},
	{"LeaveGroup forgets a pending id", c.LeavePending, leavesPending, func(v *view) bool {
		return v.eachEntry(func(n *entry) bool {
			return n.slot == nil || n.slot.Kind != c.Pending || n.code == c.CodeNone && v.t.Next.Slots[n.at].Kind == c.Free
		})
	}},
	{"LeaveGroup of a pending id rebalances only as the profile says", c.LeavePendingRebalances, wellFormed | isOpen | leavesPending, func(v *view) bool {
		pending, member := false, false
		v.eachEntry(func(n *entry) bool {
			pending = pending || n.slot != nil && n.slot.Kind == c.Pending && v.t.Next.Slots[n.at].Kind == c.Free
			member = member || n.slot != nil && n.slot.Kind == c.Member && n.wrong == c.CodeNone
			return true
		})
		return member || !pending || v.rebalances() == v.profile.PendingLeaveRebalances
	}},
	{"the group reacts to each entry of a LeaveGroup only as the profile says", c.LeaveOneByOne, always, func(v *view) bool {
		also, joinTimer := uint16(0), false
		for _, t := range v.t.Timers {
			also |= t.Also
			joinTimer = joinTimer || t.Timer == c.GroupJoinTimer && t.For == c.MaxRebalance
		}
		if !v.profile.LeavesOneByOne {
			return also == 0 && v.t.Midway == nil && v.t.Generation != c.SecondGeneration
		}
		if !open(v.s.Phase) || !joinTimer || len(v.e.Leaves) != 2 {
			return true
		}
		first, second := v.entrySlot(0), v.entrySlot(1)
		gone := func(slot int8) bool {
			return slot >= 0 && v.s.Slots[slot].Kind == c.Member && v.t.Next.Slots[slot].Kind == c.Free
		}
		return !gone(first) || !gone(second) || first == second || also == 1<<second
	}},
	{"a LeaveGroup whose Empty record could not be written is answered as the profile says", c.LeaveWriteFails, always, func(v *view) bool {
		failed := v.e.Write == c.WriteFailed && len(v.t.Records) > 0 && !v.pendingAfter()
		return v.reply == nil || (v.code() == c.CodeWriteFailed) == (failed && v.profile.WritesReported)
	}},
	{"LeaveGroup up to v2 has its error at top level, later versions one for each entry", c.LeaveSingleVersion, always, func(v *view) bool {
		if v.e.BadGroup || v.reply == nil || v.code() == c.CodeWriteFailed {
			return v.reply != nil
		}
		if v.e.OldLeave {
			return len(v.reply.Entries) == 0 && (v.isUnknownLeave() == (v.code() == c.CodeUnknownMemberID))
		}
		return v.code() == c.CodeNone && len(v.reply.Entries) == len(v.e.Leaves)
	}},
}

// isUnknownLeave says whether the one entry of an old LeaveGroup is no id of the group's.
func (v *view) isUnknownLeave() bool {
	ref := v.e.Leaves[0]
	return ref.Kind != c.KnownID || v.s.Slots[ref.Slot].Kind == c.Free
}
