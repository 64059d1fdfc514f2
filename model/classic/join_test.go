package classic

import "testing"

func TestFirstMember(t *testing.T) {
	// C1, C3
	w := newWorld(t, Config{})
	w.do(join(Ref{}, listX)).want("caller 79").phase(Empty).generation(ResetGeneration).cites(JoinNewMemberIDRequired).cites(JoinCreatesGroup)
	w.timer(SessionTimer, 0, SessionOfSlot)
	w.do(join(known(0), listX)).want("caller 0 members").phase(CompletingRebalance).generation(NextGeneration).cites(JoinEmptyRebalances)
	w.timer(SessionTimer, 0, SessionOfSlot).timer(GroupSyncTimer, 0, MaxRebalance)

	w = newWorld(t, Config{})
	w.do(joinOld(listX)).want("caller 0 members").phase(CompletingRebalance).generation(NextGeneration).cites(JoinNewOldVersion)
}

func TestJoinRefusals(t *testing.T) {
	tests := []struct {
		name  string
		setup func(*world)
		event Event
		code  string
		rule  RuleID
	}{
		{"C8 empty group id", func(*world) {}, Event{Kind: JoinGroup, BadGroup: true}, "caller 24", JoinGroupID},
		{"2.0.2 empty group id before bad session", func(*world) {}, Event{Kind: JoinGroup, BadGroup: true, BadSession: true}, "caller 24", JoinGroupID},
		{"C7 session out of bounds", func(*world) {}, Event{Kind: JoinGroup, BadSession: true}, "caller 26", JoinSessionBounds},
		{"C4 unknown id, unknown group", func(*world) {}, join(Ref{Kind: UnknownID}, listX), "caller 25", JoinUnknownGroup},
		{"C5 unknown id, incompatible protocol", func(w *world) { w.stable(1) }, join(Ref{Kind: UnknownID}, listY), "caller 23", JoinInconsistentProtocol},
		{"unknown id", func(w *world) { w.stable(1) }, join(Ref{Kind: UnknownID}, listX), "caller 25", JoinUnknownMember},
		{"C11 other type", func(w *world) { w.stable(1) }, Event{Kind: JoinGroup, Type: connects, List: listX, NeedsID: true}, "caller 23", JoinInconsistentProtocol},
		{"C12 sole member, disjoint list", func(w *world) { w.stable(1) }, join(known(0), listY), "caller 23", JoinInconsistentProtocol},
		{"C10 no type in a new group", func(*world) {}, Event{Kind: JoinGroup, List: listX}, "caller 23", JoinInconsistentProtocol},
		{"no protocols in a new group", func(*world) {}, Event{Kind: JoinGroup, Type: consumer}, "caller 23", JoinInconsistentProtocol},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, Config{})
			test.setup(w)
			before := w.s
			w.do(test.event).want(test.code).cites(test.rule)
			created := test.event.Ref.Kind == NoID && before.Phase == Absent && w.s == State{Phase: Empty, FirstGen: true}
			if w.s != before && !created {
				t.Fatalf("a refusal changed the state to %+v", w.s)
			}
		})
	}
}

func TestRejectedJoinCreatesGroup(t *testing.T) {
	// C10
	w := newWorld(t, Config{})
	w.do(joinOld(listX + 100)).want("caller 23").phase(Empty).cites(JoinCreatesGroup)
	if len(w.records) != 1 {
		t.Fatalf("records %v, want the creation record", w.records)
	}
	w = newWorld(t, Config{Profile: Scala})
	w.do(joinOld(listX + 100)).want("caller 23").phase(Empty)
	if len(w.records) != 0 {
		t.Fatalf("records %v: the Scala coordinator writes none", w.records)
	}
}

func TestCreationRecordFails(t *testing.T) {
	// Correction 4: 79 stands, a parked JoinGroup gets the error; the group is gone.
	for _, needsID := range []bool{true, false} {
		e := joinOld(listX)
		e.NeedsID, e.Write = needsID, WriteFailed
		w := newWorld(t, Config{}).do(e)
		if needsID {
			w.want("caller 79")
		} else {
			w.want("caller 15")
		}
		if w.s != (State{}) || len(w.timers) != 0 {
			t.Fatalf("state %+v timers %v, want nothing left", w.s, w.timers)
		}
	}
}

func TestVote(t *testing.T) {
	// C13, C14: of A[x,y] B[y,x] C[y,x] y wins; with C[x] only x is common; A[x,y] B[y,x] is a tie.
	w := newWorld(t, Config{})
	w.do(joinOld(listXY)).do(joinOld(listYX)).do(join(known(0), listXY))
	if w.outcomes != 2 {
		t.Fatalf("a tie has %d outcomes, want 2", w.outcomes)
	}
	w.do(joinOld(listYX)).do(join(known(0), listXY)).do(join(known(1), listYX)).cites(JoinCompleteVote)
	if w.s.Protocol != protoY || w.outcomes != 1 {
		t.Fatalf("protocol %d of %d outcomes, want y", w.s.Protocol, w.outcomes)
	}
	w.do(joinOld(listX)).do(join(known(0), listXY)).do(join(known(1), listYX)).do(join(known(2), listYX))
	if w.s.Protocol != protoX {
		t.Fatalf("protocol %d, want x, the only one that all support", w.s.Protocol)
	}
}

func TestRejoinStable(t *testing.T) {
	// C15-C17
	w := newWorld(t, Config{}).stable(2)
	w.do(join(known(1), listX)).want("caller 0").phase(Stable).generation(SameGeneration).cites(JoinStableFollowerRepeats)
	if len(w.timers) != 0 || w.last.Updated >= 0 {
		t.Fatalf("timers %v updated %d: a follower's repeat touches nothing", w.timers, w.last.Updated)
	}
	w.do(join(known(1), listXY)).want().phase(PreparingRebalance).cites(JoinStableChanged).timer(GroupJoinTimer, 0, MaxRebalance)

	w = newWorld(t, Config{}).stable(2)
	w.do(join(known(0), listX)).want().phase(PreparingRebalance).cites(JoinStableLeaderRepeats)
	w.do(join(known(1), listX)).want("join 0 0 members", "caller 0").phase(CompletingRebalance).generation(NextGeneration).cites(JoinCompleteAll)

	// A lone leader that rejoins completes within its own request.
	w = newWorld(t, Config{}).stable(1)
	w.do(join(known(0), listX)).want("caller 0 members").phase(CompletingRebalance).generation(NextGeneration)
}

func TestRejoinCompleting(t *testing.T) {
	// C18, and T12
	w := newWorld(t, Config{}).completing(2)
	w.do(join(known(0), listX)).want("caller 0 members").phase(CompletingRebalance).generation(SameGeneration).cites(JoinCompletingSame)
	w.do(join(known(1), listX)).want("caller 0").phase(CompletingRebalance)
	w.do(sync(1)).want().do(join(known(1), listXY)).want("sync 1 27").phase(PreparingRebalance).cites(JoinCompletingChanged).cites(SyncAborted)
}

func TestRepeatedParkedJoin(t *testing.T) {
	// C19
	w := newWorld(t, Config{}).stable(2).do(join(known(0), listX)).do(join(known(0), listX)).want().cites(JoinParkedSuperseded)
	if len(w.superseded) != 1 || w.superseded[0] != (Address{Kind: ParkedJoin}) {
		t.Fatalf("superseded %v", w.superseded)
	}
	newWorld(t, Config{Profile: Reference}).stable(2).do(join(known(0), listX)).do(join(known(0), listX)).want("join 0 27")
}

func TestJoinTimerExpelsAbsentees(t *testing.T) {
	// C22; the leader is the absentee, so that leadership has a choice.
	w := newWorld(t, Config{}).stable(3).do(join(known(1), listXY)).do(join(known(2), listX)).do(beat(0)).want("caller 27").cites(HeartbeatPreparing)
	w.pick(1, Event{Kind: JoinTimer}).want("join 1 0", "join 2 0 members").phase(CompletingRebalance).cites(JoinCompleteTimeout).cites(JoinCompleteLeader)
	if w.outcomes != 2 || !w.s.Slots[2].Leader {
		t.Fatalf("%d outcomes, leader %v: want the second of 2", w.outcomes, w.s.Slots)
	}
	w.timer(SessionTimer, 0, Cancel)
}

func TestPendingBlocks(t *testing.T) {
	// 2.2.3-blk, 3.2, 1.4-pend
	w := newWorld(t, Config{}).stable(1).do(join(Ref{}, listX)).want("caller 79").phase(Stable)
	w.do(join(known(0), listX)).want().phase(PreparingRebalance).cites(JoinPendingBlocks)
	mid := *w
	w.do(leave(known(1))).want("join 0 0 members", "caller 0 [0]").cites(LeavePending)
	*w = mid
	w.do(Event{Kind: MemberTimer, Slot: 1}).want("join 0 0 members").cites(JoinPendingExpires)
	*w = mid
	w.do(Event{Kind: JoinTimer}).want("join 0 0 members").phase(CompletingRebalance)
	w.do(join(known(1), listX)).want().phase(PreparingRebalance).cites(JoinStartsRebalance).timer(SessionTimer, 1, NewMemberTimeout)
}

func TestNewMemberTimeout(t *testing.T) {
	// C27, 2.4-new and the reference's replacement of it
	w := newWorld(t, Config{}).stable(1).do(joinOld(listX)).want().phase(PreparingRebalance)
	mid := *w
	w.do(Event{Kind: MemberTimer, Slot: 1}).want("join 1 25").cites(JoinNewMemberTimeout).cites(JoinParkedRemoved)
	*w = mid
	w.do(beat(1)).want("caller 27").timer(SessionTimer, 1, SessionOfSlot).cites(HeartbeatNewMember)
	w = newWorld(t, Config{Profile: Reference}).stable(1).do(joinOld(listX)).do(beat(1)).want("caller 27")
	if len(w.timers) != 0 {
		t.Fatalf("timers %v: the reference keeps the five minutes", w.timers)
	}
}

func TestEmptyPreparingWithPendingIDs(t *testing.T) {
	// 3.3: the last member of an open generation leaves while an id is pending: Empty at once.
	w := newWorld(t, Config{}).stable(1).do(join(Ref{}, listX)).do(leave(known(0))).want("caller 0 [0]").phase(Empty).generation(NextGeneration).cites(LeaveLastEmpties)
	w.do(join(known(1), listX)).want("caller 0 members").generation(NextGeneration)
	// 1.7-zero: while a rebalance is open the pending id keeps it open, and any protocol of the type will do.
	w = newWorld(t, Config{}).stable(1).do(join(Ref{}, listX)).do(join(known(0), listX)).do(leave(known(0))).want("join 0 25", "caller 0 [0]").phase(PreparingRebalance)
	w.do(Event{Kind: JoinGroup, Type: connects, List: listX, NeedsID: true}).want("caller 23")
	w.do(join(Ref{}, listY)).want("caller 79")
	w.do(Event{Kind: JoinTimer}).want().phase(Empty).generation(NextGeneration)
}

// TestEmptyJoin lets the join of a group without members wait for its timer where ids are pending, as in Kafka others may come before that fires.
func TestEmptyJoin(t *testing.T) {
	w := newWorld(t, Config{EmptyJoin: true}).stable(1).do(join(Ref{}, listX)).do(leave(known(0))).want("caller 0 [0]")
	w.phase(PreparingRebalance).generation(SameGeneration).timer(GroupJoinTimer, 0, MaxRebalance)
	w.do(Event{Kind: JoinTimer}).phase(Empty).generation(NextGeneration)
	newWorld(t, Config{EmptyJoin: true}).stable(1).do(leave(known(0))).phase(Empty).generation(NextGeneration)
}
