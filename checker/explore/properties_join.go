package explore

import c "github.com/muster-kafka/muster/model/classic"

// plain says whether a JoinGroup passes the checks that do not look at the group.
func (v *view) plain() bool { return !v.e.BadGroup && !v.e.BadSession }

// joins says whether a JoinGroup of a plain and compatible client meets a group that exists or that it creates.
func (v *view) joins() bool {
	return v.plain() && !v.full() && v.compatible() && (v.s.Phase != c.Absent || v.e.Ref.Kind == c.NoID)
}

// joinProperties are asked about every JoinGroup.
var joinProperties = []property{
	{"JoinGroup without group id is refused", c.JoinGroupID, func(v *view) bool {
		return !v.e.BadGroup || v.refused(c.CodeInvalidGroupID)
	}},
	{"JoinGroup with a session timeout out of bounds is refused", c.JoinSessionBounds, func(v *view) bool {
		return !v.e.BadSession || v.e.BadGroup || v.refused(c.CodeInvalidSessionTimeout)
	}},
	{"JoinGroup of a member of an unknown group is refused and creates nothing", c.JoinUnknownGroup, func(v *view) bool {
		return !v.plain() || v.s.Phase != c.Absent || v.e.Ref.Kind == c.NoID || v.refused(c.CodeUnknownMemberID)
	}},
	{"JoinGroup without member id creates the group", c.JoinCreatesGroup, func(v *view) bool {
		written := v.e.Write == c.WriteOK || !v.profile.CreationRecord
		return !v.plain() || v.s.Phase != c.Absent || v.e.Ref.Kind != c.NoID || (v.t.Next.Phase != c.Absent) == written
	}},
	{"JoinGroup is refused where its protocols do not go with the members'", c.JoinInconsistentProtocol, func(v *view) bool {
		if !v.plain() || v.full() || v.s.Phase == c.Absent && v.e.Ref.Kind != c.NoID || v.e.Ref.Kind == c.UnknownID {
			return true
		}
		if v.compatible() {
			return v.code() != c.CodeInconsistentGroupProtocol
		}
		return v.code() == c.CodeInconsistentGroupProtocol && inUse(&v.t.Next) == inUse(v.s) && (v.s.Phase == c.Absent || v.inert())
	}},
	{"JoinGroup of an unknown member is refused for its protocols first", c.JoinProtocolBeforeMember, func(v *view) bool {
		return !v.plain() || v.full() || v.s.Phase == c.Absent || v.e.Ref.Kind != c.UnknownID || v.compatible() ||
			v.refused(c.CodeInconsistentGroupProtocol)
	}},
	{"JoinGroup of an unknown member is refused, echoing its id", c.JoinUnknownMember, func(v *view) bool {
		return !v.joins() || v.s.Phase == c.Absent || v.e.Ref.Kind != c.UnknownID || v.instanceError() != c.CodeNone ||
			v.refused(c.CodeUnknownMemberID) && v.reply.Echo == c.EchoRequest
	}},
	{"JoinGroup v4 without member id only yields an id", c.JoinNewMemberIDRequired, func(v *view) bool {
		if !v.joins() || v.e.Ref.Kind != c.NoID || !v.e.NeedsID || v.e.Instance.Kind != c.NoInstance {
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
	{"JoinGroup up to v3 without member id adds the member", c.JoinNewOldVersion, func(v *view) bool {
		if !v.joins() || v.e.Ref.Kind != c.NoID || v.e.NeedsID || v.t.Next.Phase == c.Absent || v.e.Instance.Kind != c.NoInstance {
			return true
		}
		return v.t.Minted >= 0 && v.t.Next.Slots[v.t.Minted].Kind == c.Member
	}},
	{"JoinGroup with a pending id adds the member", c.JoinPendingJoins, func(v *view) bool {
		return !v.joins() || !v.isPending() || v.e.Instance.Kind != c.NoInstance || v.after().Kind == c.Member
	}},
	{"a new member starts a rebalance", c.JoinStartsRebalance, func(v *view) bool {
		return v.added() < 0 || !open(v.s.Phase) || v.t.Next.Phase == c.PreparingRebalance && v.reply == nil
	}},
	{"the first member of an Empty group makes a generation", c.JoinEmptyRebalances, func(v *view) bool {
		if v.added() < 0 || v.s.Phase != c.Empty && v.s.Phase != c.Absent {
			return true
		}
		return v.completed && v.code() == c.CodeNone || v.group.Delay && v.t.Next.Phase == c.PreparingRebalance && v.reply == nil
	}},
	{"a new member has five minutes to see its join complete", c.JoinNewMemberTimeout, func(v *view) bool {
		slot := v.added()
		if slot < 0 || v.completed {
			return true
		}
		d, ok := v.effect(c.SessionTimer, slot)
		return ok && d == c.NewMemberTimeout
	}},
	{"JoinGroup in PreparingRebalance waits for the join to complete", c.JoinPreparingParks, func(v *view) bool {
		if !v.joins() || v.s.Phase != c.PreparingRebalance || !v.acts() && (!v.isPending() || v.e.Instance.Kind != c.NoInstance) {
			return true
		}
		if v.completed {
			return v.code() == c.CodeNone
		}
		return v.reply == nil && v.after().Joining && v.after().List == v.e.List
	}},
	{"a leader's JoinGroup in Stable starts a rebalance", c.JoinStableLeaderRepeats, func(v *view) bool {
		return !v.rejoins(c.Stable) || !v.slot().Leader || v.rebalances()
	}},
	{"a changed JoinGroup in Stable starts a rebalance", c.JoinStableChanged, func(v *view) bool {
		return !v.rejoins(c.Stable) || v.slot().List == v.e.List || v.rebalances() && v.after().List == v.e.List
	}},
	{"a follower's repeated JoinGroup in Stable is answered at once and changes nothing", c.JoinStableFollowerRepeats, func(v *view) bool {
		return !v.rejoins(c.Stable) || v.slot().Leader || v.slot().List != v.e.List || v.refused(c.CodeNone)
	}},
	{"a repeated JoinGroup in CompletingRebalance is answered at once and changes nothing", c.JoinCompletingSame, func(v *view) bool {
		return !v.rejoins(c.CompletingRebalance) || v.slot().List != v.e.List || v.refused(c.CodeNone)
	}},
	{"a changed JoinGroup in CompletingRebalance starts a rebalance", c.JoinCompletingChanged, func(v *view) bool {
		return !v.rejoins(c.CompletingRebalance) || v.slot().List == v.e.List || v.rebalances() && v.after().List == v.e.List
	}},
	{"JoinGroup of a member does not renew its session", c.JoinRepeatKeepsTimer, func(v *view) bool {
		if !v.joins() || !v.acts() || v.completed {
			return true
		}
		_, aborted := v.answerTo(c.ParkedSync, v.e.Ref.Slot)
		return aborted > 0 || !v.armed(v.e.Ref.Slot)
	}},
	{"of two JoinGroups of a member the later one waits", c.JoinParkedSuperseded, func(v *view) bool {
		return !v.joins() || !v.acts() || !v.slot().Joining || v.completed || v.callerWaits() && !v.superseded(c.Caller, 0)
	}},
}

// added is the slot of the member that a JoinGroup added, or -1.
func (v *view) added() int8 {
	if !v.joins() {
		return -1
	}
	slot := int8(-1)
	switch {
	case v.isPending():
		slot = v.e.Ref.Slot
	case v.e.Ref.Kind == c.NoID && v.e.Instance.Kind != c.KnownInstance && (!v.e.NeedsID || v.e.Instance.Kind == c.UnknownInstance):
		slot = v.t.Minted
	}
	if slot < 0 || v.t.Next.Slots[slot].Kind != c.Member {
		return -1
	}
	return slot
}

// rejoins says whether the JoinGroup is a member's, in the given phase.
func (v *view) rejoins(p c.Phase) bool { return v.s.Phase == p && v.joins() && v.acts() }
