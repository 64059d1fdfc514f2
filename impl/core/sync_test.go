package core_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// §2.3.1: the order of the checks, in a CompletingRebalance group with members c-1 (leader) and c-2, generation 2.
func TestSyncRefused(t *testing.T) {
	for _, test := range []struct {
		rule    string
		version int16
		change  func(*kmsg.SyncGroupRequest)
		code    int16
	}{
		{"static.unmapped", 5, func(q *kmsg.SyncGroupRequest) { q.InstanceID = kmsg.StringPtr("") }, core.UnknownMemberID},
		{"sync.protocol.missing: type", 5, func(q *kmsg.SyncGroupRequest) { q.ProtocolType = nil }, core.InconsistentGroupProtocol},
		{"sync.protocol.missing: name", 5, func(q *kmsg.SyncGroupRequest) { q.Protocol = nil }, core.InconsistentGroupProtocol},
		{"sync.protocol.missing before all", 5, func(q *kmsg.SyncGroupRequest) { q.Group, q.Protocol = "", nil }, core.InconsistentGroupProtocol},
		{"sync.group-id.empty", 5, func(q *kmsg.SyncGroupRequest) { q.Group = "" }, core.InvalidGroupID},
		{"sync.group.unknown", 5, func(q *kmsg.SyncGroupRequest) { q.Group = "other" }, core.UnknownMemberID},
		{"sync.group.unknown: Empty", 5, func(q *kmsg.SyncGroupRequest) { q.Group = "empty" }, core.UnknownMemberID},
		{"sync.member.unknown", 5, func(q *kmsg.SyncGroupRequest) { q.MemberID, q.Generation = "q", 9 }, core.UnknownMemberID},
		{"sync.member.unknown: pending", 5, func(q *kmsg.SyncGroupRequest) { q.MemberID = "c-3" }, core.UnknownMemberID},
		{"sync.generation.illegal", 5, func(q *kmsg.SyncGroupRequest) { q.Generation, q.Protocol = 1, kmsg.StringPtr("x") }, core.IllegalGeneration},
		{"sync.protocol.inconsistent: type", 5, func(q *kmsg.SyncGroupRequest) { q.ProtocolType = kmsg.StringPtr("x") }, core.InconsistentGroupProtocol},
		{"sync.protocol.inconsistent: name", 5, func(q *kmsg.SyncGroupRequest) { q.Protocol = kmsg.StringPtr("x") }, core.InconsistentGroupProtocol},
	} {
		t.Run(test.rule, func(t *testing.T) {
			r := newRig(t)
			ids, gen := r.generation("g", 2)
			r.id("g")
			req := joinReq("empty", "")
			req.Protocols = nil
			r.send(req, 9)
			sync := syncReq("g", ids[1], gen)
			test.change(sync)
			got := r.synced(r.send(sync, test.version))
			if got.ErrorCode != test.code || len(got.MemberAssignment) != 0 || got.ProtocolType != nil || got.Protocol != nil {
				t.Errorf("got %+v, want error %d", got, test.code)
			}
		})
	}
}

// sync.protocol.inconsistent is asked from version 5 only; sync.preparing.
func TestSyncOldVersionAndPreparing(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 2)
	req := syncReq("g", ids[0], gen)
	req.ProtocolType, req.Protocol = nil, nil
	if got := r.synced(r.send(req, 4)); got.ErrorCode != 0 || got.Protocol != nil {
		t.Errorf("v4: %+v", got)
	}
	r.join("g", ids[0])
	if got := r.synced(r.sync("g", ids[1], gen)); got.ErrorCode != core.RebalanceInProgress {
		t.Errorf("Preparing: %+v", got)
	}
}

// sync.follower.parks, sync.leader.assigns, sync.leader.strangers, sync.stable.repeats (C28 to C31).
func TestSyncAssigns(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 3)
	r.records()
	follower := r.sync("g", ids[1], gen, ids[1]+"=mine")
	r.wantParked("the follower", follower)
	r.wantState("g", "CompletingRebalance")
	leader := r.sync("g", ids[0], gen, ids[1]+"=first", "stranger=x", ids[0]+"=all", ids[1]+"=last")
	for _, want := range []struct {
		ticket core.Ticket
		bytes  string
	}{{leader, "all"}, {follower, "last"}, {r.sync("g", ids[2], gen), ""}, {r.sync("g", ids[0], gen, ids[0]+"=other"), "all"}} {
		got := r.synced(want.ticket)
		if got.ErrorCode != 0 || string(got.MemberAssignment) != want.bytes || *got.Protocol != "range" || *got.ProtocolType != "consumer" {
			t.Errorf("got %+v, want %q", got, want.bytes)
		}
	}
	r.wantState("g", "Stable")
	if recs := r.records(); len(recs) != 1 || recs[0] != "g gen=2 n=3" {
		t.Errorf("written: %v", recs)
	}
	entries := r.logged()
	g := entries[len(entries)-1].State
	if *g.Leader != ids[0] || *g.Protocol != "range" || g.ProtocolType != "consumer" || g.Members[1].MemberID != ids[1] ||
		string(g.Members[1].Assignment) != "last" || string(g.Members[1].Subscription) != "range" || g.Members[1].ClientHost != "/10.0.0.1" ||
		g.Members[1].SessionTimeoutMillis != 10_000 || g.Members[1].RebalanceTimeoutMillis != 30_000 || g.CurrentStateTimestamp <= 0 {
		t.Errorf("record: %+v", g)
	}
}

// sync.leader.assigns: a leader that assigns nothing still makes the group Stable.
func TestSyncAssignsNothing(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 1)
	if got := r.synced(r.sync("g", ids[0], gen)); got.ErrorCode != 0 || got.MemberAssignment == nil || len(got.MemberAssignment) != 0 {
		t.Errorf("%+v", got)
	}
	r.wantState("g", "Stable")
}

// sync.parked.aborted: whatever starts a rebalance answers those who wait, and the assignment is gone.
func TestSyncAborted(t *testing.T) {
	for name, start := range map[string]func(*rig, []string){
		"a new member":     func(r *rig, _ []string) { r.send(joinReq("g", ""), 3) },
		"a leave":          func(r *rig, ids []string) { r.leave("g", ids[0]) },
		"a session's end":  func(r *rig, _ []string) { r.advance(session) },
		"a changed list":   func(r *rig, ids []string) { r.join("g", ids[0], "range=new") },
		"a changed own":    func(r *rig, ids []string) { r.join("g", ids[1], "range=new") },
		"the sync timer":   func(r *rig, ids []string) { r.keepAlive("g", ids[:1], 2, rebalance) },
		"a missing leader": func(r *rig, ids []string) { r.leave("g", ids[0], ids[2]) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			ids, gen := r.generation("g", 3)
			if gen != 2 {
				t.Fatalf("generation %d", gen)
			}
			waiting := r.sync("g", ids[1], gen)
			start(r, ids)
			got := r.synced(waiting)
			if got.ErrorCode != core.RebalanceInProgress || len(got.MemberAssignment) != 0 || got.Protocol != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

// keepAlive lets d pass while members heartbeat; it stops when one is refused.
func (r *rig) keepAlive(group string, ids []string, generation int32, d time.Duration) {
	r.Helper()
	for ; d > 0; d -= 5 * time.Second {
		r.advance(min(d, 5*time.Second))
		for _, id := range ids {
			if code := r.beat(group, id, generation); code != core.None && code != core.RebalanceInProgress {
				return
			}
		}
	}
}

// sync.parked.superseded and sync.parked.removed, the contracts.
func TestSyncSupersededAndRemoved(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 2)
	first := r.sync("g", ids[1], gen)
	second := r.sync("g", ids[1], gen)
	if got := r.synced(first); got.ErrorCode != core.RebalanceInProgress {
		t.Errorf("superseded: %+v", got)
	}
	r.wantParked("the later one", second)
	r.leave("g", ids[1])
	if got := r.synced(second); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("removed: %+v", got)
	}
}

// sync.timer.expels (C35 to C37).
func TestSyncTimer(t *testing.T) {
	for _, test := range []struct {
		name           string
		leader, follow bool // send SyncGroup
		state          string
		beats          [2]int16
	}{
		{"nobody", false, false, "Empty", [2]int16{core.UnknownMemberID, core.UnknownMemberID}},
		{"not the follower", true, false, "PreparingRebalance", [2]int16{core.RebalanceInProgress, core.UnknownMemberID}},
		{"not the leader", false, true, "PreparingRebalance", [2]int16{core.UnknownMemberID, core.RebalanceInProgress}},
		{"both", true, true, "Stable", [2]int16{core.None, core.None}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			ids, gen := r.generation("g", 2)
			if test.follow {
				r.sync("g", ids[1], gen)
			}
			if test.leader {
				r.sync("g", ids[0], gen)
			}
			r.keepAlive("g", ids, gen, rebalance-time.Millisecond)
			if r.describe("g").State == test.state && test.state != "Stable" {
				t.Error("early")
			}
			r.advance(time.Millisecond)
			r.wantState("g", test.state)
			for i, id := range ids {
				if code := r.beat("g", id, gen); code != test.beats[i] {
					t.Errorf("member %d: heartbeat %d, want %d", i, code, test.beats[i])
				}
			}
		})
	}
}
