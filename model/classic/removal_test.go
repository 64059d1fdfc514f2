package classic

import "testing"

func txn(e Event) Event {
	e.Kind, e.CommitVersion = TxnOffsetCommit, 3
	return e
}

func TestTxnOffsetCommit(t *testing.T) {
	// TX1-TX7, C50, C51
	for _, test := range []struct {
		name    string
		profile Profile
		setup   func(*world)
		event   Event
		code    string
		phase   Phase
	}{
		{"C8b", Java, func(*world) {}, Event{BadGroup: true}, "caller 24", Absent},
		{"TX1", Java, func(*world) {}, Event{Gen: NoGen}, "caller 0", Empty},
		{"TX2", Java, func(*world) {}, Event{Gen: OtherGen}, "caller 22", Absent},
		{"TX2 Scala", Scala, func(*world) {}, Event{Gen: OtherGen}, "caller 25", Empty},
		{"TX4", Java, func(w *world) { w.do(join(Ref{}, listX)) }, Event{Gen: NoGen, Ref: Ref{Kind: UnknownID}}, "caller 0", Empty},
		{"TX5 unknown", Java, func(w *world) { w.stable(1) }, Event{Gen: OtherGen, Ref: Ref{Kind: UnknownID}}, "caller 25", Stable},
		{"TX5 generation", Java, func(w *world) { w.stable(1) }, Event{Gen: OtherGen, Ref: known(0)}, "caller 22", Stable},
		{"TX5 no generation", Java, func(w *world) { w.stable(1) }, Event{Gen: NoGen, Ref: known(0)}, "caller 22", Stable},
		{"TX6", Java, func(w *world) { w.stable(1) }, Event{Gen: NoGen}, "caller 0", Stable},
		{"TX7", Java, func(w *world) { w.completing(1) }, Event{Ref: known(0)}, "caller 0", CompletingRebalance},
		{"too large", Java, func(w *world) { w.stable(1) }, Event{Ref: known(0), TooLarge: true}, "caller 12", Stable},
		{"not written", Java, func(w *world) { w.stable(1) }, Event{Ref: known(0), Write: WriteFailed}, "caller 15", Stable},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, Config{Profile: test.profile})
			test.setup(w)
			w.do(txn(test.event)).want(test.code).phase(test.phase)
			if stored := test.code == "caller 0"; w.s.Open != stored || w.s.Offsets || len(w.timers) > 0 {
				t.Errorf("state %+v, timers %v", w.s, w.timers)
			}
		})
	}
}

func TestMarkers(t *testing.T) {
	commit := Event{Kind: TxnMarker, Taken: Some{Pending: true}, Left: Some{Committed: true}}
	abort := Event{Kind: TxnMarker, Aborted: true, Taken: Some{Pending: true}}
	w := newWorld(t, Config{}).do(txn(Event{Gen: NoGen}))
	mid := *w
	w.do(commit).want().cites(TxnCommits)
	if !w.s.Offsets || w.s.Open || w.last.Offsets != CommitPending {
		t.Errorf("after a commit %+v", w.s)
	}
	*w = mid
	w.do(abort).want().cites(TxnAborts)
	if w.s.Offsets || w.s.Open || w.last.Offsets != DropPending {
		t.Errorf("after an abort %+v", w.s)
	}
	before := w.s
	if w.do(Event{Kind: TxnMarker}); w.s != before || len(w.rules) > 0 {
		t.Errorf("a marker of others makes %+v of it", w.s)
	}
}

func deletion(topics Topics, taken, left Some) Event {
	return Event{Kind: OffsetDelete, Topics: topics | KnownTopics, Taken: taken, Left: left}
}

func TestOffsetDelete(t *testing.T) {
	// C70: subscribed and not, of another type, in the first rebalance, absent; C70e: metadata that cannot be read.
	tt, u, committed := TopicSet(topicT), TopicSet(topicU), Some{Committed: true}
	w := newWorld(t, Config{}).do(deletion(tt, Some{}, Some{})).want("caller 69")
	w.stable(1).do(Event{Kind: OffsetCommit, Ref: known(0)}).want("caller 0")
	w.do(deletion(tt|u, committed, Some{})).want("caller 0").cites(OffsetDeleteSubscribed)
	if w.reply().Refused != tt || w.s.Offsets || w.last.Offsets != RemoveOffsets || Refused(&w.s, w.m.lexicon, tt|u) != tt {
		t.Errorf("answer %+v, state %+v", w.reply(), w.s)
	}
	w = newWorld(t, Config{InitialDelay: true}).do(joinOld(listX)).do(deletion(u, Some{}, Some{})).want("caller 0")
	if w.reply().Refused != u {
		t.Errorf("in the first rebalance %+v is answered", w.reply())
	}
	w = newWorld(t, Config{}).do(joinOld(listY)).do(sync(0)).do(deletion(u, Some{}, Some{}))
	if w.reply().Refused != u || w.s.Subscribed.Known() {
		t.Errorf("unreadable: %+v, %+v", w.reply(), w.s)
	}
	newWorld(t, Config{}).do(Event{Kind: JoinGroup, Type: connects, List: listX}).do(deletion(u, Some{}, Some{})).want("caller 68").cites(OffsetDeleteOtherType)
	// 1.9-7: the subscription of a replacement counts from the next generation on.
	w = newWorld(t, Config{}).statics(1, listX).do(in(instance(0), listX))
	if w.s.Subscribed != tt {
		t.Errorf("subscribed %b", w.s.Subscribed)
	}
}

func TestLastOffsetDeleted(t *testing.T) {
	// DF26, C71, correction 12; a deletion that cannot be written (2.12-af).
	for _, test := range []struct {
		profile        Profile
		phase, unasked Phase
		failed         string
	}{{Java, Empty, Empty, "caller 15"}, {Scala, Absent, Absent, "caller 0"}} {
		w := newWorld(t, Config{Profile: test.profile}).do(Event{Kind: OffsetCommit, Gen: NoGen})
		last := deletion(TopicSet(topicT), Some{Committed: true}, Some{})
		mid := *w
		w.do(last).want("caller 0").phase(test.phase).cites(OffsetDeleteLast)
		*w = mid
		last.Write = WriteFailed
		w.do(last).want(test.failed)
		if kept := w.s == mid.s; kept != test.profile.WritesReported {
			t.Errorf("%s: after a failed write %+v", test.profile.Name, w.s)
		}
		newWorld(t, Config{Profile: test.profile}).stable(1).do(leave(known(0))).do(deletion(TopicSet(topicT), Some{}, Some{})).phase(test.unasked)
		newWorld(t, Config{Profile: test.profile}).stable(1).do(leave(known(0))).do(deletion(KnownTopics, Some{}, Some{})).phase(Empty) // C70f
	}
}

func TestCleanup(t *testing.T) {
	// 3.5, L7, correction 2
	clean := Event{Kind: Cleanup, Taken: Some{Committed: true}}
	commit := Event{Kind: OffsetCommit, Gen: NoGen}
	newWorld(t, Config{}).do(commit).do(clean).phase(Absent).cites(ExpirySimple).cites(CleanupRemoves)
	newWorld(t, Config{}).do(join(Ref{}, listX)).do(Event{Kind: Cleanup}).phase(Absent)
	newWorld(t, Config{}).stable(1).do(leave(known(0))).do(commit).do(clean).phase(Absent).cites(ExpiryEmpty)
	member := Event{Kind: OffsetCommit, Ref: known(0)}
	w := newWorld(t, Config{}).stable(1).do(member).do(clean).phase(Stable).cites(ExpiryUnsubscribed)
	if w.s.Offsets {
		t.Errorf("state %+v", w.s)
	}
	// KAFKA-13636: nothing expires while the group rebalances, but in old releases.
	old, err := ProfileFor("3.1.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		profile Profile
		expiry  Expiry
	}{{Java, NothingExpires}, {old, UnsubscribedCommit}} {
		w = newWorld(t, Config{Profile: test.profile}).stable(2).do(member).do(join(known(1), listXY)).phase(PreparingRebalance).do(clean)
		if got := w.m.Expiry(&w.s); got != test.expiry || w.s.Offsets != (test.expiry == NothingExpires) {
			t.Errorf("%s: expiry %d, state %+v", test.profile.Name, got, w.s)
		}
	}
	bad, err := ProfileFor("4.0.0")
	if err != nil {
		t.Fatal(err)
	}
	newWorld(t, Config{}).do(txn(Event{Gen: NoGen})).do(Event{Kind: Cleanup}).phase(Empty).cites(CleanupPending)
	newWorld(t, Config{Profile: bad}).do(txn(Event{Gen: NoGen})).do(Event{Kind: Cleanup}).phase(Absent)
}
