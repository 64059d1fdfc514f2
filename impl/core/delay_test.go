package core_test

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

const delay = 1500 * time.Millisecond

func delayed(s *core.Settings) { s.InitialRebalanceDelay = delay }

// memberReq is a JoinGroup v3 with this rebalance timeout.
func (r *rig) newMember(rebalanceTimeout time.Duration) core.Ticket {
	r.Helper()
	req := joinReq("g", "")
	req.RebalanceTimeoutMillis = int32(rebalanceTimeout.Milliseconds())
	return r.send(req, 3)
}

// until advances in steps of 100 ms and returns when the ticket was answered.
func (r *rig) until(ticket core.Ticket) time.Duration {
	r.Helper()
	start := r.sim.Now()
	for r.parked(ticket) && r.sim.Now().Sub(start) < time.Minute {
		r.advance(100 * time.Millisecond)
	}
	return r.sim.Now().Sub(start)
}

// §1.5, C79: a second member after 1 s extends the delay, up to the rebalance timeout of the first.
func TestInitialDelay(t *testing.T) {
	for _, test := range []struct {
		name    string
		timeout time.Duration
		second  bool
		want    time.Duration
		members int
	}{
		{"alone (C79a)", time.Minute, false, 1500 * time.Millisecond, 1},
		{"extended (C79b)", time.Minute, true, 3000 * time.Millisecond, 2},
		{"extended to the rebalance timeout (C79c)", 2 * time.Second, true, 2000 * time.Millisecond, 2},
		{"shorter rebalance timeout (C79d)", 500 * time.Millisecond, true, 1500 * time.Millisecond, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, delayed)
			first := r.newMember(test.timeout)
			r.wantState("g", "PreparingRebalance")
			if test.second {
				r.advance(time.Second)
				r.newMember(test.timeout)
				test.want -= time.Second
			}
			if took := r.until(first); took != test.want {
				t.Errorf("took %v, want %v", took, test.want)
			}
			if got := r.joined(first); got.Generation != 1 || len(got.Members) != test.members {
				t.Errorf("%+v", got)
			}
		})
	}
}

// §5.1 DF5, C80: also after the group has been emptied.
func TestInitialDelayOfUsedGroup(t *testing.T) {
	r := newRig(t, delayed)
	first := r.newMember(time.Minute)
	r.until(first)
	r.leave("g", r.joined(first).MemberID)
	second := r.newMember(time.Minute)
	r.advance(time.Second)
	r.newMember(time.Minute)
	if took := r.until(second); took != 2*time.Second {
		t.Errorf("took %v more, want 2s", took)
	}
	if got := r.joined(second); got.Generation != 3 {
		t.Errorf("%+v", got)
	}
}

// §1.5 (delay.flag): a member that came when the delay could not be extended any more does not extend the group's next one.
func TestInitialDelayStartsAfresh(t *testing.T) {
	r := newRig(t, delayed)
	a := r.newMember(time.Second)
	b := r.newMember(time.Second) // rest is 0: not extended
	r.until(a)
	r.leave("g", r.joined(a).MemberID, r.joined(b).MemberID)
	alone := r.newMember(time.Minute)
	if took := r.until(alone); took != delay {
		t.Errorf("took %v, want %v", took, delay)
	}
}

// Joins and leaves do not end the delay; nor do pending ids prolong it (§1.5). All leave: still preparing, then Empty (C57).
func TestInitialDelayLeaves(t *testing.T) {
	r := newRig(t, delayed)
	a := r.newMember(time.Minute)
	r.advance(100 * time.Millisecond)
	ids := r.describe("g").Members
	r.id("g") // pending
	r.leave("g", ids[0].MemberID)
	if got := r.joined(a); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("%+v", got)
	}
	r.wantState("g", "PreparingRebalance")
	if got := r.remove("g"); got[0].ErrorCode != core.NonEmptyGroup {
		t.Errorf("%+v", got)
	}
	if got := r.joined(r.send(joinReq("g", "x", "other"), 9)); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("any protocol will do while nobody is there (§1.7): %+v", got)
	}
	r.advance(delay - 100*time.Millisecond)
	r.wantState("g", "Empty")
	if got := r.remove("g"); got[0].ErrorCode != 0 {
		t.Errorf("%+v", got)
	}
}

// §5.1 DF6: a pending id that expires ends the delay where all others have joined.
func TestInitialDelayEndsEarly(t *testing.T) {
	r := newRig(t, func(s *core.Settings) { s.InitialRebalanceDelay = time.Minute })
	r.id("g")
	a := r.newMember(time.Minute)
	if took := r.until(a); took != session {
		t.Errorf("took %v, want %v", took, session)
	}
}

// However many members come, the delay ends after the rebalance timeout (§1.5, §7.3 L1).
func TestInitialDelayIsBounded(t *testing.T) {
	r := newRig(t, delayed)
	first := r.newMember(3500 * time.Millisecond)
	for range 3 {
		r.advance(900 * time.Millisecond)
		r.newMember(time.Minute)
	}
	if took := r.until(first); took != 800*time.Millisecond {
		t.Errorf("took %v more, want 800ms", took)
	}
}
