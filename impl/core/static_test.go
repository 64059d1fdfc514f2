package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// staticReq is a JoinGroup of a static member.
func staticReq(group, member, instance string, protocols ...string) *kmsg.JoinGroupRequest {
	req := joinReq(group, member, protocols...)
	req.InstanceID = &instance
	return req
}

func (r *rig) static(group, instance string, protocols ...string) core.Ticket {
	r.Helper()
	return r.send(staticReq(group, "", instance, protocols...), 9)
}

// staticGroup is a Stable group of static members "i0" (the leader), "i1", ..., with "a0", "a1", ... assigned.
func (r *rig) staticGroup(group string, n int) ([]string, int32) {
	r.Helper()
	first := r.joined(r.static(group, "i0"))
	ids := []string{first.MemberID}
	last := first
	for i := 1; i < n; i++ {
		parked := []core.Ticket{r.static(group, fmt.Sprint("i", i))}
		for k, id := range ids {
			parked = append(parked, r.send(staticReq(group, id, fmt.Sprint("i", k)), 9))
		}
		ids = append(ids, r.joined(parked[0]).MemberID)
		last = r.joined(parked[1])
	}
	var all []string
	for i, id := range ids {
		all = append(all, fmt.Sprint(id, "=a", i))
	}
	for _, id := range ids {
		if s := r.synced(r.sync(group, id, last.Generation, all...)); s.ErrorCode != 0 {
			r.Fatalf("SyncGroup: %+v", s)
		}
	}
	r.wantState(group, "Stable")
	return ids, last.Generation
}

// static.joins, static.listed: one request is enough, in every version that has instance ids, and "" is one.
func TestStaticJoins(t *testing.T) {
	for version := int16(5); version <= 9; version++ {
		for _, instance := range []string{"i", ""} {
			r := newRig(t)
			got := r.joined(r.send(staticReq("g", "", instance), version))
			if got.ErrorCode != 0 || got.Generation != 1 || got.MemberID != instance+"-1" || len(got.Members) != 1 || *got.Members[0].InstanceID != instance {
				t.Errorf("v%d: %+v", version, got)
			}
			if m := r.describe("g").Members; len(m) != 1 || *m[0].InstanceID != instance {
				t.Errorf("v%d: described as %+v", version, m)
			}
		}
	}
	r := newRig(t)
	if got := r.joined(r.send(staticReq("g", "", "i"), 4)); got.ErrorCode != core.MemberIDRequired {
		t.Errorf("version 4 has no instance ids: %+v", got)
	}
}

// static.pending: a pending id cannot become a static member's, and stays pending.
func TestStaticPending(t *testing.T) {
	r := newRig(t)
	pending := r.id("g")
	if got := r.joined(r.send(staticReq("g", pending, "i"), 9)); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("%+v", got)
	}
	if got := r.joined(r.join("g", pending)); got.ErrorCode != 0 {
		t.Errorf("without the instance id: %+v", got)
	}
}

// static.replaced.stable, .leader, .leader.old, .assignment, .record, .client (C58 to C60).
func TestReplacedInStable(t *testing.T) {
	for version := int16(5); version <= 9; version++ {
		for place := range 2 {
			r := newRig(t)
			ids, gen := r.staticGroup("g", 2)
			r.records()
			got := r.joined(r.sendAs("other", staticReq("g", "", fmt.Sprint("i", place), "range=new"), version))
			if got.ErrorCode != 0 || got.Generation != gen || got.MemberID == ids[place] || *got.Protocol != "range" {
				t.Errorf("v%d member %d: %+v", version, place, got)
			}
			leader, members, skip := ids[0], 0, false
			if place == 0 && version == 9 {
				leader, members, skip = got.MemberID, 2, true
			}
			if got.LeaderID != leader || len(got.Members) != members || got.SkipAssignment != skip {
				t.Errorf("v%d member %d: %+v", version, place, got)
			}
			r.wantState("g", "Stable")
			if recs := r.records(); !slices.Equal(recs, []string{fmt.Sprintf("g gen=%d n=2", gen)}) {
				t.Errorf("written: %v", recs)
			}
			logged := r.logged()[0].State.Members[place]
			if logged.MemberID != got.MemberID || string(logged.Subscription) != "new" || string(logged.Assignment) != fmt.Sprint("a", place) {
				t.Errorf("in the log: %+v", logged)
			}
			if s := r.synced(r.sync("g", got.MemberID, gen)); string(s.MemberAssignment) != fmt.Sprint("a", place) {
				t.Errorf("the assignment: %+v", s)
			}
			if d := r.describe("g").Members[place]; d.ClientID != "c" || d.MemberID != got.MemberID {
				t.Errorf("described as %+v", d)
			}
		}
	}
}

// static.replaced.vote: the choice would be another one.
func TestReplacedChangesVote(t *testing.T) {
	r := newRig(t)
	a := r.joined(r.static("g", "a", "x", "y")).MemberID
	b := r.static("g", "b", "x", "y")
	r.send(staticReq("g", a, "a", "x", "y"), 9)
	gen := r.joined(b).Generation
	sync := syncReq("g", a, gen)
	sync.Protocol = kmsg.StringPtr("x")
	r.send(sync, 5)
	r.wantState("g", "Stable")
	tie := r.joined(r.static("g", "b", "y", "x")) // one vote each: none that needs a rebalance
	if tie.ErrorCode != 0 || tie.Generation != gen {
		t.Errorf("a tie: %+v", tie)
	}
	r.wantParked("y wins", r.static("g", "a", "y", "x"))
	r.wantState("g", "PreparingRebalance")
	if got := r.joined(r.send(staticReq("g", tie.MemberID, "b", "y", "x"), 9)); *got.Protocol != "y" {
		t.Errorf("%+v", got)
	}
}

// static.replaced.completing, static.replaced.parked-sync (C62).
func TestReplacedInCompleting(t *testing.T) {
	r := newRig(t)
	ids, gen := r.staticGroup("g", 2)
	r.send(staticReq("g", ids[0], "i0"), 9)
	r.send(staticReq("g", ids[1], "i1"), 9)
	r.wantState("g", "CompletingRebalance")
	old := r.sync("g", ids[1], gen+1)
	replaced := r.static("g", "i1")
	if got := r.synced(old); got.ErrorCode != core.FencedInstanceID {
		t.Errorf("%+v", got)
	}
	r.wantParked("the new one", replaced)
	if got := r.joined(r.send(staticReq("g", ids[0], "i0"), 9)); got.Generation != gen+2 || r.joined(replaced).Generation != gen+2 {
		t.Errorf("%+v", got)
	}
}

// static.replaced.preparing, static.replaced.parked-join (C63).
func TestReplacedInPreparing(t *testing.T) {
	r := newRig(t)
	ids, gen := r.staticGroup("g", 2)
	old := r.send(staticReq("g", ids[0], "i0"), 9) // the leader
	replaced := r.static("g", "i0")
	if got := r.joined(old); got.ErrorCode != core.FencedInstanceID || got.MemberID != ids[0] || got.Generation != -1 {
		t.Errorf("%+v", got)
	}
	r.wantParked("the new one", replaced)
	r.send(staticReq("g", ids[1], "i1"), 9)
	if got := r.joined(replaced); got.Generation != gen+1 || got.LeaderID != got.MemberID || len(got.Members) != 2 {
		t.Errorf("%+v", got)
	}
}

// static.replaced, static.fenced, static.unmapped, static.optional: what the old id is answered, with and without its instance (C61).
func TestFenced(t *testing.T) {
	r := newRig(t)
	ids, gen := r.staticGroup("g", 2)
	id := r.joined(r.static("g", "i1")).MemberID
	for _, test := range []struct {
		rule, member string
		instance     *string
		code         int16
	}{
		{"static.fenced", ids[1], kmsg.StringPtr("i1"), core.FencedInstanceID},
		{"static.fenced: no id", "", kmsg.StringPtr("i1"), core.FencedInstanceID},
		{"static.replaced", ids[1], nil, core.UnknownMemberID},
		{"static.unmapped", id, kmsg.StringPtr("i9"), core.UnknownMemberID},
		{"static.optional", id, nil, 0},
		{"", id, kmsg.StringPtr("i1"), 0},
	} {
		join := joinReq("g", test.member)
		join.InstanceID = test.instance
		if test.member != "" {
			if got := r.joined(r.send(join, 9)); got.ErrorCode != test.code || got.MemberID != test.member {
				t.Errorf("%s: JoinGroup %+v", test.rule, got)
			}
			join.Protocols[0].Name = "other"
			if got := r.joined(r.send(join, 9)); got.ErrorCode != core.InconsistentGroupProtocol { // C6
				t.Errorf("%s: JoinGroup with another protocol %+v", test.rule, got)
			}
		}
		sync := syncReq("g", test.member, gen)
		sync.InstanceID = test.instance
		if got := r.synced(r.send(sync, 5)); got.ErrorCode != test.code {
			t.Errorf("%s: SyncGroup %+v", test.rule, got)
		}
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.MemberID, beat.Generation, beat.InstanceID = "g", test.member, gen, test.instance
		if got := answer[*kmsg.HeartbeatResponse](r, r.send(beat, 3)); got.ErrorCode != test.code {
			t.Errorf("%s: Heartbeat %+v", test.rule, got)
		}
		beat.Generation = 99
		if got := answer[*kmsg.HeartbeatResponse](r, r.send(beat, 4)); test.code != 0 && got.ErrorCode != test.code || test.code == 0 && got.ErrorCode != core.IllegalGeneration {
			t.Errorf("%s: Heartbeat of another generation %+v", test.rule, got)
		}
		commit := commitReq("g", test.member, gen, "t", 1)
		commit.InstanceID = test.instance
		if code := r.committed(r.send(commit, 7)); code != test.code {
			t.Errorf("%s: OffsetCommit %d", test.rule, code)
		}
	}
	r.wantState("g", "Stable")
}

// leave.instance, and the rest of the table of §2.5 (C52, C54).
func TestLeaveStatic(t *testing.T) {
	r := newRig(t)
	ids, _ := r.staticGroup("g", 4)
	instance := kmsg.StringPtr
	req := leaveReq("g")
	req.Members = append(req.Members, []kmsg.LeaveGroupRequestMember{
		{MemberID: ids[0], InstanceID: instance("i0")},
		{MemberID: "q"},
		{MemberID: ids[0], InstanceID: instance("i1")},
		{InstanceID: instance("i2")},
		{InstanceID: instance("i2")},
		{MemberID: ids[3]},
		{InstanceID: instance("nobody")},
		{},
		{MemberID: ids[1], InstanceID: instance("nobody")},
	}...)
	got := answer[*kmsg.LeaveGroupResponse](r, r.send(req, 5))
	var codes []int16
	for i, m := range got.Members {
		codes = append(codes, m.ErrorCode)
		if m.MemberID != req.Members[i].MemberID || m.InstanceID != req.Members[i].InstanceID {
			t.Errorf("entry %d: %+v", i, m)
		}
	}
	if !slices.Equal(codes, []int16{0, 25, 82, 0, 25, 0, 25, 25, 25}) || got.ErrorCode != 0 {
		t.Errorf("answered %v, %+v", codes, got)
	}
	if d := r.describe("g"); d.State != "PreparingRebalance" || len(d.Members) != 1 || *d.Members[0].InstanceID != "i1" {
		t.Errorf("left: %+v", d)
	}
}

// static.retained: a static member that misses a rebalance stays, with its former list, and its old generation is over (C23, C25).
func TestRetained(t *testing.T) {
	r := newRig(t)
	ids, gen := r.staticGroup("g", 1)
	b := r.newMember(rebalance)
	for range 4 {
		r.advance(rebalance/4 - time.Millisecond)
		r.beat("g", ids[0], gen) // it lives, but does not rejoin
	}
	r.advance(time.Second)
	got := r.joined(b)
	if got.Generation != gen+1 || got.LeaderID != got.MemberID || len(got.Members) != 2 || got.Members[0].MemberID != ids[0] || string(got.Members[0].ProtocolMetadata) != "range" {
		t.Errorf("%+v", got)
	}
	if code := r.beat("g", ids[0], gen); code != core.IllegalGeneration {
		t.Errorf("its old generation: %d", code)
	}
	if code := r.beat("g", ids[0], gen+1); code != 0 {
		t.Errorf("its new one: %d", code)
	}
	if left := r.sessionLeft(ids[0]); left != session {
		t.Errorf("its session runs %v", left)
	}
}

// static.nobody-joined: the join is extended until somebody comes, or all sessions have run out (C24, §7.3 L2).
func TestNobodyJoined(t *testing.T) {
	setup := func(t *testing.T, rebalance time.Duration) (*rig, []string, int32) {
		r := newRig(t)
		id := r.joined(r.static("g", "i")).MemberID
		dynamic := r.newMember(time.Second)
		r.joined(r.send(staticReq("g", id, "i"), 9))
		leaving := r.joined(dynamic).MemberID
		r.sync("g", id, 2)
		r.sync("g", leaving, 2)
		req := staticReq("g", "", "i")
		req.RebalanceTimeoutMillis = int32(rebalance.Milliseconds())
		id = r.joined(r.send(req, 9)).MemberID
		r.leave("g", leaving)
		r.wantState("g", "PreparingRebalance")
		return r, []string{id}, 2
	}
	for _, rebalance := range []time.Duration{400 * time.Millisecond, 0, -5 * time.Second} {
		r, ids, gen := setup(t, rebalance)
		for range 10 {
			r.advance(time.Second)
			if code := r.beat("g", ids[0], gen); code != core.RebalanceInProgress {
				t.Fatalf("Heartbeat: %d", code)
			}
		}
		if got := r.joined(r.send(staticReq("g", ids[0], "i"), 9)); got.Generation != gen+1 || len(got.Members) != 1 {
			t.Errorf("%+v", got)
		}
	}
	r, _, gen := setup(t, 400*time.Millisecond)
	r.advance(session)
	r.wantState("g", "Empty")
	if got := r.joined(r.static("g", "i")); got.Generation != gen+2 {
		t.Errorf("after Empty: %+v", got)
	}
}

// static.replaced.timer, static.replaced.timeouts: the session begins anew with the former timeout, then it is the new one (§1.9-2).
func TestReplacedTimer(t *testing.T) {
	r := newRig(t)
	ids, gen := r.staticGroup("g", 1)
	req := staticReq("g", "", "i0")
	req.SessionTimeoutMillis = 60_000
	r.advance(session / 2)
	id := r.joined(r.send(req, 9)).MemberID
	if left := r.sessionLeft(id); left != session {
		t.Errorf("session of the new id runs %v", left)
	}
	if slices.ContainsFunc(r.sim.Timers(), func(a core.Arm) bool { return a.Timer.Member == ids[0] }) {
		t.Errorf("timers: %v", r.timers())
	}
	r.beat("g", id, gen)
	if left := r.sessionLeft(id); left != time.Minute {
		t.Errorf("after a heartbeat: %v", left)
	}
}

// static.replaced.new: replaced while it waits in its first JoinGroup, it has no five minutes (§5.1 DF14).
func TestReplacedNew(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	r.static("g", "i")
	replaced := r.static("g", "i")
	for range 4 {
		r.advance(7 * time.Second)
		r.beat("g", ids[0], gen)
	}
	r.wantParked("past its session", replaced)
	r.joined(r.join("g", ids[0]))
	if got := r.joined(replaced); got.ErrorCode != 0 {
		t.Errorf("%+v", got)
	}
}

// static.replaced.owes-sync, the contract: the SyncGroup that was owed is owed by the new id, and no stale one starts a rebalance (C65).
func TestReplacedOwesSync(t *testing.T) {
	for _, syncs := range []bool{true, false} {
		r := newRig(t)
		leader := r.joined(r.static("g", "i0")).MemberID
		parked := r.static("g", "i1")
		gen := r.joined(r.send(staticReq("g", leader, "i0"), 9)).Generation
		r.joined(parked)
		r.sync("g", leader, gen)
		id := r.joined(r.static("g", "i1")).MemberID
		if syncs {
			r.sync("g", id, gen)
		}
		for range 4 {
			r.advance(rebalance / 4)
			r.beat("g", leader, gen)
			r.beat("g", id, gen)
		}
		state := "Stable"
		if !syncs {
			state = "PreparingRebalance"
		}
		r.wantState("g", state)
		if members := r.describe("g").Members; syncs != (len(members) == 2) {
			t.Errorf("syncs %v: %+v", syncs, members)
		}
	}
}

// static.write.fails, static.write.fails.list: the former id is back with all that it had, and the answer says why (§1.9-6, DF13).
func TestReplacementFails(t *testing.T) {
	for _, code := range []int16{core.MessageTooLarge, core.RequestTimedOut, core.NotLeaderOrFollower} {
		r := newRig(t)
		ids, gen := r.staticGroup("g", 2)
		r.advance(session / 2)
		r.beat("g", ids[1], gen)
		r.sim.FailWrites(code)
		req := staticReq("g", "", "i0", "range=new")
		req.SessionTimeoutMillis = 60_000
		got := r.joined(r.send(req, 9))
		want := map[int16]int16{core.MessageTooLarge: core.UnknownServerError, core.RequestTimedOut: core.CoordinatorNotAvailable, core.NotLeaderOrFollower: core.NotCoordinator}[code]
		if got.ErrorCode != want || got.MemberID != "" || got.Generation != gen || *got.Protocol != "range" || got.LeaderID != ids[0] || len(got.Members) > 0 || got.SkipAssignment {
			t.Errorf("log error %d: %+v", code, got)
		}
		r.sim.FailWrites(core.None)
		if code := r.beat("g", ids[0], gen); code != 0 {
			t.Errorf("the former id: %d", code)
		}
		if left := r.sessionLeft(ids[0]); left != session {
			t.Errorf("its session runs %v", left)
		}
		if d := r.describe("g"); d.State != "Stable" || string(d.Members[0].ProtocolMetadata) != "range" {
			t.Errorf("%+v", d)
		}
		r.wantParked("with the new list", r.send(staticReq("g", ids[0], "i0", "range=new"), 9))
		r.wantState("g", "PreparingRebalance")
	}
}

// What happens to a replacement while it is being written: only what is still waiting for it is answered by its end.
func TestReplacementOvertaken(t *testing.T) {
	setup := func(t *testing.T) (*rig, []string, int32, core.Ticket) {
		r := newRig(t)
		ids, gen := r.staticGroup("g", 2)
		r.sim.HoldWrites(true)
		replaced := r.static("g", "i1")
		r.wantParked("before the log", replaced)
		r.wantState("g", "Stable")
		return r, ids, gen, replaced
	}
	for _, code := range []int16{core.None, core.MessageTooLarge} {
		r, ids, gen, replaced := setup(t)
		leader := r.send(staticReq("g", ids[0], "i0"), 9) // the leader starts a rebalance, which has all its members now
		if got := r.joined(replaced); got.Generation != gen+1 || got.SkipAssignment || r.joined(leader).Generation != gen+1 {
			t.Errorf("by a rebalance: %+v", got)
		}
		r.end(code)

		r, _, gen, replaced = setup(t)
		again := r.static("g", "i1")
		if got := r.joined(replaced); got.ErrorCode != core.FencedInstanceID {
			t.Errorf("by another replacement: %+v", got)
		}
		r.end(code)
		r.wantParked("the later one", again)
		r.end(core.None)
		if got := r.joined(again); got.ErrorCode != 0 || got.Generation != gen {
			t.Errorf("the later one: %+v", got)
		}

		r, _, _, replaced = setup(t)
		req := leaveReq("g")
		req.Members = []kmsg.LeaveGroupRequestMember{{InstanceID: kmsg.StringPtr("i1")}}
		r.send(req, 5)
		if got := r.joined(replaced); got.ErrorCode != core.UnknownMemberID || got.MemberID != "" {
			t.Errorf("by a leave: %+v", got)
		}
		r.end(code)

		r, ids, _, replaced = setup(t)
		r.static("g", "i2") // a rebalance that the leader has not joined
		r.end(code)
		r.wantParked("in a rebalance", replaced)
		if got := r.joined(r.send(staticReq("g", ids[0], "i0"), 9)); len(got.Members) != 3 || r.joined(replaced).ErrorCode != 0 {
			t.Errorf("after it: %+v", got)
		}
	}
	r, ids, gen, replaced := setup(t)
	for range 3 { // its session runs out while it waits, which does not expel it
		r.advance(session / 2)
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.MemberID, beat.Generation = "g", ids[0], gen
		r.wantParked("behind the write", r.send(beat, 4))
	}
	r.end(core.None)
	if left := r.sessionLeft(r.joined(replaced).MemberID); left != session {
		t.Errorf("its session after the answer: %v", left)
	}
}
