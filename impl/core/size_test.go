package core_test

import (
	"slices"
	"testing"

	"github.com/muster-kafka/muster/impl/core"
)

func atMost(n int) func(*core.Settings) { return func(s *core.Settings) { s.MaxSize = n } }

func (r *rig) wantFull(what string, t core.Ticket) {
	r.Helper()
	got := r.joined(t)
	if got.ErrorCode != core.GroupMaxSizeReached || got.MemberID != "" || got.Generation != -1 || got.Protocol != nil || got.LeaderID != "" {
		r.Errorf("%s: %+v, want GROUP_MAX_SIZE_REACHED", what, got)
	}
}

// max-size.refuses, max-size.first (C66, C67): pending ids do not count, and a full group lets nobody in but its members.
func TestMaxSize(t *testing.T) {
	r := newRig(t, atMost(2))
	for range 4 {
		r.leave("g", r.id("g"), r.id("g")) // an Empty group hands out as many ids as are asked for
	}
	ids, gen := r.staticGroup("g", 2)

	r.wantFull("a new member", r.join("g", ""))
	r.wantFull("an unknown id", r.join("g", "q"))
	r.wantFull("a protocol that nobody has", r.join("g", "", "other"))
	r.wantFull("an instance that is there", r.static("g", "i1"))
	if got := r.joined(r.send(staticReq("g", ids[1], "i1"), 9)); got.ErrorCode != 0 || got.Generation != gen {
		t.Errorf("a member: %+v", got)
	}
	r.wantState("g", "Stable")
}

func (r *rig) wantUnknown(t core.Ticket) {
	r.Helper()
	if got := r.joined(t); got.ErrorCode != core.UnknownMemberID {
		r.Errorf("%+v, want UNKNOWN_MEMBER_ID", got)
	}
}

// max-size.forgets: a pending id that finds no room is gone.
func TestMaxSizePending(t *testing.T) {
	r := newRig(t, atMost(2))
	ids, _ := r.stable("g", 1)
	pending := r.id("g")
	static := r.static("g", "i")
	a := r.join("g", ids[0])
	r.wantParked("for the pending id", static, a)
	r.wantFull("the pending id", r.join("g", pending))
	if r.joined(static).Generation != 2 || r.joined(a).Generation != 2 {
		t.Error("nobody is waited for any more")
	}
	r.wantFull("as a stranger", r.join("g", pending))
	r.leave("g", r.joined(static).MemberID)
	r.wantUnknown(r.join("g", pending))
}

// max-size.preparing, max-size.reevaluates (the contract): the last to rejoin is evicted, and the join completes without it.
func TestMaxSizeEvicts(t *testing.T) {
	r := newRig(t, atMost(2))
	ids, gen := r.stable("g", 2)
	a := r.join("g", ids[0])
	c := r.static("g", "c")
	if again := r.join("g", ids[0]); r.parked(again) { // who waits already has its place
		a = again
	}
	r.wantFull("the late one", r.join("g", ids[1]))
	got := r.joined(a)
	if got.Generation != gen+1 || len(got.Members) != 2 || r.joined(c).Generation != gen+1 {
		t.Errorf("%+v", got)
	}
	if code := r.beat("g", ids[1], gen); code != core.UnknownMemberID {
		t.Errorf("the evicted: %d", code)
	}
	if slices.ContainsFunc(r.sim.Timers(), func(x core.Arm) bool { return x.Timer.Member == ids[1] }) {
		t.Errorf("timers: %v", r.timers())
	}
}

// §7.1 I11: static members that have not rejoined are kept beyond the limit.
func TestMaxSizeRetained(t *testing.T) {
	r := newRig(t, atMost(2))
	ids, gen := r.staticGroup("g", 2)
	r.send(staticReq("g", ids[1], "i1", "range=new"), 9)
	c := r.static("g", "c")
	r.advance(session / 2)
	r.beat("g", ids[0], gen)
	for r.parked(c) {
		r.advance(session / 2)
		r.beat("g", ids[0], gen)
	}
	if d := r.describe("g"); len(d.Members) != 3 {
		t.Errorf("%+v", d)
	}
}

// max-size.load (C68): a limit that was lowered.
func TestMaxSizeLoad(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 3)
	lower := newRig(t, atMost(2))
	lower.sim.Step(core.LoadBegin{})
	lower.sim.Step(core.Replay{Records: r.raw()})
	lower.sim.Step(core.LoadEnd{})
	lower.look()
	lower.wantState("g", "PreparingRebalance")
	b, c := lower.join("g", ids[1]), lower.join("g", ids[2])
	lower.wantParked("while one is missing", b, c)
	lower.wantFull("the last", lower.join("g", ids[0]))
	if got := lower.joined(b); got.Generation != gen+1 || len(lower.joined(c).Members)+len(got.Members) != 2 {
		t.Errorf("%+v", got)
	}
}

// raw is all that has been written, in order.
func (r *rig) raw() (records []core.Record) {
	for _, w := range r.appends {
		records = append(records, w.Records...)
	}
	return records
}
