package explore

import c "github.com/muster-kafka/muster/model/classic"

// delayProperties are asked about every event of a group with an initial rebalance delay.
var delayProperties = []property{
	{"the first member of an Empty group waits for the initial delay", c.DelayWaits, adds | vacant, func(v *view) bool {
		d, ok := v.effect(c.GroupJoinTimer, 0)
		return v.t.Next.Initial && ok && d == c.InitialDelay && v.reply == nil
	}},
	{"the initial delay is not ended by who comes and goes", c.DelayHolds, isInitial, func(v *view) bool {
		return v.e.Kind != c.JoinGroup && v.e.Kind != c.LeaveGroup || v.t.Next.Initial && !v.completed
	}},
	{"the initial delay is extended for a member that was added", c.DelayExtends, isInitial, func(v *view) bool {
		if v.e.Kind != c.JoinTimer || !v.s.Extends || !v.e.Rest {
			return true
		}
		d, ok := v.effect(c.GroupJoinTimer, 0)
		return v.t.Next.Initial && !v.t.Next.Extends && ok && d == c.RestOfInitialDelay && len(v.t.Replies) == 0
	}},
	{"a member that is added during the delay extends it as the profile says", c.DelayExtendsReused, isInitial | adds, func(v *view) bool {
		return v.t.Next.Extends == (v.s.Extends || v.s.FirstGen || v.profile.DelayExtendsReused)
	}},
	{"a timer ends the initial delay only as the profile says", c.DelayEarlyEnd, isInitial | changed, func(v *view) bool {
		if v.e.Kind != c.MemberTimer || v.timed().Kind == c.Member && !v.timed().New {
			return true
		}
		others := true
		for i := range v.of(v.s) {
			slot := &v.s.Slots[i]
			if int8(i) != v.e.Slot && (slot.Kind == c.Pending || slot.Kind == c.Member && !slot.Joining) {
				others = false
			}
		}
		return v.completed == (others && v.profile.DelayEarlyEnd)
	}},
	{"the mark of an added member outlives the delay only as the profile says", c.DelayFlag, isInitial | completes, func(v *view) bool {
		return v.t.Next.Phase == c.Absent || v.t.Next.Extends == (v.s.Extends && v.profile.DelayFlagKept)
	}},
}

// sizeProperties are asked about every JoinGroup of a group with a group.max.size.
var sizeProperties = []property{
	{"JoinGroup of a newcomer to a full group is refused", c.MaxSizeRefuses, wellFormed | isOpen, func(v *view) bool {
		return v.turnedAway()
	}},
	{"JoinGroup in PreparingRebalance beyond the limit is refused", c.MaxSizePreparing, wellFormed | isPreparing, func(v *view) bool {
		return v.turnedAway()
	}},
	{"there being no room is told before anything else", c.MaxSizeFirst, wellFormed, func(v *view) bool {
		return !v.full() || v.compatible() || v.code() == c.CodeGroupMaxSizeReached
	}},
	{"whoever there is no room for is forgotten, and nothing else comes of it", c.MaxSizeForgets, always, func(v *view) bool {
		if v.code() != c.CodeGroupMaxSizeReached {
			return true
		}
		gone := v.e.Ref.Kind != c.KnownID || v.after().Kind == c.Free
		return gone && (!open(v.s.Phase) || v.t.Next.Phase == v.s.Phase)
	}},
	{"an eviction completes the join only as the profile says", c.MaxSizeReevaluates, always, func(v *view) bool {
		if v.code() != c.CodeGroupMaxSizeReached || v.s.Phase != c.PreparingRebalance || v.s.Initial {
			return true
		}
		for i := range v.of(v.s) {
			slot := &v.s.Slots[i]
			own := v.e.Ref == c.Ref{Kind: c.KnownID, Slot: int8(i)}
			if !own && (slot.Kind == c.Pending || slot.Kind == c.Member && !slot.Joining) {
				return !v.completed
			}
		}
		return v.completed == v.profile.RefusalReevaluates
	}},
	{"a new generation is within the limit, but for static members that were kept", c.MaxSizePreparing, completes, func(v *view) bool {
		joined := 0
		for i := range v.of(&v.t.Next) {
			if v.t.Next.Slots[i].Kind == c.Member && v.joinedIn(int8(i)) {
				joined++
			}
		}
		return v.is(vacant) || joined <= v.group.MaxSize
	}},
}

// turnedAway says whether the JoinGroup is refused if there is no room, and only then.
func (v *view) turnedAway() bool {
	refused := v.code() == c.CodeGroupMaxSizeReached && v.reply.Echo == c.EchoNone
	return refused == v.full()
}

// subscriptionProperties are asked about every event of a consumer group.
var subscriptionProperties = []property{
	{"a new generation knows its subscriptions", c.SubscribedGeneration, completes, func(v *view) bool {
		if v.t.Next.Type != groupType || v.oneByOne() {
			return true
		}
		want := c.KnownTopics
		for i := range v.of(&v.t.Next) {
			slot := &v.t.Next.Slots[i]
			if slot.Kind != c.Member || v.t.Next.Phase == c.PreparingRebalance {
				continue
			}
			l := &v.lexicon.Lists[slot.List]
			for at, name := range l.Names {
				if name == v.t.Next.Protocol && want.Known() {
					want = (want | l.Topics[at]) & (l.Topics[at] | ^c.KnownTopics)
				}
			}
		}
		if !want.Known() {
			want = 0
		}
		return v.t.Next.Phase == c.PreparingRebalance || v.t.Next.Subscribed == want
	}},
	{"subscriptions change only with the generation", c.SubscribedGeneration, changed, func(v *view) bool {
		moved := v.completed || v.t.Next.Phase == c.Absent || v.e.Kind == c.Loaded
		return moved || v.t.Next.Subscribed == v.s.Subscribed
	}},
}
