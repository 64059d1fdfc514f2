package classic

import "testing"

func TestSyncAssigns(t *testing.T) {
	// C28-C31
	w := newWorld(t, Config{}).completing(3)
	w.do(sync(1)).want().cites(SyncFollowerParks)
	w.do(sync(0, 7, 8)).want("caller 0", "sync 1 0").phase(Stable).cites(SyncLeaderAssigns)
	if w.s.Slots[0].Given != 7 || w.s.Slots[1].Given != 8 || w.s.Slots[2].Given != 0 {
		t.Fatalf("given %v", w.s.Slots)
	}
	if !w.s.SyncTimer {
		t.Fatal("slot 2 still owes its SyncGroup, but no timer runs")
	}
	w.do(sync(2)).want("caller 0").timer(GroupSyncTimer, 0, Cancel)
	w.do(sync(0, 9, 9, 9)).want("caller 0").cites(SyncStableRepeats)
	if w.s.Slots[0].Given != 7 {
		t.Fatal("a repeated SyncGroup changed the assignment")
	}
	if len(w.timers) != 0 {
		t.Fatalf("timers %v: sync.stable.keeps-timer", w.timers)
	}
	newWorld(t, Config{Profile: Scala}).stable(1).do(sync(0)).timer(SessionTimer, 0, SessionOfSlot)
}

func TestSyncRefusals(t *testing.T) {
	with := func(e Event, f func(*Event)) Event { f(&e); return e }
	tests := []struct {
		name  string
		setup func(*world)
		event Event
		code  string
		rule  RuleID
	}{
		{"C33 null protocol, unknown group", func(*world) {}, Event{Kind: SyncGroup, NoProtocol: true}, "caller 23", SyncMissingProtocol},
		{"C8", func(*world) {}, Event{Kind: SyncGroup, BadGroup: true}, "caller 24", SyncGroupID},
		{"SG3 absent", func(*world) {}, Event{Kind: SyncGroup, Ref: Ref{Kind: UnknownID}}, "caller 25", SyncUnknownGroup},
		{"SG3 Empty", func(w *world) { w.do(join(Ref{}, listX)) }, sync(0), "caller 25", SyncUnknownGroup},
		{"SG5 before SG6", func(w *world) { w.stable(1) }, Event{Kind: SyncGroup, Ref: Ref{Kind: UnknownID}, Gen: OtherGen}, "caller 25", SyncUnknownMember},
		{"pending", func(w *world) { w.stable(1).do(join(Ref{}, listX)) }, sync(1), "caller 25", SyncUnknownMember},
		{"SG6", func(w *world) { w.stable(1) }, with(sync(0), func(e *Event) { e.Gen = OtherGen }), "caller 22", SyncIllegalGeneration},
		{"SG7", func(w *world) { w.stable(1) }, with(sync(0), func(e *Event) { e.Type = connects }), "caller 23", SyncInconsistentProtocol},
		{"SG8", func(w *world) { w.stable(1) }, with(sync(0), func(e *Event) { e.Protocol = protoY }), "caller 23", SyncInconsistentProtocol},
		{"C34", func(w *world) { w.stable(2).do(join(known(0), listX)) }, sync(1), "caller 27", SyncPreparing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, Config{})
			test.setup(w)
			before := w.s
			w.do(test.event).want(test.code).cites(test.rule)
			if w.s != before {
				t.Fatalf("a refusal changed the state to %+v", w.s)
			}
		})
	}
}

func TestSyncTimer(t *testing.T) {
	// C35: nobody syncs.
	w := newWorld(t, Config{}).completing(2).do(Event{Kind: SyncTimer}).want().phase(Empty).generation(NextGeneration).cites(SyncTimerExpels)
	w.timer(SessionTimer, 0, Cancel).timer(SessionTimer, 1, Cancel)
	// C36: a follower never does, though the group is Stable.
	w = newWorld(t, Config{}).completing(2).do(sync(0)).phase(Stable).do(Event{Kind: SyncTimer}).phase(PreparingRebalance)
	w.do(beat(0)).want("caller 27")
	// C37: the leader never does.
	w = newWorld(t, Config{}).completing(2).do(sync(1)).do(Event{Kind: SyncTimer}).want("sync 1 27").phase(PreparingRebalance)
	if !w.s.Slots[1].Leader || w.s.Slots[0].Kind != Free {
		t.Fatalf("slots %v", w.s.Slots)
	}
}

func TestSyncAborts(t *testing.T) {
	// C32, T11, C82
	newWorld(t, Config{}).completing(2).do(sync(1)).do(joinOld(listX)).want("sync 1 27").phase(PreparingRebalance).cites(SyncAborted).timer(SessionTimer, 1, SessionOfSlot)

	failed := sync(0, 1, 2)
	failed.Write = WriteFailed
	w := newWorld(t, Config{}).completing(2).do(sync(1)).do(failed).want("caller 15", "sync 1 15").phase(PreparingRebalance).cites(SyncWriteFails)
	if w.s.Slots[0].Given != 0 {
		t.Fatal("a failed assignment stayed")
	}

	w = newWorld(t, Config{}).completing(2).do(sync(1)).do(leave(known(1))).want("caller 0 [0]").phase(PreparingRebalance).cites(SyncParkedRemoved)
	if len(w.superseded) != 1 {
		t.Fatalf("superseded %v", w.superseded)
	}
	newWorld(t, Config{Profile: Reference}).completing(2).do(sync(1)).do(leave(known(1))).want("sync 1 25", "caller 0 [0]")
}

func TestSyncInFlight(t *testing.T) {
	// 2.3.2-dbl, 2.3.2-mv
	flight := Config{SyncInFlight: true}
	w := newWorld(t, flight).completing(2).do(sync(1)).do(sync(0, 1, 2)).want().phase(CompletingRebalance)
	if !w.s.Writing {
		t.Fatal("no write in flight")
	}
	mid := *w
	w.do(sync(0, 3, 4)).want().cites(SyncParkedSuperseded)
	w.do(Event{Kind: WriteDone}).want("sync 0 0", "sync 1 0").phase(Stable)
	if w.s.Slots[1].Given != 2 {
		t.Fatalf("given %d: the first write counts", w.s.Slots[1].Given)
	}
	*w = mid
	w.do(joinOld(listX)).want("sync 0 27", "sync 1 27").phase(PreparingRebalance)
	w.do(Event{Kind: WriteDone}).want().phase(PreparingRebalance)
	*w = mid
	w.do(Event{Kind: WriteDone, Write: WriteFailed}).want("sync 0 15", "sync 1 15").phase(PreparingRebalance)
}

func TestSessions(t *testing.T) {
	// 3.1
	w := newWorld(t, Config{}).stable(2).do(Event{Kind: MemberTimer, Slot: 0}).want().phase(PreparingRebalance).cites(SessionExpires)
	w.do(join(known(1), listX)).want("caller 0 members")
	// C26: parked, not new: the firing is spent, and the completion arms it again.
	w = newWorld(t, Config{}).stable(2).do(join(known(0), listX)).do(Event{Kind: MemberTimer, Slot: 0}).want().cites(SessionParkedIgnored)
	w.do(join(known(1), listX)).want("join 0 0 members", "caller 0").timer(SessionTimer, 0, SessionOfSlot).cites(SessionRenewedByCompletion)
	// 3.1-prep: one that has not rejoined expires, and the join completes.
	newWorld(t, Config{}).stable(2).do(join(known(0), listX)).do(Event{Kind: MemberTimer, Slot: 1}).want("join 0 0 members").phase(CompletingRebalance)
	// 3.1-stable
	newWorld(t, Config{}).stable(1).do(Event{Kind: MemberTimer}).want().phase(Empty).generation(NextGeneration)
	// 3.1-sync: parked in SyncGroup.
	newWorld(t, Config{}).completing(2).do(sync(1)).do(Event{Kind: MemberTimer, Slot: 1}).want().phase(CompletingRebalance)
	// 3.1-comp: the leader is silent.
	newWorld(t, Config{}).completing(2).do(sync(1)).do(Event{Kind: MemberTimer, Slot: 0}).want("sync 1 27").phase(PreparingRebalance)
}
