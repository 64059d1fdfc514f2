package core_test

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// stuck makes a log that takes records, but does not get them replicated in time.
func (r *rig) stuck() { r.sim.FailWrites(core.RequestTimedOut) }

// works lets a log that was stuck catch up.
func (r *rig) works() {
	r.Helper()
	r.sim.FailWrites(core.None)
	r.sim.Step(core.TopicsDeleted{})
	r.look()
}

// §2.6.3, ISR-DF19, ISR-vis: a commit that is too late is answered so, and seen when it is durable after all.
func TestLateCommit(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.stuck()
	if code := r.committed(r.send(commitReq("g", "", -1, "t", 2), 9)); code != core.CoordinatorNotAvailable || r.fetch("g") != 1 {
		t.Errorf("%d, offset %d", code, r.fetch("g"))
	}
	if code := r.txnCommitted(r.send(txnReq("g", "", -1, 1, "u", 2), 3)); code != core.CoordinatorNotAvailable {
		t.Errorf("TxnOffsetCommit: %d", code)
	}
	if code := r.committed(r.send(commitReq("new", "", -1, "t", 3), 9)); code != core.CoordinatorNotAvailable {
		t.Errorf("of a new group: %d", code)
	}
	r.works()
	if r.fetch("g") != 2 || r.fetch("new") != 3 {
		t.Errorf("offsets %d, %d", r.fetch("g"), r.fetch("new"))
	}
	if r.mark(1, true); len(r.logged()) != 3 {
		t.Errorf("%+v", r.logged())
	}
}

// Verified item 13: what waits for a late write is answered as late, each in its own way; what does not wait goes on.
func TestBehindLateWrite(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 2)
	r.commit("g", ids[0], gen, 1)
	r.stuck()
	r.commit("g", ids[0], gen, 2)
	for range 2 { // those who come later, too
		if code := r.beat("g", ids[0], gen); code != core.CoordinatorNotAvailable {
			t.Errorf("Heartbeat: %d", code)
		}
		if code := r.beat("g", "nobody", gen); code != core.UnknownMemberID {
			t.Errorf("Heartbeat of a stranger: %d", code)
		}
		req := kmsg.NewPtrOffsetFetchRequest()
		req.RequireStable = true
		req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
		if got := answer[*kmsg.OffsetFetchResponse](r, r.send(req, 9)); got.Groups[0].ErrorCode != core.NotCoordinator {
			t.Errorf("stable OffsetFetch: %+v", got)
		}
		if at := r.fetch("g"); at != 1 {
			t.Errorf("plain OffsetFetch: %d", at)
		}
		if got := r.joined(r.join("g", "")); got.ErrorCode != core.MemberIDRequired {
			t.Errorf("JoinGroup: %+v", got)
		}
		if s := r.synced(r.sync("g", ids[1], gen)); string(s.MemberAssignment) != "a1" {
			t.Errorf("SyncGroup: %+v", s)
		}
		if got := r.leave("g", "nobody"); got.ErrorCode != core.CoordinatorNotAvailable {
			t.Errorf("LeaveGroup: %+v", got)
		}
		if top, _ := r.offsetDelete("g"); top != core.CoordinatorNotAvailable {
			t.Errorf("OffsetDelete: %d", top)
		}
		if got := r.remove("nosuch"); got[0].ErrorCode != core.CoordinatorNotAvailable {
			t.Errorf("DeleteGroups: %+v", got)
		}
	}
	r.works()
	if code := r.beat("g", ids[0], gen); code != 0 || r.fetch("g") != 2 {
		t.Errorf("afterwards: %d, %d", code, r.fetch("g"))
	}
}

// Verified item 4: a group whose first record is late stays, with its pending ids; a JoinGroup that waits is told, and its member stays
// until the join completes without it.
func TestLateCreation(t *testing.T) {
	r := newRig(t, delayed)
	r.stuck()
	pending := r.id("g")
	parked := r.joined(r.send(joinReq("h", ""), 3))
	if parked.ErrorCode != core.CoordinatorNotAvailable || parked.MemberID != "" || parked.Generation != -1 {
		t.Errorf("%+v", parked)
	}
	if d := r.describe("h"); d.State != "PreparingRebalance" || len(d.Members) != 1 {
		t.Errorf("%+v", d)
	}
	r.works()
	if got := r.join("g", pending); r.until(got) != delay || r.joined(got).ErrorCode != 0 {
		t.Errorf("the pending id: %+v", r.joined(got))
	}
	r.wantState("h", "Empty")
}

// Verified item 3: a deletion that is late is answered so, and done when it is durable. What the group is asked meanwhile is not left
// hanging.
func TestLateDeletion(t *testing.T) {
	r := newRig(t, cleaning)
	pending := r.id("g")
	r.commit("g", "", -1, 1)
	r.commit("h", "", -1, 1)
	r.id("i")
	r.stuck()
	if got := r.remove("g", "nosuch"); got[0].ErrorCode != core.CoordinatorNotAvailable || got[1].ErrorCode != core.GroupIDNotFound {
		t.Errorf("%+v", got)
	}
	if top, _ := r.offsetDelete("h", "t"); top != core.CoordinatorNotAvailable || r.fetch("h") != 1 {
		t.Errorf("OffsetDelete: %d", top)
	}
	for range 2 {
		if got := r.joined(r.join("g", pending)); got.ErrorCode != core.CoordinatorNotAvailable {
			t.Errorf("%+v", got)
		}
		if code := r.committed(r.send(commitReq("g", "", -1, "t", 1), 9)); code != core.CoordinatorNotAvailable {
			t.Errorf("%d", code)
		}
	}
	r.wantState("g", "Empty")
	r.advance(interval) // the cleanup is late too
	if got := r.joined(r.join("i", "")); got.ErrorCode != core.CoordinatorNotAvailable {
		t.Errorf("%+v", got)
	}
	r.works()
	r.wantState("g", "Dead")
	r.wantState("i", "Dead")
	if r.fetch("g") != -1 || r.fetch("h") != -1 || len(r.takeReports()) > 0 {
		t.Errorf("left: %d, %d", r.fetch("g"), r.fetch("h"))
	}
}

// A late marker: the coordinator of transactions sends it again, and either of the two does.
func TestLateMarker(t *testing.T) {
	r := newRig(t)
	r.txn("g", 1, 10)
	r.stuck()
	r.sim.Step(core.Marker{Producer: core.Producer{ID: 1}, Commit: true})
	if out := r.sim.Drain(); len(out.Marked) != 1 || out.Marked[0].Code != core.NotLeaderOrFollower || r.fetch("g") != -1 {
		t.Errorf("%+v", out.Marked)
	}
	r.works()
	if r.mark(1, true); r.fetch("g") != 10 {
		t.Errorf("offset %d", r.fetch("g"))
	}
}

// Late assignments, Empty groups and replacements have been answered; that they are durable after all changes nothing in memory.
func TestLateGroupRecords(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 2)
	static, staticGen := r.staticGroup("s", 1)
	last, _ := r.stable("l", 1)
	r.stuck()
	follower := r.sync("g", ids[1], gen)
	if got := r.synced(r.sync("g", ids[0], gen, ids[0]+"=x")); got.ErrorCode != core.CoordinatorNotAvailable || r.synced(follower).ErrorCode != core.CoordinatorNotAvailable {
		t.Errorf("%+v", got)
	}
	replaced := r.joined(r.static("s", "i0"))
	if got := r.leave("l", last[0]); got.ErrorCode != core.CoordinatorNotAvailable || replaced.ErrorCode != core.CoordinatorNotAvailable {
		t.Errorf("LeaveGroup %+v, JoinGroup %+v", got, replaced)
	}
	r.takeReports()
	r.works()
	r.wantState("g", "PreparingRebalance")
	r.wantState("l", "Empty")
	if code := r.beat("s", static[0], staticGen); code != 0 {
		t.Errorf("the former id: %d", code)
	}
	r.failover() // but the log has them (§4.3)
	r.wantState("g", "Stable")
	r.wantState("l", "Empty")
	if code := r.beat("s", static[0], staticGen); code != core.UnknownMemberID {
		t.Errorf("the former id after a failover: %d", code)
	}
}

// A write that was late and is then lost has had no effect. Acknowledging a later one acknowledges those before it.
func TestLateAndLost(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.sim.HoldWrites(true)
	a := r.send(commitReq("g", "", -1, "t", 2), 9)
	b := r.send(commitReq("h", "", -1, "t", 3), 9)
	c := r.send(commitReq("g", "", -1, "u", 4), 9)
	open := r.appends[len(r.appends)-3:]
	for _, w := range open[:2] {
		r.sim.Step(core.Appended{ID: w.ID, Code: core.RequestTimedOut})
	}
	r.look()
	if r.committed(a) != core.CoordinatorNotAvailable || r.committed(b) != core.CoordinatorNotAvailable {
		t.Error("not answered")
	}
	r.sim.Step(core.Appended{ID: open[0].ID, Code: core.NotLeaderOrFollower})
	r.sim.Step(core.Appended{ID: open[2].ID})
	r.look()
	if r.committed(c) != 0 || r.fetch("g") != 1 || r.fetch("h") != 3 {
		t.Errorf("offsets %d, %d", r.fetch("g"), r.fetch("h"))
	}
	if states := []string{r.describe("g").State, r.describe("h").State}; !slices.Equal(states, []string{"Empty", "Empty"}) {
		t.Errorf("%v", states)
	}
}
