package classic

import "testing"

func TestHeartbeat(t *testing.T) {
	// C20, C21
	other := beat(0)
	other.Gen = OtherGen
	w := newWorld(t, Config{}).stable(1).do(beat(0)).want("caller 0").timer(SessionTimer, 0, SessionOfSlot).cites(HeartbeatStable)
	w.do(other).want("caller 22").cites(HeartbeatIllegalGeneration).cites(GenerationFence)
	if len(w.timers) != 0 {
		t.Fatalf("timers %v after a refusal", w.timers)
	}
	w.do(Event{Kind: Heartbeat, Ref: Ref{Kind: UnknownID}, Gen: OtherGen}).want("caller 25").cites(HeartbeatUnknownMember)
	newWorld(t, Config{}).completing(1).do(beat(0)).want("caller 0").timer(SessionTimer, 0, SessionOfSlot).cites(HeartbeatCompleting)
	newWorld(t, Config{}).stable(2).do(join(known(0), listX)).do(beat(1)).want("caller 27").timer(SessionTimer, 1, SessionOfSlot)
	newWorld(t, Config{}).do(beat(0)).want("caller 25").cites(HeartbeatUnknownGroup)
	newWorld(t, Config{}).do(Event{Kind: Heartbeat, BadGroup: true}).want("caller 24")
	newWorld(t, Config{}).do(join(Ref{}, listX)).do(beat(0)).want("caller 25").cites(HeartbeatUnknownMember)
}

func TestLeave(t *testing.T) {
	// C52, C53, C55, C56
	unknown := Ref{Kind: UnknownID}
	w := newWorld(t, Config{}).stable(2).do(leave(known(1), unknown, known(1), Ref{})).want("caller 0 [0 25 25 25]").phase(PreparingRebalance).cites(LeaveMember).cites(LeaveBatch)
	w.do(leave(known(0))).want("caller 0 [0]").phase(Empty).generation(NextGeneration)
	newWorld(t, Config{}).do(leave(unknown, unknown)).want("caller 0 [25 25]").cites(LeaveUnknownGroup)
	newWorld(t, Config{}).do(leave()).want("caller 0")
	newWorld(t, Config{}).do(Event{Kind: LeaveGroup, OldLeave: true, Leaves: []Ref{unknown}}).want("caller 25").cites(LeaveSingleVersion)
	newWorld(t, Config{}).do(Event{Kind: LeaveGroup, BadGroup: true, Leaves: []Ref{unknown}}).want("caller 24")
	newWorld(t, Config{}).stable(1).do(Event{Kind: LeaveGroup, OldLeave: true, Leaves: []Ref{unknown}}).want("caller 25")
	for _, p := range []Profile{Java, Scala, Reference} {
		w := newWorld(t, Config{Profile: p}).stable(1).do(join(Ref{}, listX)).do(leave(known(1))).want("caller 0 [0]").cites(LeavePendingRebalances)
		if got := w.s.Phase == PreparingRebalance; got != p.PendingLeaveRebalances {
			t.Errorf("%s: phase %v after a pending id has left", p.Name, w.s.Phase)
		}
	}
	// A batch that takes everybody makes one generation.
	newWorld(t, Config{}).stable(3).do(leave(known(0), known(1), known(2))).want("caller 0 [0 0 0]").phase(Empty).generation(NextGeneration)
	// The Empty record cannot be written: they have left all the same.
	e := leave(known(0))
	e.Write = WriteFailed
	newWorld(t, Config{}).stable(1).do(e).want("caller 15").phase(Empty)
	newWorld(t, Config{Profile: Scala}).stable(1).do(e).want("caller 0 [0]").phase(Empty)
}

func TestCommit(t *testing.T) {
	// C38-C41, 2.6-m1, 2.6-e, 2.6-p
	commit := func(ref Ref, gen Gen) Event { return Event{Kind: OffsetCommit, Ref: ref, Gen: gen, CommitVersion: 9} }
	unknown := Ref{Kind: UnknownID}
	tests := []struct {
		name  string
		setup func(*world)
		event Event
		code  string
		rule  RuleID
	}{
		{"C38 Preparing", func(w *world) { w.stable(2).do(join(known(0), listX)) }, commit(known(1), CurrentGen), "caller 0", CommitMember},
		{"C38 Completing", func(w *world) { w.completing(1) }, commit(known(0), CurrentGen), "caller 27", CommitCompleting},
		{"C38 Completing, old", func(w *world) { w.completing(1) }, commit(known(0), OtherGen), "caller 22", CommitIllegalGeneration},
		{"Stable", func(w *world) { w.stable(1) }, commit(known(0), CurrentGen), "caller 0", CommitMember},
		{"C39 absent", func(*world) {}, commit(Ref{}, NoGen), "caller 0", CommitSimpleGroup},
		{"C39 Empty", func(w *world) { w.do(join(Ref{}, listX)) }, commit(Ref{}, NoGen), "caller 0", CommitEmptyGroup},
		{"C39 members", func(w *world) { w.stable(1) }, commit(Ref{}, NoGen), "caller 25", CommitAnonymousRefused},
		{"2.6.2 OC7c", func(w *world) { w.completing(1) }, commit(Ref{}, NoGen), "caller 25", CommitAnonymousRefused},
		{"C40", func(w *world) { w.do(join(Ref{}, listX)) }, commit(unknown, NoGen), "caller 0", CommitEmptyGroup},
		{"C41", func(*world) {}, commit(unknown, OtherGen), "caller 69", CommitUnknownGroupCode},
		{"2.6-m1", func(w *world) { w.stable(1) }, commit(known(0), NoGen), "caller 22", CommitIllegalGeneration},
		{"2.6-e", func(w *world) { w.stable(1).do(leave(known(0))) }, commit(unknown, CurrentGen), "caller 25", CommitUnknownMember},
		{"2.6-p Empty", func(w *world) { w.do(join(Ref{}, listX)) }, commit(known(0), NoGen), "caller 0", CommitEmptyGroup},
		{"2.6-p gen 0", func(w *world) { w.do(join(Ref{}, listX)) }, commit(known(0), CurrentGen), "caller 25", CommitUnknownMember},
		{"OC6 before OC8", func(w *world) { w.completing(1) }, commit(unknown, CurrentGen), "caller 25", CommitUnknownMember},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, Config{})
			test.setup(w)
			w.do(test.event).want(test.code).cites(test.rule)
			if accepted := test.code == "caller 0"; w.s.Offsets != accepted || (w.last.Offsets == StoreOffsets) != accepted {
				t.Fatalf("offsets %v effect %v", w.s.Offsets, w.last.Offsets)
			}
		})
	}
	old := commit(unknown, OtherGen)
	old.CommitVersion = 8
	newWorld(t, Config{}).do(old).want("caller 22")
	newWorld(t, Config{Profile: Scala}).do(commit(unknown, OtherGen)).want("caller 22")
	large := commit(known(0), CurrentGen)
	large.TooLarge = true
	w := newWorld(t, Config{}).stable(1).do(large).want("caller 12").timer(SessionTimer, 0, SessionOfSlot) // OC9
	failed := commit(known(0), CurrentGen)
	failed.Write = WriteFailed
	w.do(failed).want("caller 15")
	if w.s.Offsets {
		t.Fatal("a refused commit was stored")
	}
	// C38b
	newWorld(t, Config{}).completing(1).do(joinOld(listX)).do(commit(known(0), CurrentGen)).want("caller 0")
}

func TestDelete(t *testing.T) {
	// C72, C73
	w := newWorld(t, Config{}).do(Event{Kind: DeleteGroups}).want("caller 69").cites(DeleteUnknown)
	w.do(Event{Kind: OffsetCommit, Gen: NoGen}).do(join(Ref{}, listX)).do(Event{Kind: DeleteGroups}).want("caller 0").phase(Absent).generation(ResetGeneration).cites(DeleteEmpty)
	if w.last.Offsets != ClearOffsets || len(w.records) != 2 {
		t.Fatalf("offsets %v records %v", w.last.Offsets, w.records)
	}
	w.timer(SessionTimer, 0, Cancel)
	newWorld(t, Config{}).stable(1).do(Event{Kind: DeleteGroups}).want("caller 68").phase(Stable).cites(DeleteNonEmpty)
	newWorld(t, Config{}).stable(1).do(Event{Kind: OffsetCommit, Ref: known(0)}).do(leave(known(0))).phase(Empty).cites(OffsetsSurviveMembers)
	failed := Event{Kind: DeleteGroups, Write: WriteFailed}
	newWorld(t, Config{}).do(join(Ref{}, listX)).do(failed).want("caller 15").phase(Empty)
	newWorld(t, Config{Profile: Scala}).do(join(Ref{}, listX)).do(failed).want("caller 0").phase(Absent)
}

func TestReads(t *testing.T) {
	for _, kind := range []EventKind{OffsetFetch, DescribeGroups, ListGroups} {
		for _, w := range []*world{newWorld(t, Config{}), newWorld(t, Config{}).stable(2), newWorld(t, Config{}).completing(2)} {
			before := w.s
			w.do(Event{Kind: kind}).want("caller 0")
			if w.s != before || len(w.rules) == 0 || len(w.timers)+len(w.records) > 0 {
				t.Errorf("event %d: rules %v, state %+v", kind, w.rules, w.s)
			}
		}
	}
}

func TestOverflow(t *testing.T) {
	w := newWorld(t, Config{})
	for range MaxSlots {
		w.do(join(Ref{}, listX)).want("caller 79")
	}
	if w.do(join(Ref{}, listX)); !w.last.Overflow {
		t.Fatal("one id more than there are slots, and no overflow")
	}
}
