package core_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// §2.4, the whole table.
func TestHeartbeat(t *testing.T) {
	for _, test := range []struct {
		rule   string
		setup  func(*rig) (string, int32)
		group  string
		code   int16
		renews bool
	}{
		{"heartbeat.group-id.empty", func(*rig) (string, int32) { return "q", 1 }, "", core.InvalidGroupID, false},
		{"heartbeat.group.unknown", func(*rig) (string, int32) { return "q", 1 }, "g", core.UnknownMemberID, false},
		{"heartbeat.member.unknown", func(r *rig) (string, int32) { r.stable("g", 1); return "q", 9 }, "g", core.UnknownMemberID, false},
		{"heartbeat.member.unknown: pending", func(r *rig) (string, int32) { return r.id("g"), 0 }, "g", core.UnknownMemberID, false},
		{"heartbeat.member.unknown: Empty", func(r *rig) (string, int32) {
			ids, gen := r.stable("g", 1)
			r.leave("g", ids[0])
			return ids[0], gen + 1
		}, "g", core.UnknownMemberID, false},
		{"heartbeat.generation.illegal: older", func(r *rig) (string, int32) { ids, gen := r.stable("g", 1); return ids[0], gen - 1 }, "g", core.IllegalGeneration, false},
		{"heartbeat.generation.illegal: newer", func(r *rig) (string, int32) { ids, gen := r.stable("g", 1); return ids[0], gen + 1 }, "g", core.IllegalGeneration, false},
		{"heartbeat.preparing", func(r *rig) (string, int32) {
			ids, gen := r.stable("g", 2)
			r.join("g", ids[0])
			return ids[1], gen
		}, "g", core.RebalanceInProgress, true},
		{"heartbeat.completing", func(r *rig) (string, int32) { ids, gen := r.generation("g", 1); return ids[0], gen }, "g", core.None, true},
		{"heartbeat.stable", func(r *rig) (string, int32) { ids, gen := r.stable("g", 1); return ids[0], gen }, "g", core.None, true},
	} {
		t.Run(test.rule, func(t *testing.T) {
			r := newRig(t)
			id, gen := test.setup(r)
			r.advance(time.Second)
			if code := r.beat(test.group, id, gen); code != test.code {
				t.Errorf("error %d, want %d", code, test.code)
			}
			if got := r.sessionLeft(id); test.renews && got != session || !test.renews && got == session {
				t.Errorf("session timer runs %v; renewed: %v, want %v", got, got == session, test.renews)
			}
		})
	}
}

// sessionLeft is how long a member's session timer has to run, 0 if it does not.
func (r *rig) sessionLeft(id string) time.Duration {
	for _, a := range r.sim.Timers() {
		if a.Timer.Kind == core.SessionTimer && a.Timer.Member == id {
			return a.Deadline.Sub(r.sim.Now())
		}
	}
	return 0
}

func TestHeartbeatOfInstance(t *testing.T) {
	r := newRig(t)
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.InstanceID = "g", kmsg.StringPtr("i")
	if got := answer[*kmsg.HeartbeatResponse](r, r.send(req, 3)); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("%+v", got)
	}
}

// §2.5: each entry on its own, in order, with its ids echoed (leave.batch, leave.member.unknown, leave.pending).
func TestLeaveBatch(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 3)
	pending := r.id("g")
	req := leaveReq("g", ids[0], "stranger", ids[0], pending, "", ids[1])
	instance := kmsg.StringPtr("i")
	req.Members = append(req.Members, kmsg.LeaveGroupRequestMember{MemberID: "m", InstanceID: instance})
	got := answer[*kmsg.LeaveGroupResponse](r, r.send(req, 5))
	want := []int16{0, core.UnknownMemberID, core.UnknownMemberID, 0, core.UnknownMemberID, 0, core.UnknownMemberID}
	if got.ErrorCode != 0 || len(got.Members) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, code := range want {
		m := got.Members[i]
		if m.ErrorCode != code || m.MemberID != req.Members[i].MemberID || m.InstanceID != req.Members[i].InstanceID {
			t.Errorf("entry %d: %+v, want error %d", i, m, code)
		}
	}
	r.wantState("g", "PreparingRebalance") // leave.member
	if code := r.beat("g", ids[2], gen); code != core.RebalanceInProgress {
		t.Errorf("who stays: %d", code)
	}
	if got := r.joined(r.join("g", pending)); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("the pending id that left: %+v", got)
	}
	if got := r.joined(r.join("g", ids[2])); got.ErrorCode != 0 || got.Generation != gen+1 || got.LeaderID != ids[2] {
		t.Errorf("who stays: %+v", got)
	}
}

func TestLeaveGates(t *testing.T) {
	r := newRig(t)
	if got := r.leave("", "q"); got.ErrorCode != core.InvalidGroupID || len(got.Members) != 0 { // leave.group-id.empty
		t.Errorf("empty group id: %+v", got)
	}
	if got := r.leave("g", "q", "p"); got.ErrorCode != 0 || len(got.Members) != 2 || got.Members[1].ErrorCode != core.UnknownMemberID { // leave.group.unknown
		t.Errorf("unknown group: %+v", got)
	}
	if got := r.leave("g"); got.ErrorCode != 0 || len(got.Members) != 0 {
		t.Errorf("empty batch: %+v", got)
	}
	r.wantState("g", "Dead")
}

// leave.single.
func TestLeaveSingle(t *testing.T) {
	for version := int16(0); version <= 2; version++ {
		r := newRig(t)
		ids, _ := r.stable("g", 1)
		for _, test := range []struct {
			group, member string
			code          int16
		}{{"g", "q", core.UnknownMemberID}, {"other", "q", core.UnknownMemberID}, {"", "q", core.InvalidGroupID}, {"g", ids[0], 0}} {
			req := kmsg.NewPtrLeaveGroupRequest()
			req.Group, req.MemberID = test.group, test.member
			if got := answer[*kmsg.LeaveGroupResponse](r, r.send(req, version)); got.ErrorCode != test.code || len(got.Members) > 0 {
				t.Errorf("v%d %q %q: %+v, want error %d", version, test.group, test.member, got, test.code)
			}
		}
		r.wantState("g", "Empty")
	}
}

// join.parked.removed.
func TestLeaveWhileParked(t *testing.T) {
	r := newRig(t)
	r.stable("g", 1)
	b := r.id("g")
	parked := r.join("g", b)
	r.leave("g", b)
	if got := r.joined(parked); got.ErrorCode != core.UnknownMemberID || got.MemberID != "" {
		t.Errorf("%+v", got)
	}
}

// leave.pending.rebalances, the contract: a pending id that leaves a Stable or CompletingRebalance group disturbs nobody.
func TestLeavePendingDisturbsNobody(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 1)
	r.leave("g", r.id("g"))
	r.wantState("g", "CompletingRebalance")
	r.sync("g", ids[0], gen)
	r.leave("g", r.id("g"))
	r.wantState("g", "Stable")
	if code := r.beat("g", ids[0], gen); code != 0 {
		t.Errorf("heartbeat: %d", code)
	}
}

// leave.member: a group that prepares completes when the one who was missing leaves.
func TestLeaveCompletes(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 2)
	parked := r.join("g", ids[0])
	r.leave("g", ids[1])
	if got := r.joined(parked); got.Generation != gen+1 || len(got.Members) != 1 {
		t.Errorf("%+v", got)
	}
}
