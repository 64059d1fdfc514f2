package explore

import c "github.com/muster-kafka/muster/model/classic"

// syncProperties are asked about every SyncGroup. Each looks only at requests that the ones before let pass.
var syncProperties = []property{
	{"SyncGroup without protocol is refused", c.SyncMissingProtocol, func(v *view) bool {
		return !v.e.NoProtocol || v.refused(c.CodeInconsistentGroupProtocol)
	}},
	{"SyncGroup without group id is refused", c.SyncGroupID, func(v *view) bool {
		return !v.e.BadGroup || v.refused(c.CodeInvalidGroupID)
	}},
	{"SyncGroup for an unknown or Empty group is refused", c.SyncUnknownGroup, func(v *view) bool {
		return v.malformedSync() || v.s.Phase != c.Absent && v.s.Phase != c.Empty || v.refused(c.CodeUnknownMemberID)
	}},
	{"SyncGroup of whoever is no member is refused", c.SyncUnknownMember, func(v *view) bool {
		return v.malformedSync() || !v.stranger() || v.refused(c.CodeUnknownMemberID)
	}},
	{"SyncGroup of another generation is refused", c.SyncIllegalGeneration, func(v *view) bool {
		return v.malformedSync() || !v.acts() || v.e.Gen == c.CurrentGen || v.refused(c.CodeIllegalGeneration)
	}},
	{"no SyncGroup of an older generation succeeds", c.GenerationFence, func(v *view) bool {
		return v.e.Gen != c.OtherGen || v.code() != c.CodeNone && v.code() != waiting
	}},
	{"SyncGroup for another protocol is refused", c.SyncInconsistentProtocol, func(v *view) bool {
		return v.malformedSync() || !v.acts() || v.e.Gen != c.CurrentGen || v.consistent() ||
			v.refused(c.CodeInconsistentGroupProtocol)
	}},
	{"SyncGroup that names a protocol before there is one is answered as the profile says", c.SyncProtocolEarly, func(v *view) bool {
		early := v.s.Phase == c.PreparingRebalance && v.s.Protocol == 0 && v.e.Protocol != 0 && (v.e.Type == 0 || v.e.Type == v.s.Type)
		if !early || v.malformedSync() || !v.acts() || v.e.Gen != c.CurrentGen {
			return true
		}
		return v.profile.EarlySyncRefused == (v.code() == c.CodeInconsistentGroupProtocol)
	}},
	{"SyncGroup in PreparingRebalance is told to rejoin", c.SyncPreparing, func(v *view) bool {
		return !v.syncs(c.PreparingRebalance) || v.refused(c.CodeRebalanceInProgress)
	}},
	{"a follower's SyncGroup waits for the leader's", c.SyncFollowerParks, func(v *view) bool {
		return !v.syncs(c.CompletingRebalance) || v.slot().Leader || v.reply == nil && v.after().Syncing && !v.after().OwesSync
	}},
	{"of two SyncGroups of a member the later one waits", c.SyncParkedSuperseded, func(v *view) bool {
		return !v.syncs(c.CompletingRebalance) || !v.superseded(c.Caller, 0)
	}},
	{"SyncGroup in Stable is answered at once", c.SyncStableRepeats, func(v *view) bool {
		return !v.syncs(c.Stable) || v.code() == c.CodeNone && !v.after().OwesSync && v.t.Next.Phase == c.Stable
	}},
	{"an assignment that could not be written is given to nobody, and the group rebalances", c.SyncWriteFails, func(v *view) bool {
		written := v.e.Write == c.WriteOK || !v.syncs(c.CompletingRebalance) || !v.slot().Leader
		return written || v.failedWrite()
	}},
	{"SyncGroup in Stable renews the session only as the profile says", c.SyncStableKeepsTimer, func(v *view) bool {
		return !v.syncs(c.Stable) || v.armed(v.e.Ref.Slot) == v.profile.SyncRenewsTimer
	}},
}

// failedWrite says whether the step is what must come of an assignment that could not be written.
func (v *view) failedWrite() bool { return v.rebalances() && v.syncSuccesses() == 0 }

func (v *view) malformedSync() bool { return v.e.NoProtocol || v.e.BadGroup }

// consistent says whether the SyncGroup's protocol is the group's, as far as it names one.
func (v *view) consistent() bool {
	early := v.s.Protocol == 0 && !v.profile.EarlySyncRefused
	return (v.e.Type == 0 || v.e.Type == v.s.Type) && (v.e.Protocol == 0 || v.e.Protocol == v.s.Protocol || early)
}

// syncs says whether nothing is wrong with a member's SyncGroup, in the given phase.
func (v *view) syncs(p c.Phase) bool {
	return v.s.Phase == p && !v.malformedSync() && v.acts() && v.e.Gen == c.CurrentGen && v.consistent()
}

// heartbeatProperties are asked about every Heartbeat.
var heartbeatProperties = []property{
	{"Heartbeat without group id is refused", c.HeartbeatGroupID, func(v *view) bool {
		return !v.e.BadGroup || v.refused(c.CodeInvalidGroupID)
	}},
	{"Heartbeat for an unknown group is refused", c.HeartbeatUnknownGroup, func(v *view) bool {
		return v.e.BadGroup || v.s.Phase != c.Absent || v.refused(c.CodeUnknownMemberID)
	}},
	{"Heartbeat of whoever is no member is refused", c.HeartbeatUnknownMember, func(v *view) bool {
		return v.e.BadGroup || v.s.Phase == c.Absent || !v.stranger() || v.refused(c.CodeUnknownMemberID)
	}},
	{"Heartbeat of another generation is refused and renews nothing", c.HeartbeatIllegalGeneration, func(v *view) bool {
		return v.e.BadGroup || !v.acts() || v.e.Gen == c.CurrentGen || v.refused(c.CodeIllegalGeneration)
	}},
	{"no Heartbeat of an older generation succeeds", c.GenerationFence, func(v *view) bool {
		return v.e.Gen != c.OtherGen || v.code() != c.CodeNone && v.code() != c.CodeRebalanceInProgress
	}},
	{"Heartbeat in PreparingRebalance tells to rejoin and renews the session", c.HeartbeatPreparing, func(v *view) bool {
		return !v.beats(c.PreparingRebalance) || v.code() == c.CodeRebalanceInProgress && (v.slot().New || v.armed(v.e.Ref.Slot))
	}},
	{"Heartbeat of a new member that waits shortens its time only as the profile says", c.HeartbeatNewMember, func(v *view) bool {
		return !v.beats(c.PreparingRebalance) || !v.slot().New || v.armed(v.e.Ref.Slot) == v.profile.HeartbeatShortensNew
	}},
	{"Heartbeat in CompletingRebalance succeeds and renews the session", c.HeartbeatCompleting, func(v *view) bool {
		return !v.beats(c.CompletingRebalance) || v.code() == c.CodeNone && v.armed(v.e.Ref.Slot)
	}},
	{"Heartbeat in Stable succeeds and renews the session", c.HeartbeatStable, func(v *view) bool {
		return !v.beats(c.Stable) || v.code() == c.CodeNone && v.armed(v.e.Ref.Slot)
	}},
}

// beats says whether nothing is wrong with a member's Heartbeat, in the given phase.
func (v *view) beats(p c.Phase) bool {
	return v.s.Phase == p && !v.e.BadGroup && v.acts() && v.e.Gen == c.CurrentGen
}

// leaveProperties are asked about every LeaveGroup.
var leaveProperties = []property{
	{"LeaveGroup without group id is refused", c.LeaveGroupID, func(v *view) bool {
		return !v.e.BadGroup || v.refused(c.CodeInvalidGroupID)
	}},
	{"LeaveGroup for an unknown group is refused entry by entry", c.LeaveUnknownGroup, func(v *view) bool {
		if v.e.BadGroup || v.s.Phase != c.Absent {
			return true
		}
		return v.inert() && v.eachEntry(func(_ int, _ *c.Slot, code int16) bool { return code == c.CodeUnknownMemberID })
	}},
	{"LeaveGroup of an unknown id is refused", c.LeaveUnknownMember, func(v *view) bool {
		return v.eachEntry(func(i int, slot *c.Slot, code int16) bool {
			return v.s.Phase == c.Absent || slot != nil || v.repeated(i) || v.entryError(i) != c.CodeNone || code == c.CodeUnknownMemberID
		})
	}},
	{"a repeated entry of LeaveGroup is refused", c.LeaveBatch, func(v *view) bool {
		return v.eachEntry(func(i int, _ *c.Slot, code int16) bool { return !v.repeated(i) || code == c.CodeUnknownMemberID })
	}},
	{"LeaveGroup removes the member and starts a rebalance, or lets it go on", c.LeaveMember, func(v *view) bool {
		return v.eachEntry(func(i int, slot *c.Slot, code int16) bool {
			if slot == nil || slot.Kind != c.Member || v.entryError(i) != c.CodeNone {
				return true
			}
			if code != c.CodeNone || v.t.Next.Slots[v.entrySlot(i)].Kind != c.Free {
				return false
			}
			return !open(v.s.Phase) || v.rebalances()
		})
	}},
	{"LeaveGroup forgets a pending id", c.LeavePending, func(v *view) bool {
		return v.eachEntry(func(i int, slot *c.Slot, code int16) bool {
			return slot == nil || slot.Kind != c.Pending || code == c.CodeNone && v.t.Next.Slots[v.e.Leaves[i].Slot].Kind == c.Free
		})
	}},
	{"LeaveGroup of a pending id rebalances only as the profile says", c.LeavePendingRebalances, func(v *view) bool {
		if !open(v.s.Phase) || v.e.BadGroup {
			return true
		}
		pending, member := false, false
		v.eachEntry(func(i int, slot *c.Slot, _ int16) bool {
			pending = pending || slot != nil && slot.Kind == c.Pending && v.t.Next.Slots[v.e.Leaves[i].Slot].Kind == c.Free
			member = member || slot != nil && slot.Kind == c.Member && v.entryError(i) == c.CodeNone
			return true
		})
		return member || !pending || v.rebalances() == v.profile.PendingLeaveRebalances
	}},
	{"the group reacts to each entry of a LeaveGroup only as the profile says", c.LeaveOneByOne, func(v *view) bool {
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
	{"a LeaveGroup whose Empty record could not be written is answered as the profile says", c.LeaveWriteFails, func(v *view) bool {
		failed := v.e.Write == c.WriteFailed && len(v.t.Records) > 0 && !v.pendingAfter()
		return v.reply == nil || (v.code() == c.CodeWriteFailed) == (failed && v.profile.WritesReported)
	}},
	{"LeaveGroup up to v2 has its error at top level, later versions one for each entry", c.LeaveSingleVersion, func(v *view) bool {
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

// repeated says whether an entry of a batch names the id of an earlier one.
func (v *view) repeated(i int) bool {
	for at := range v.e.Leaves[:i] {
		if slot := v.entrySlot(at); slot >= 0 && slot == v.entrySlot(i) && v.entryError(at) == c.CodeNone {
			return true
		}
	}
	return false
}

// eachEntry says whether ok holds for each entry of a LeaveGroup that was answered entry by entry: the slot that it named before (nil
// if none, or if an earlier entry has named it) and its error. Versions up to 2 have one entry, and its error is the answer's.
func (v *view) eachEntry(ok func(i int, slot *c.Slot, code int16) bool) bool {
	if v.e.BadGroup || v.reply == nil {
		return true
	}
	for i := range v.e.Leaves {
		code := v.reply.Error
		switch {
		case len(v.reply.Entries) > i:
			code = v.reply.Entries[i]
		case code == c.CodeWriteFailed: // which tells nothing of the entries
			continue
		}
		var slot *c.Slot
		if at := v.entrySlot(i); at >= 0 && v.s.Slots[at].Kind != c.Free && !v.repeated(i) {
			slot = &v.s.Slots[at]
		}
		if !ok(i, slot, code) {
			return false
		}
	}
	return true
}

// entrySlot is the slot that an entry of LeaveGroup speaks of, or -1: that of its member id or, without one, of its instance.
func (v *view) entrySlot(i int) int8 {
	switch ref, instance := v.e.Leaves[i], v.entryInstance(i); {
	case ref.Kind == c.KnownID:
		return ref.Slot
	case ref.Kind == c.NoID && instance.Kind == c.KnownInstance:
		return instance.Slot
	}
	return -1
}

// entryError is what an entry is refused with for its instance id. That of a pending id is not looked at.
func (v *view) entryError(i int) int16 {
	ref, instance := v.e.Leaves[i], v.entryInstance(i)
	if ref.Kind == c.NoID || ref.Kind == c.KnownID && v.s.Slots[ref.Slot].Kind == c.Pending {
		return c.CodeNone
	}
	entry := view{e: &c.Event{Kind: c.LeaveGroup, Ref: ref, Instance: instance}, profile: v.profile}
	return entry.instanceError()
}
