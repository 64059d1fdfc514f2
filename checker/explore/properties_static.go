package explore

import c "github.com/muster-kafka/muster/model/classic"

// instanceProperties are asked about one kind of event in groups with static members.
var instanceProperties = [...][]property{
	c.JoinGroup: append(instanceJoinProperties, instanceRequestProperties...), c.SyncGroup: instanceRequestProperties,
	c.Heartbeat: instanceRequestProperties, c.OffsetCommit: instanceRequestProperties, c.TxnOffsetCommit: instanceRequestProperties,
	c.LeaveGroup: instanceLeaveProperties, c.JoinTimer: instanceTimerProperties,
}

var instanceJoinProperties = []property{
	{"JoinGroup of a new instance adds a static member", c.StaticJoins, joins | noID | unknownInstance, func(v *view) bool {
		return v.t.Next.Phase == c.Absent || v.t.Minted >= 0 && v.t.Next.Slots[v.t.Minted].Kind == c.Member && v.t.Next.Slots[v.t.Minted].Static
	}},
	{"JoinGroup with a pending id and an instance id changes nothing", c.StaticPending, joins | byPending, func(v *view) bool {
		if v.profile.PendingInstanceSilent {
			return !v.pendingInstance() || len(v.t.Replies) == 0 && !v.is(changed)
		}
		return !v.pendingInstance() || v.refused(c.CodeUnknownServerError)
	}},
}

// instanceRequestProperties are asked about requests of one member.
var instanceRequestProperties = []property{
	{"a request with another member's instance id is fenced", c.StaticFenced, checked | fenced, func(v *view) bool {
		return v.refused(c.CodeFencedInstanceID)
	}},
	{"a request with an unknown instance id is refused", c.StaticUnmapped, checked | byMember | unknownInstance, func(v *view) bool {
		return v.refused(c.CodeUnknownMemberID) != v.passesUnmapped()
	}},
	{"a static member need not name its instance", c.StaticOptional, checked | byMember | noInstance, func(v *view) bool {
		return !v.slot().Static || v.code() != c.CodeUnknownMemberID && v.code() != c.CodeFencedInstanceID
	}},
}

// instanceTimerProperties are asked when the join timer fires.
var instanceTimerProperties = []property{
	{"the join timer spares static members", c.StaticRetained, always, func(v *view) bool {
		for i := range v.of(v.s) {
			was, is := &v.s.Slots[i], &v.t.Next.Slots[i]
			if was.Static && (is.Kind != c.Member || is.List != was.List) {
				return false
			}
		}
		return true
	}},
	{"a join of static members that nobody has joined goes on", c.StaticNobodyJoined, always, func(v *view) bool {
		joined, kept := 0, 0
		for i := range v.of(v.s) {
			joined += number(v.s.Slots[i].Joining)
			kept += number(v.s.Slots[i].Static)
		}
		if joined > 0 || kept == 0 {
			return true
		}
		d, ok := v.effect(c.GroupJoinTimer, 0)
		return v.t.Next.Phase == c.PreparingRebalance && v.t.Generation == c.SameGeneration && ok && d == c.MaxRebalance
	}},
}

var instanceLeaveProperties = []property{
	{"a LeaveGroup entry with another member's instance id is fenced", c.StaticFenced, exists | leavesFenced, func(v *view) bool {
		first := true // a later one may come too late
		return v.eachEntry(func(n *entry) bool {
			meant := first && n.wrong == c.CodeFencedInstanceID
			first = false
			return !meant || n.code == c.CodeFencedInstanceID && (n.slot == nil || len(v.e.Leaves) > 1 || v.inert)
		})
	}},
	{"LeaveGroup by instance removes its member", c.LeaveInstance, leavesByInstance, func(v *view) bool {
		return v.eachEntry(func(n *entry) bool {
			return !n.byInstance || n.slot == nil || n.code == c.CodeNone && v.t.Next.Slots[n.at].Kind == c.Free
		})
	}},
}

// rekeyProperties are asked about every event in groups with static members.
var rekeyProperties = []property{
	{"only the JoinGroup of an instance gives its member another id", c.StaticReplaced, always, func(v *view) bool {
		return v.t.Rekeyed < 0 || v.t.Rekeyed == v.instanceReplaced()
	}},
}

// pendingInstance says whether a JoinGroup names an id that was handed out and an instance.
func (v *view) pendingInstance() bool {
	return v.is(joins|byPending) && !v.is(noInstance)
}

// replacedProperties are asked about every JoinGroup that takes the place of a static member.
var replacedProperties = []property{
	{"JoinGroup of a static member's instance gives that member another id", c.StaticReplaced, always, func(v *view) bool {
		return v.t.Minted < 0 && inUse(&v.t.Next) == inUse(v.s) && (v.t.Rekeyed >= 0 || v.unwritten())
	}},
	{"the waiting JoinGroup of a replaced member is fenced", c.StaticReplacedJoin, always, func(v *view) bool {
		return !v.replacedSlot().Joining || v.fencedWaiting(c.ParkedJoin)
	}},
	{"the waiting SyncGroup of a replaced member is fenced", c.StaticReplacedSync, always, func(v *view) bool {
		return !v.replacedSlot().Syncing || v.fencedWaiting(c.ParkedSync)
	}},
	{"a replacement in PreparingRebalance waits for the join to complete", c.StaticReplacedPreparing, isPreparing, func(v *view) bool {
		return v.completed && v.code() == c.CodeNone || !v.completed && v.reply == nil && v.replacedAfter().Joining
	}},
	{"a replacement in CompletingRebalance starts a rebalance", c.StaticReplacedCompleting, isCompleting, func(v *view) bool {
		return v.rebalances()
	}},
	{"a replacement in Stable that does not change the protocol starts no rebalance", c.StaticReplacedStable, isStable, func(v *view) bool {
		chosen, best := v.choice()
		return chosen <= best || v.t.Next.Phase == c.Stable
	}},
	{"a replacement in Stable that changes the protocol starts a rebalance", c.StaticReplacedVote, isStable, func(v *view) bool {
		chosen, best := v.choice()
		return chosen >= best || v.rebalances()
	}},
	{"a replaced member keeps its assignment", c.StaticReplacedAssignment, isStable, func(v *view) bool {
		return !v.quietly() || v.replacedAfter().Given == v.replacedSlot().Given
	}},
	{"a replaced leader skips the assignment", c.StaticReplacedLeader, isStable, func(v *view) bool {
		if !v.quietly() || !v.e.Skips {
			return true
		}
		leads := v.replacedSlot().Leader
		return v.reply.Skip == leads && v.reply.Members == leads && !v.reply.FormerLeader && v.t.Next.Slots[v.reply.Leader].Leader
	}},
	{"a replaced leader of an old version is told of its former id", c.StaticReplacedLeaderOld, isStable, func(v *view) bool {
		if !v.quietly() || v.e.Skips {
			return true
		}
		return v.reply.FormerLeader == v.replacedSlot().Leader && !v.reply.Members && !v.reply.Skip
	}},
	{"a replacement without a rebalance is written", c.StaticReplacedRecord, isStable, func(v *view) bool {
		return !v.quietly() || len(v.t.Records) == 1 && v.t.Records[0].Kind == c.GroupRecord
	}},
	{"a replaced member's timeouts are those of the request", c.StaticReplacedTimeouts, always, func(v *view) bool {
		return v.t.Rekeyed < 0 || (v.t.Updated == v.t.Rekeyed) != v.profile.ReplacedKeepsTimeouts
	}},
	{"a replaced member's session runs as the profile says", c.StaticReplacedTimer, always, func(v *view) bool {
		if v.t.Rekeyed < 0 || v.completed {
			return true
		}
		d, ok := v.effect(c.SessionTimer, v.t.Rekeyed)
		if v.replacedAfter().New && !v.profile.HeartbeatShortensNew { // its session does not count yet
			return ok && d == c.NewMemberTimeout
		}
		return ok && (d == c.FormerSession) == v.profile.ReplacedFormerSession
	}},
	{"a replaced new member is new only as the profile says", c.StaticReplacedNew, always, func(v *view) bool {
		return !v.replacedSlot().New || v.completed || v.replacedAfter().New == v.profile.ReplacedKeepsNew
	}},
	{"a replaced member that owed its SyncGroup owes it as the profile says", c.StaticReplacedOwes, isStable, func(v *view) bool {
		if !v.quietly() || !v.replacedSlot().OwesSync {
			return true
		}
		stale := v.profile.ReplacedLeavesStale
		return v.t.Next.StaleSync == (stale || v.s.StaleSync) && v.replacedAfter().OwesSync != stale
	}},
	{"a replacement without a rebalance leaves the subscriptions", c.StaticReplacedSubscribed, isStable, func(v *view) bool {
		return !v.quietly() || v.t.Next.Subscribed == v.s.Subscribed
	}},
	{"a replacement that could not be written has not happened", c.StaticWriteFails, always, func(v *view) bool {
		if !v.unwritten() {
			return true
		}
		want := *v.s
		want.Slots[v.instanceReplaced()].List = v.replacedAfter().List
		return v.t.Rekeyed < 0 && v.t.Updated < 0 && v.t.Next == want && v.reply.Echo == c.EchoNone && v.reply.Filled
	}},
	{"a replacement that could not be written leaves the list that the profile says", c.StaticWriteFailsList, always, func(v *view) bool {
		want := v.replacedSlot().List
		if v.profile.FailedReplacementKeepsList {
			want = v.e.List
		}
		return !v.unwritten() || v.replacedAfter().List == want
	}},
}

func (v *view) replacedSlot() *c.Slot  { return &v.s.Slots[v.instanceReplaced()] }
func (v *view) replacedAfter() *c.Slot { return &v.t.Next.Slots[v.instanceReplaced()] }

// quietly says whether the replacement has succeeded without a rebalance.
func (v *view) quietly() bool {
	return v.s.Phase == c.Stable && v.t.Next.Phase == c.Stable && v.code() == c.CodeNone
}

// unwritten says whether the replacement's write has failed.
func (v *view) unwritten() bool { return v.code() == c.CodeWriteFailed && v.e.Write == c.WriteFailed }

func (v *view) fencedWaiting(kind c.AddressKind) bool {
	code, n := v.answerTo(kind, v.instanceReplaced())
	return n == 1 && code == c.CodeFencedInstanceID
}

// choice counts, with the replacement's list, the votes for the group's protocol and the most for another one.
func (v *view) choice() (chosen, best int) {
	with := *v.s
	with.Slots[v.instanceReplaced()].List = v.e.List
	for _, name := range v.lexicon.Lists[v.e.List].Names {
		if name != v.s.Protocol {
			best = max(best, v.votes(&with, name))
		}
	}
	return v.votes(&with, v.s.Protocol), best
}
