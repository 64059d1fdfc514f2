package classic

import "testing"

func TestInitialDelay(t *testing.T) {
	// 1.5, C79: the first member waits; a second one extends the delay once.
	w := newWorld(t, Config{InitialDelay: true}).do(joinOld(listX)).want().phase(PreparingRebalance).timer(GroupJoinTimer, 0, InitialDelay).cites(DelayWaits)
	lone := *w
	w.do(Event{Kind: JoinTimer, Rest: true}).want("join 0 0 members").phase(CompletingRebalance).generation(NextGeneration)
	*w = lone
	w.do(joinOld(listX)).want().phase(PreparingRebalance)
	both := *w
	w.do(Event{Kind: JoinTimer, Rest: true}).want().phase(PreparingRebalance).timer(GroupJoinTimer, 0, RestOfInitialDelay).cites(DelayExtends)
	w.do(Event{Kind: JoinTimer, Rest: true}).want("join 0 0 members", "join 1 0").phase(CompletingRebalance)
	// 1.5-flag: nothing is left to extend into; the next delay is extended for it.
	*w = both
	w.do(Event{Kind: JoinTimer}).want("join 0 0 members", "join 1 0").cites(DelayFlag)
	w.do(leave(known(0), known(1))).phase(Empty).do(joinOld(listX)).want().do(Event{Kind: JoinTimer, Rest: true}).want().phase(PreparingRebalance)
	// C57: everybody leaves; the group waits on, and cannot be deleted.
	*w = both
	w.do(leave(known(0), known(1))).want("join 0 25", "join 1 25", "caller 0 [0 0]").phase(PreparingRebalance).cites(DelayHolds)
	w.do(Event{Kind: DeleteGroups}).want("caller 68").do(Event{Kind: JoinTimer}).phase(Empty).generation(NextGeneration)
	// 1.6, DF15: SyncGroup, Heartbeat and OffsetCommit of generation 0; a protocol that there is not yet.
	*w = lone
	w.do(sync(0)).want("caller 27").do(beat(0)).want("caller 27").do(Event{Kind: OffsetCommit, Ref: known(0)}).want("caller 0")
	e := sync(0)
	e.Protocol = protoX
	w.do(e).want("caller 27").cites(SyncProtocolEarly)
	newWorld(t, Config{Profile: Scala, InitialDelay: true}).do(joinOld(listX)).do(e).want("caller 23")
}

func TestInitialDelayOfEitherCoordinator(t *testing.T) {
	for _, test := range []struct {
		profile         Profile
		extends, endsIt bool
	}{{Java, true, true}, {Scala, false, false}} {
		// C80, DF5: a group that was in use before.
		w := newWorld(t, Config{Profile: test.profile, InitialDelay: true}).do(joinOld(listX)).do(Event{Kind: JoinTimer}).do(leave(known(0))).phase(Empty)
		w.do(joinOld(listX)).do(joinOld(listX)).cites(DelayExtendsReused)
		if w.s.Extends != test.extends {
			t.Errorf("%s: extends %v", test.profile.Name, w.s.Extends)
		}
		// DF6: a pending id's timer, and that of a new member.
		for _, e := range []Event{join(Ref{}, listX), joinOld(listX)} {
			w = newWorld(t, Config{Profile: test.profile, InitialDelay: true}).do(joinOld(listX)).do(e).do(Event{Kind: MemberTimer, Slot: 1}).cites(DelayEarlyEnd)
			if (w.s.Phase == CompletingRebalance) != test.endsIt {
				t.Errorf("%s: %v after the timer", test.profile.Name, w.s.Phase)
			}
		}
	}
}

func TestMaxSize(t *testing.T) {
	// C66, C67, JG6
	w := newWorld(t, Config{MaxSize: 2}).stable(1).do(join(Ref{}, listX)).do(joinOld(listX)).do(join(known(0), listX)).do(Event{Kind: JoinTimer}).phase(CompletingRebalance)
	w.do(join(Ref{}, listX)).want("caller 81").cites(MaxSizeRefuses).do(join(Ref{}, listY)).want("caller 81").cites(MaxSizeFirst)
	w.do(join(Ref{Kind: UnknownID}, listX)).want("caller 81").do(in(newInstance, listX)).want("caller 81")
	w.do(join(known(1), listX)).want("caller 81").cites(MaxSizeForgets).do(join(known(0), listX)).want("caller 0 members")
	if w.s.Slots[1].Kind != Free {
		t.Errorf("the pending id is still there: %+v", w.s)
	}
	// 2.2.2-st: a known instance.
	newWorld(t, Config{MaxSize: 1}).statics(1, listX).do(in(instance(0), listX)).want("caller 81")
	// DF7: A and C are there first, B is evicted.
	for _, test := range []struct {
		profile Profile
		answers []string
	}{{Java, []string{"caller 81"}}, {Scala, []string{"caller 81", "join 0 0 members", "join 2 0"}}} {
		w := newWorld(t, Config{Profile: test.profile, MaxSize: 2}).stable(2)
		w.s.Slots[1] = Slot{} // room for one more
		w.do(joinOld(listX)).do(join(known(0), listX)).phase(CompletingRebalance)
		w.s.Slots[2] = w.s.Slots[1] // a third that an older limit let in
		w.s.Slots[2].Leader = false
		w.do(join(known(0), listXY)).do(join(known(2), listX)).do(join(known(1), listX)).cites(MaxSizePreparing).cites(MaxSizeReevaluates)
		w.want(test.answers...)
	}
}
