package explore

import c "github.com/muster-kafka/muster/model/classic"

// joinProperties are asked about every JoinGroup.
var joinProperties = []property{
	{"JoinGroup without group id is refused", c.JoinGroupID, badGroup, func(v *view) bool {
		return v.refused(c.CodeInvalidGroupID)
	}},
	{"JoinGroup with a session timeout out of bounds is refused", c.JoinSessionBounds, badSession, func(v *view) bool {
		return v.refused(c.CodeInvalidSessionTimeout)
	}},
	{"JoinGroup of a member of an unknown group is refused and creates nothing", c.JoinUnknownGroup, wellFormed | isAbsent | hasID, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID)
	}},
	{"JoinGroup without member id creates the group", c.JoinCreatesGroup, wellFormed | isAbsent | noID, func(v *view) bool {
		written := v.e.Write == c.WriteOK || !v.profile.CreationRecord
		return (v.t.Next.Phase != c.Absent) == written
	}},
	{"JoinGroup is refused where its protocols do not go with the members'", c.JoinInconsistentProtocol, admitted, func(v *view) bool {
		if v.is(unknownID) {
			return true
		}
		if v.compatible() {
			return v.code() != c.CodeInconsistentGroupProtocol
		}
		return v.code() == c.CodeInconsistentGroupProtocol && inUse(&v.t.Next) == inUse(v.s) && (v.s.Phase == c.Absent || v.inert)
	}},
	{"JoinGroup of an unknown member is refused for its protocols first", c.JoinProtocolBeforeMember, admitted | exists | unknownID, func(v *view) bool {
		return v.compatible() || v.refused(c.CodeInconsistentGroupProtocol)
	}},
	{"JoinGroup of an unknown member is refused, echoing its id", c.JoinUnknownMember, joins | exists | unknownID | byNobody, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID) && v.reply.Echo == c.EchoRequest
	}},
	{"JoinGroup v4 without member id only yields an id", c.JoinNewMemberIDRequired, joins | noID | noInstance, func(v *view) bool {
		if !v.e.NeedsID {
			return true
		}
		if v.code() != c.CodeMemberIDRequired || v.reply.Echo != c.EchoSlot || v.reply.Member != v.t.Minted {
			return false
		}
		if v.t.Next.Phase == c.Absent { // its creation could not be written
			return true
		}
		rest := v.t.Next
		rest.Slots[v.t.Minted] = c.Slot{}
		if v.s.Phase == c.Absent {
			return rest == c.State{Phase: c.Empty, FirstGen: true}
		}
		return rest == *v.s && v.t.Next.Slots[v.t.Minted] == c.Slot{Kind: c.Pending, Timed: true}
	}},
	{"JoinGroup up to v3 without member id adds the member", c.JoinNewOldVersion, joins | noID | noInstance, func(v *view) bool {
		if v.e.NeedsID || v.t.Next.Phase == c.Absent {
			return true
		}
		return v.t.Minted >= 0 && v.t.Next.Slots[v.t.Minted].Kind == c.Member
	}},
	{"JoinGroup with a pending id adds the member", c.JoinPendingJoins, joins | byPending | noInstance, func(v *view) bool {
		return v.after().Kind == c.Member
	}},
	{"a new member starts a rebalance", c.JoinStartsRebalance, adds | isOpen, func(v *view) bool {
		return v.t.Next.Phase == c.PreparingRebalance && v.reply == nil
	}},
	{"the first member of an Empty group makes a generation", c.JoinEmptyRebalances, adds | vacant, func(v *view) bool {
		return v.completed && v.code() == c.CodeNone || v.group.Delay && v.t.Next.Phase == c.PreparingRebalance && v.reply == nil
	}},
	{"a new member has five minutes to see its join complete", c.JoinNewMemberTimeout, adds, func(v *view) bool {
		if v.completed {
			return true
		}
		d, ok := v.effect(c.SessionTimer, v.added())
		return ok && d == c.NewMemberTimeout
	}},
	{"JoinGroup in PreparingRebalance waits for the join to complete", c.JoinPreparingParks, joins | isPreparing, func(v *view) bool {
		if !v.is(acts) && (!v.is(byPending) || v.e.Instance.Kind != c.NoInstance) {
			return true
		}
		if v.completed {
			return v.code() == c.CodeNone
		}
		return v.reply == nil && v.after().Joining && v.after().List == v.e.List
	}},
	{"a leader's JoinGroup in Stable starts a rebalance", c.JoinStableLeaderRepeats, joins | acts | isStable, func(v *view) bool {
		return !v.slot().Leader || v.rebalances()
	}},
	{"a changed JoinGroup in Stable starts a rebalance", c.JoinStableChanged, joins | acts | isStable, func(v *view) bool {
		return v.slot().List == v.e.List || v.rebalances() && v.after().List == v.e.List
	}},
	{"a follower's repeated JoinGroup in Stable is answered at once and changes nothing", c.JoinStableFollowerRepeats, joins | acts | isStable, func(v *view) bool {
		return v.slot().Leader || v.slot().List != v.e.List || v.refused(c.CodeNone)
	}},
	{"a repeated JoinGroup in CompletingRebalance is answered at once and changes nothing", c.JoinCompletingSame, joins | acts | isCompleting, func(v *view) bool {
		return v.slot().List != v.e.List || v.refused(c.CodeNone)
	}},
	{"a changed JoinGroup in CompletingRebalance starts a rebalance", c.JoinCompletingChanged, joins | acts | isCompleting, func(v *view) bool {
		return v.slot().List == v.e.List || v.rebalances() && v.after().List == v.e.List
	}},
	{"JoinGroup of a member does not renew its session", c.JoinRepeatKeepsTimer, joins | acts, func(v *view) bool {
		if v.completed {
			return true
		}
		_, aborted := v.answerTo(c.ParkedSync, v.e.Ref.Slot)
		return aborted > 0 || !v.armed(v.e.Ref.Slot)
	}},
	{"of two JoinGroups of a member the later one waits", c.JoinParkedSuperseded, joins | acts, func(v *view) bool {
		return !v.slot().Joining || v.completed || v.callerWaits() && !v.superseded(c.Caller, 0)
	}},
}

// added is the slot of the member that a JoinGroup added, or -1.
func (v *view) added() int8 {
	slot := int8(-1)
	switch {
	case !v.is(joins):
	case v.is(byPending):
		slot = v.e.Ref.Slot
	case v.is(noID) && !v.is(knownInstance) && (!v.e.NeedsID || v.is(unknownInstance)):
		slot = v.t.Minted
	}
	if slot < 0 || v.t.Next.Slots[slot].Kind != c.Member {
		return -1
	}
	return slot
}
