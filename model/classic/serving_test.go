package classic

import "testing"

func TestTurnedAway(t *testing.T) {
	// §2.0.3, DF1-DF3
	unknown := Ref{Kind: UnknownID}
	tests := []struct {
		name                  string
		event                 Event
		loading, loadingScala string
		elsewhere, scala      string // not the coordinator
	}{
		{"join", join(unknown, listX), "caller 14", "caller 14", "caller 16", "caller 16"},
		{"join, bad session", Event{Kind: JoinGroup, Ref: unknown, BadSession: true}, "caller 26", "caller 14", "caller 26", "caller 16"},
		{"join, no group", Event{Kind: JoinGroup, BadGroup: true}, "caller 24", "caller 24", "caller 24", "caller 24"},
		{"sync", Event{Kind: SyncGroup, Ref: unknown}, "caller 14", "caller 27", "caller 16", "caller 16"},
		{"sync, no protocol", Event{Kind: SyncGroup, NoProtocol: true}, "caller 23", "caller 23", "caller 23", "caller 23"},
		{"heartbeat", Event{Kind: Heartbeat, Ref: unknown}, "caller 0", "caller 0", "caller 16", "caller 16"},
		{"leave", leave(unknown), "caller 14", "caller 14", "caller 16", "caller 16"},
		{"commit", Event{Kind: OffsetCommit, Gen: NoGen}, "caller 14", "caller 14", "caller 16", "caller 16"},
		{"txn commit v3", txn(Event{}), "caller 14", "caller 14", "caller 16", "caller 16"},
		{"txn commit v1", Event{Kind: TxnOffsetCommit, CommitVersion: 1}, "caller 15", "caller 15", "caller 16", "caller 16"},
		{"fetch", Event{Kind: OffsetFetch}, "caller 14", "caller 14", "caller 16", "caller 16"},
		{"offset delete", Event{Kind: OffsetDelete}, "caller 14", "caller 14", "caller 16", "caller 16"},
		{"describe", Event{Kind: DescribeGroups}, "caller 14", "caller 14", "caller 16", "caller 16"},
		{"delete", Event{Kind: DeleteGroups}, "caller 14", "caller 14", "caller 16", "caller 16"},
		{"list", Event{Kind: ListGroups}, "caller 14", "caller 14", "caller 0", "caller 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range []struct {
				profile Profile
				serving Serving
				want    string
			}{
				{Java, Loading, test.loading},
				{Scala, Loading, test.loadingScala},
				{Java, NoCoordinator, test.elsewhere},
				{Scala, NoCoordinator, test.scala},
			} {
				w := newWorld(t, Config{Profile: c.profile})
				w.s.Serving = c.serving
				w.do(test.event).want(c.want)
				if r := w.reply(); test.name == "join" && (r.Echo == EchoRequest) != c.profile.GateEchoes {
					t.Errorf("%s echoes %v", c.profile.Name, r.Echo)
				}
				if (w.s != State{Serving: c.serving}) {
					t.Errorf("state %+v", w.s)
				}
			}
		})
	}
}

func TestUnload(t *testing.T) {
	// 4.6
	w := newWorld(t, Config{}).stable(2).do(join(known(1), listXY)).do(Event{Kind: Unload}).want("join 1 16").cites(UnloadJoin)
	if r := w.reply(); r.Echo != EchoFormer || r.Member != 1 || w.s != (State{Serving: NoCoordinator}) || len(w.records) > 0 {
		t.Errorf("answer %+v, state %+v", r, w.s)
	}
	w.timer(SessionTimer, 0, Cancel).timer(SessionTimer, 1, Cancel).timer(GroupJoinTimer, 0, Cancel)
	newWorld(t, Config{}).completing(2).do(sync(1)).do(Event{Kind: Unload}).want("sync 1 16").cites(UnloadSync)
}

func alone(_, protocol uint8) uint8 {
	return map[uint8]uint8{protoX: listX, protoY: listY}[protocol]
}

func TestLoad(t *testing.T) {
	// C74, C75, 4.4: a Stable group, with lists of two; the record of a leader's SyncGroup that is being written; an Empty one.
	w := newWorld(t, Config{SyncInFlight: true}).completing(2).do(sync(0, 1, 2))
	written := Durable(&w.s, alone)
	w.do(Event{Kind: Unload}).do(Event{Kind: LoadStarts}).do(Event{Kind: Loaded, Record: &written}).want().phase(Stable).generation(LoadedGeneration)
	if w.s.Slots[0].Given != 1 || w.s.Slots[1].Given != 2 || !w.s.Slots[0].Leader || w.s.SyncTimer || w.last.Offsets != LoadOffsets {
		t.Errorf("loaded %+v", w.s)
	}
	w.timer(SessionTimer, 0, SessionOfSlot).timer(SessionTimer, 1, SessionOfSlot)
	// C76: the follower's full list has two protocols, of which the loaded one knows one.
	w = newWorld(t, Config{}).do(joinOld(listXY)).do(sync(0, 1))
	r := Durable(&w.s, alone)
	w.do(Event{Kind: Unload}).do(Event{Kind: Loaded, Record: &r}).phase(Stable)
	if w.s.Slots[0].List != listX && w.s.Slots[0].List != listY {
		t.Errorf("list %d", w.s.Slots[0].List)
	}
	// 4.4-4: a simple group; nothing at all.
	w = newWorld(t, Config{}).do(Event{Kind: OffsetCommit, Gen: NoGen})
	r = Durable(&w.s, alone)
	w.do(Event{Kind: Unload}).do(Event{Kind: Loaded, Record: &r}).phase(Empty)
	if !w.s.Offsets || !w.s.FirstGen {
		t.Errorf("loaded %+v", w.s)
	}
	w.do(Event{Kind: Unload}).do(Event{Kind: Loaded}).phase(Absent).generation(ResetGeneration)
	// C68: a limit that has been lowered.
	w = newWorld(t, Config{}).stable(3)
	r = Durable(&w.s, alone)
	w = newWorld(t, Config{MaxSize: 2}).do(Event{Kind: Unload}).do(Event{Kind: Loaded, Record: &r}).phase(PreparingRebalance).cites(MaxSizeLoad)
	w.do(join(known(1), listX)).do(join(known(2), listX)).do(join(known(0), listX)).want("caller 81")
}
