package classic

import "testing"

func instance(slot int8) Instance { return Instance{Kind: KnownInstance, Slot: slot} }

var newInstance = Instance{Kind: UnknownInstance}

// in is the JoinGroup of an instance without member id, version 9.
func in(i Instance, list uint8) Event {
	return Event{Kind: JoinGroup, Instance: i, Type: consumer, List: list, NeedsID: true, Skips: true}
}

// named gives an event an instance id.
func named(e Event, i Instance) Event {
	e.Instance = i
	return e
}

// statics brings the world to a Stable group of n static members in slots 0..n-1; slot 0 leads, slot i has assignment i+1.
func (w *world) statics(n int, list uint8) *world {
	w.t.Helper()
	w.staticsCompleting(n, list)
	for i := 1; i < n; i++ {
		w.do(sync(int8(i)))
	}
	return w.do(sync(0, 1, 2, 3, 4)).phase(Stable)
}

func (w *world) staticsCompleting(n int, list uint8) *world {
	w.t.Helper()
	for i := range n {
		w.do(in(newInstance, list)).cites(StaticJoins)
		for j := range i {
			w.do(join(known(int8(j)), list))
		}
	}
	return w.phase(CompletingRebalance)
}

func (w *world) reply() Reply {
	w.t.Helper()
	if len(w.replies) != 1 {
		w.t.Fatalf("%d answers, want one", len(w.replies))
	}
	return w.replies[0]
}

func TestReplacedInStable(t *testing.T) {
	// C58-C60, 1.9-gr: the leader, with version 9 and 8, and a follower.
	w := newWorld(t, Config{}).statics(2, listX)
	mid := *w
	w.do(in(instance(0), listX)).want("caller 0 members").phase(Stable).generation(SameGeneration).cites(StaticReplacedStable).timer(SessionTimer, 0, FormerSession)
	if r := w.reply(); !r.Skip || r.Leader != 0 || r.FormerLeader || r.Echo != EchoSlot || w.last.Rekeyed != 0 || w.last.Updated != 0 || w.last.Minted >= 0 {
		t.Errorf("a replaced leader is answered %+v", r)
	}
	if len(w.records) != 1 || w.records[0].Kind != GroupRecord || w.s.Slots[0].Given != 1 {
		t.Errorf("records %v, state %+v", w.records, w.s)
	}
	*w = mid
	old := in(instance(0), listX)
	old.Skips = false
	w.do(old).want("caller 0").cites(StaticReplacedLeaderOld)
	if r := w.reply(); r.Skip || !r.FormerLeader || r.Leader != 0 {
		t.Errorf("a replaced leader of version 8 is answered %+v", r)
	}
	*w = mid
	w.do(in(instance(1), listX)).want("caller 0").phase(Stable)
	w.do(sync(1)).want("caller 0")
	if w.reply().Member != 1 || w.s.Slots[1].Given != 2 {
		t.Errorf("the replaced follower has lost its assignment: %+v", w.s)
	}
}

func TestReplacedVote(t *testing.T) {
	// 1.2 T9: the only member chooses again.
	w := newWorld(t, Config{}).statics(1, listXY)
	w.do(in(instance(0), listYX)).want("caller 0 members").phase(CompletingRebalance).generation(NextGeneration).cites(StaticReplacedVote)
	if w.s.Protocol != protoY {
		t.Errorf("protocol %d, want y", w.s.Protocol)
	}
}

func TestReplacedElsewhere(t *testing.T) {
	// C62: in CompletingRebalance, the former SyncGroup waiting.
	w := newWorld(t, Config{}).staticsCompleting(2, listX).do(sync(1))
	w.do(in(instance(1), listX)).want("sync 1 82").phase(PreparingRebalance).cites(StaticReplacedCompleting).cites(StaticReplacedSync)
	// C63: the former JoinGroup waiting, which gets the former id back.
	w.do(in(instance(1), listX)).want("join 1 82").phase(PreparingRebalance).cites(StaticReplacedJoin)
	if r := w.reply(); r.Echo != EchoFormer || r.Member != 1 {
		t.Errorf("the former JoinGroup is answered %+v", r)
	}
	w.do(join(known(0), listX)).want("caller 0 members", "join 1 0").phase(CompletingRebalance)
	// 2.4 let it pass.
	old, err := ProfileFor("2.4")
	if err != nil {
		t.Fatal(err)
	}
	w = newWorld(t, Config{Profile: old}).staticsCompleting(2, listX)
	w.do(in(instance(1), listX)).want("caller 0").phase(CompletingRebalance).generation(SameGeneration)
}

func TestReplacedNew(t *testing.T) {
	// DF14: a new static member that waits is replaced; its session ends.
	for _, test := range []struct {
		profile Profile
		answers []string
	}{{Java, nil}, {Scala, []string{"join 1 25"}}} {
		w := newWorld(t, Config{Profile: test.profile}).statics(1, listX).do(in(newInstance, listX)).want()
		w.do(in(instance(1), listX)).want("join 1 82").timer(SessionTimer, 1, FormerSession)
		w.do(Event{Kind: MemberTimer, Slot: 1}).want(test.answers...)
	}
}

func TestReplacementNotWritten(t *testing.T) {
	// DF13: the former id is back; what is left of the list.
	for _, test := range []struct {
		profile Profile
		list    uint8
	}{{Java, listX}, {Scala, listXY}} {
		w := newWorld(t, Config{Profile: test.profile}).statics(2, listX)
		before := w.s
		e := in(instance(1), listXY)
		e.Write = WriteFailed
		w.do(e).want("caller 15").phase(Stable).timer(SessionTimer, 1, SessionOfSlot)
		before.Slots[1].List = test.list
		if r := w.reply(); w.s != before || w.last.Rekeyed >= 0 || w.last.Updated >= 0 || r.Echo != EchoNone || !r.Filled || r.Leader != 0 {
			t.Errorf("%s: %+v, answer %+v", test.profile.Name, w.s, r)
		}
	}
}

func TestStaleSync(t *testing.T) {
	// C65, 1.9-8: the new id has synced, and the sync timer fires all the same.
	ready := func(p Profile) *world {
		w := newWorld(t, Config{Profile: p}).staticsCompleting(2, listX).do(sync(0, 1, 2)).phase(Stable)
		return w.do(in(instance(1), listX)).want("caller 0").do(sync(1)).want("caller 0")
	}
	w := ready(Java).do(Event{Kind: SyncTimer}).phase(PreparingRebalance)
	if w.members() != 2 || w.s.StaleSync {
		t.Errorf("state %+v", w.s)
	}
	if w = ready(Reference); w.s.SyncTimer {
		t.Errorf("in the reference the sync timer still runs: %+v", w.s)
	}
}

func (w *world) members() (n int) {
	for i := range w.s.Slots {
		n += int(bit(w.s.Slots[i].Kind == Member, 0))
	}
	return n
}

func TestFenced(t *testing.T) {
	// C61, 2.0.4: with an instance that another id has; with one that nobody has; with none.
	unknown := Ref{Kind: UnknownID}
	old, err := ProfileFor("2.8")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		event Event
		code  string
	}{
		{"join", named(join(unknown, listX), instance(0)), "caller 82"},
		{"join, protocol first (C6)", named(join(unknown, listY), instance(0)), "caller 23"},
		{"sync", Event{Kind: SyncGroup, Ref: unknown, Instance: instance(0), Gen: OtherGen}, "caller 82"},
		{"heartbeat", Event{Kind: Heartbeat, Ref: unknown, Instance: instance(0)}, "caller 82"},
		{"heartbeat of the other", named(beat(1), instance(0)), "caller 82"},
		{"commit", Event{Kind: OffsetCommit, Ref: unknown, Instance: instance(0)}, "caller 82"},
		{"commit without id (C42)", Event{Kind: OffsetCommit, Instance: instance(0), Gen: NoGen}, "caller 82"},
		{"txn commit", Event{Kind: TxnOffsetCommit, Ref: unknown, Instance: instance(0)}, "caller 82"},
		{"unmapped (2.0.4-1)", named(beat(0), newInstance), "caller 25"},
		{"optional (2.0.4-4)", beat(0), "caller 0"},
	} {
		t.Run(test.name, func(t *testing.T) { newWorld(t, Config{}).statics(2, listX).do(test.event).want(test.code) })
	}
	newWorld(t, Config{Profile: old}).statics(1, listX).do(named(beat(0), newInstance)).want("caller 0").cites(StaticUnmapped)
	// JG10: a pending id with an instance id.
	w := newWorld(t, Config{}).do(join(Ref{}, listX)).do(named(join(known(0), listX), newInstance)).want("caller -1")
	w.do(join(known(0), listX)).want("caller 0 members")
}

func TestStaticsRetained(t *testing.T) {
	// C23, C25: the leader, static, does not join again: it stays, and another one leads.
	w := newWorld(t, Config{}).statics(2, listX).do(join(known(1), listXY)).want()
	w.do(Event{Kind: JoinTimer}).want("join 1 0 members").phase(CompletingRebalance).cites(StaticRetained)
	if w.members() != 2 || w.s.Slots[0].Leader || !w.s.Slots[0].OwesSync {
		t.Errorf("state %+v", w.s)
	}
	w.timer(SessionTimer, 0, SessionOfSlot)
	// C24, L2: nobody joins again.
	w = newWorld(t, Config{}).statics(2, listX).do(leave(known(1))).want("caller 0 [0]").phase(PreparingRebalance)
	w.do(Event{Kind: JoinTimer}).want().phase(PreparingRebalance).generation(SameGeneration).timer(GroupJoinTimer, 0, MaxRebalance).cites(StaticNobodyJoined)
	w.do(beat(0)).want("caller 27").do(Event{Kind: MemberTimer, Slot: 0}).phase(Empty).generation(NextGeneration)
}

func TestLeaveByInstance(t *testing.T) {
	// C52, C54: by instance, fenced, twice, by id alone.
	w := newWorld(t, Config{}).statics(3, listX)
	e := leave(Ref{}, known(1), Ref{}, known(2))
	e.Instances = []Instance{instance(0), instance(2), instance(0), {}}
	w.do(e).want("caller 0 [0 82 25 0]").phase(PreparingRebalance).cites(LeaveInstance)
	if w.members() != 1 || w.s.Slots[1].Kind != Member {
		t.Errorf("state %+v", w.s)
	}
}

func TestLeaveOneByOne(t *testing.T) {
	// DF9: the join timer's length.
	for _, test := range []struct {
		profile Profile
		also    uint16
	}{{Java, 0}, {Scala, 1 << 1}} {
		w := newWorld(t, Config{Profile: test.profile}).stable(3).do(leave(known(0), known(1))).want("caller 0 [0 0]").phase(PreparingRebalance)
		if got := joinTimerOf(w); got != (TimerEffect{Timer: GroupJoinTimer, For: MaxRebalance, Also: test.also}) {
			t.Errorf("%s: join timer %+v", test.profile.Name, got)
		}
	}
	// One member is missing. When it leaves, the join completes with the two others, who then leave: two generations.
	w := newWorld(t, Config{Profile: Scala}).stable(3).do(join(known(1), listXY)).do(join(known(2), listX))
	w.do(leave(known(0), known(1), known(2))).phase(Empty).generation(SecondGeneration)
	if len(w.replies) != 3 || !w.replies[0].Midway || w.replies[2].Midway || w.last.Midway == nil || w.last.Midway.Phase != CompletingRebalance {
		t.Errorf("answers %+v, midway %+v", w.replies, w.last.Midway)
	}
	newWorld(t, Config{}).stable(3).do(join(known(1), listXY)).do(join(known(2), listX)).
		do(leave(known(0), known(1), known(2))).phase(Empty).generation(NextGeneration)
}

func joinTimerOf(w *world) TimerEffect {
	for _, e := range w.timers {
		if e.Timer == GroupJoinTimer {
			return e
		}
	}
	return TimerEffect{}
}
