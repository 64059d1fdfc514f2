package core_test

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

// session.expires, in each state.
func TestSessionExpires(t *testing.T) {
	t.Run("Stable, the only member", func(t *testing.T) {
		r := newRig(t)
		ids, gen := r.stable("g", 1)
		r.advance(session - time.Millisecond)
		r.wantState("g", "Stable")
		r.advance(time.Millisecond)
		r.wantState("g", "Empty")
		if code := r.beat("g", ids[0], gen); code != core.UnknownMemberID {
			t.Errorf("heartbeat: %d", code)
		}
	})
	t.Run("Stable, one of two", func(t *testing.T) {
		r := newRig(t)
		ids, gen := r.stable("g", 2)
		r.keepAlive("g", ids[1:], gen, session)
		r.wantState("g", "PreparingRebalance")
		if got := r.joined(r.join("g", ids[1])); got.LeaderID != ids[1] || len(got.Members) != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("Completing, the leader", func(t *testing.T) {
		r := newRig(t)
		ids, gen := r.generation("g", 2)
		waiting := r.sync("g", ids[1], gen)
		r.advance(session)
		if got := r.synced(waiting); got.ErrorCode != core.RebalanceInProgress {
			t.Errorf("%+v", got)
		}
		if code := r.beat("g", ids[0], gen); code != core.UnknownMemberID {
			t.Errorf("the leader's heartbeat: %d", code)
		}
	})
	t.Run("Preparing", func(t *testing.T) {
		r := newRig(t)
		ids, gen := r.stable("g", 2)
		parked := r.join("g", ids[0])
		r.advance(session)
		if got := r.joined(parked); got.Generation != gen+1 || len(got.Members) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// session.parked, session.renewed-by-completion.
func TestSessionParked(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 2)
	parked := r.join("g", ids[0])
	r.keepAlive("g", ids[1:], gen, 2*session) // more than the parked member's session
	r.wantParked("JoinGroup beyond the session", parked)
	r.joined(r.join("g", ids[1]))
	if r.parked(parked) || r.sessionLeft(ids[0]) != session || r.sessionLeft(ids[1]) != session {
		t.Errorf("timers after the join: %v", r.timers())
	}
	waiting := r.sync("g", ids[1], gen+1)
	r.keepAlive("g", ids[:1], gen+1, 2*session)
	r.wantParked("SyncGroup beyond the session", waiting)
	r.synced(r.sync("g", ids[0], gen+1))
	if r.parked(waiting) || r.sessionLeft(ids[1]) != session {
		t.Errorf("timers after the sync: %v", r.timers())
	}
}

// A member whose timer ran out while it was parked is watched again once it gives a sign of life (§3.1).
func TestSessionRearmedByHeartbeat(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 2)
	r.join("g", ids[0])
	r.keepAlive("g", ids[1:], gen, session)
	if r.sessionLeft(ids[0]) != 0 {
		t.Fatalf("timers: %v", r.timers())
	}
	r.beat("g", ids[0], gen)
	if r.sessionLeft(ids[0]) != session {
		t.Errorf("timers: %v", r.timers())
	}
}

// join.new.timeout; heartbeat.new-member, the contract: neither heartbeat nor commit shortens the five minutes.
func TestNewMemberTimeout(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	req := joinReq("g", ids[0], "range=new")
	req.RebalanceTimeoutMillis = int32(time.Hour.Milliseconds()) // so that the join timer does not end it
	pending := r.id("g")
	r.send(req, 9)
	r.leave("g", pending)
	r.sync("g", ids[0], gen+1)
	fresh := r.id("g")
	parked := r.join("g", fresh)
	if code := r.beat("g", fresh, gen+1); code != core.RebalanceInProgress {
		t.Errorf("heartbeat of a new member: %d", code)
	}
	if code := r.commit("g", fresh, gen+1, 1); code != 0 {
		t.Errorf("commit of a new member: %d", code)
	}
	r.keepAlive("g", ids, gen+1, 5*time.Minute-time.Millisecond)
	r.wantParked("just before five minutes", parked)
	r.advance(time.Millisecond)
	if got := r.joined(parked); got.ErrorCode != core.UnknownMemberID || got.MemberID != "" || got.Generation != -1 {
		t.Errorf("after five minutes: %+v", got)
	}
}

// join.pending.expires.
func TestPendingExpires(t *testing.T) {
	r := newRig(t)
	in, out := r.id("g"), r.id("g")
	r.advance(session - time.Millisecond)
	if got := r.joined(r.join("g", in)); got.ErrorCode != 0 {
		t.Errorf("in time: %+v", got)
	}
	r.advance(time.Millisecond)
	if got := r.joined(r.join("g", out)); got.ErrorCode != core.UnknownMemberID || got.MemberID != out {
		t.Errorf("late: %+v", got)
	}
}

// sync.stable.keeps-timer, join.repeat.keeps-timer, heartbeat.generation.illegal: what is no sign of life.
func TestNoSignOfLife(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 2)
	for range 9 {
		r.advance(time.Second)
		r.beat("g", ids[0], gen)
		r.join("g", ids[1])
		r.sync("g", ids[1], gen)
		r.beat("g", ids[1], gen-1)
		r.fetch("g")
	}
	r.wantState("g", "Stable")
	r.advance(time.Second)
	r.wantState("g", "PreparingRebalance")
}

// A timer that was taken back or armed anew while its expiry was on the way has no effect.
func TestStaleTimer(t *testing.T) {
	c := core.New(core.Settings{})
	var last core.Arm
	for _, e := range c.Step(time.Unix(0, 0), core.Request{Ticket: 1, Message: joinReq("g", ""), Version: 9}) {
		if a, ok := e.(core.Arm); ok {
			last = a
		}
	}
	if last.Timer.Kind != core.PendingTimer || last.After != session {
		t.Fatalf("armed: %+v", last)
	}
	for name, due := range map[string]core.TimerDue{
		"another sequence number": {Timer: last.Timer, Seq: last.Seq + 1},
		"another timer":           {Timer: core.TimerID{Group: "g", Kind: core.SyncTimer}, Seq: last.Seq},
	} {
		if effects := c.Step(last.Deadline, due); len(effects) > 0 {
			t.Errorf("%s: %+v", name, effects)
		}
	}
	if early := core.New(core.Settings{}); len(early.Step(time.Unix(0, 0), core.TimerDue{Timer: last.Timer, Seq: last.Seq})) > 0 {
		t.Error("a timer of nobody had an effect")
	}
}
