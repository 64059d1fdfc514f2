package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// §2.2.1: the order of the checks. Each row sends one JoinGroup v9 to a group "g" that is Stable with one member "c-1".
func TestJoinRefused(t *testing.T) {
	for _, test := range []struct {
		rule   string
		change func(*kmsg.JoinGroupRequest)
		code   int16
		echo   string
	}{
		{"static.unmapped", func(q *kmsg.JoinGroupRequest) { q.MemberID, q.InstanceID = "c-1", kmsg.StringPtr("i") }, core.UnknownMemberID, "c-1"},
		{"join.group-id.empty", func(q *kmsg.JoinGroupRequest) { q.Group, q.MemberID = "", "q" }, core.InvalidGroupID, "q"},
		{"join.group-id.empty before session", func(q *kmsg.JoinGroupRequest) { q.Group, q.SessionTimeoutMillis = "", 1 }, core.InvalidGroupID, ""},
		{"join.session.bounds: below", func(q *kmsg.JoinGroupRequest) { q.SessionTimeoutMillis, q.MemberID = 5999, "q" }, core.InvalidSessionTimeout, "q"},
		{"join.session.bounds: above", func(q *kmsg.JoinGroupRequest) { q.SessionTimeoutMillis = 1_800_001 }, core.InvalidSessionTimeout, ""},
		{"join.session.bounds: negative", func(q *kmsg.JoinGroupRequest) { q.SessionTimeoutMillis = -1 }, core.InvalidSessionTimeout, ""},
		{"join.group.unknown", func(q *kmsg.JoinGroupRequest) { q.Group, q.MemberID = "other", "q" }, core.UnknownMemberID, "q"},
		{"join.group.unknown before protocols", func(q *kmsg.JoinGroupRequest) { q.Group, q.MemberID, q.Protocols = "other", "q", nil }, core.UnknownMemberID, "q"},
		{"join.protocol.inconsistent: type", func(q *kmsg.JoinGroupRequest) { q.ProtocolType = "connect" }, core.InconsistentGroupProtocol, ""},
		{"join.protocol.inconsistent: names", func(q *kmsg.JoinGroupRequest) { q.Protocols[0].Name = "other" }, core.InconsistentGroupProtocol, ""},
		{"join.protocol.inconsistent: no list", func(q *kmsg.JoinGroupRequest) { q.Protocols = nil }, core.InconsistentGroupProtocol, ""},
		{"join.protocol.before-member", func(q *kmsg.JoinGroupRequest) { q.MemberID, q.Protocols[0].Name = "q", "other" }, core.InconsistentGroupProtocol, "q"},
		{"own list counts as it was (C12)", func(q *kmsg.JoinGroupRequest) { q.MemberID, q.Protocols[0].Name = "c-1", "other" }, core.InconsistentGroupProtocol, "c-1"},
		{"join.member.unknown", func(q *kmsg.JoinGroupRequest) { q.MemberID = "q" }, core.UnknownMemberID, "q"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			r := newRig(t)
			r.stable("g", 1)
			r.records()
			req := joinReq("g", "")
			test.change(req)
			got := r.joined(r.send(req, 9))
			if got.ErrorCode != test.code || got.MemberID != test.echo || got.Generation != -1 || got.LeaderID != "" || len(got.Members) > 0 || got.Protocol != nil {
				t.Errorf("got %+v, want error %d with member id %q", got, test.code, test.echo)
			}
			r.wantState("g", "Stable")
			if recs := r.records(); len(recs) > 0 {
				t.Errorf("written: %v", recs)
			}
			if r.describe("other").State != "Dead" {
				t.Error("a group was created")
			}
		})
	}
}

// join.session.bounds: both ends are valid.
func TestJoinSessionBounds(t *testing.T) {
	r := newRig(t)
	for _, ms := range []int32{6000, 1_800_000} {
		req := joinReq("g", "")
		req.SessionTimeoutMillis = ms
		if got := r.joined(r.send(req, 9)); got.ErrorCode != core.MemberIDRequired {
			t.Errorf("session %d ms: error %d", ms, got.ErrorCode)
		}
	}
}

// §1.7: an Empty group wants a type and a list, and nothing else.
func TestJoinEmptyGroupProtocols(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*kmsg.JoinGroupRequest)
		code   int16
	}{
		{"no type", func(q *kmsg.JoinGroupRequest) { q.ProtocolType = "" }, core.InconsistentGroupProtocol},
		{"no list", func(q *kmsg.JoinGroupRequest) { q.Protocols = nil }, core.InconsistentGroupProtocol},
		{"another type", func(q *kmsg.JoinGroupRequest) { q.ProtocolType = "connect" }, core.MemberIDRequired},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			req := joinReq("g", "")
			test.change(req)
			if got := r.joined(r.send(req, 9)); got.ErrorCode != test.code {
				t.Errorf("error %d, want %d", got.ErrorCode, test.code)
			}
			r.wantState("g", "Empty") // join.group.created, even by a refusal
			if recs := r.records(); len(recs) != 1 || recs[0] != "g gen=0 n=0" {
				t.Errorf("written: %v", recs)
			}
		})
	}
}

// join.new.member-id-required, join.pending.joins, join.reply.leader.
func TestJoinTwoRounds(t *testing.T) {
	r := newRig(t)
	first := r.joined(r.sendAs("app", joinReq("g", ""), 4))
	if first.ErrorCode != core.MemberIDRequired || !strings.HasPrefix(first.MemberID, "app-") || first.Generation != -1 {
		t.Fatalf("first round: %+v", first)
	}
	if d := r.describe("g"); d.State != "Empty" || d.ProtocolType != "" || len(d.Members) > 0 {
		t.Errorf("after the first round: %+v", d)
	}
	got := r.joined(r.join("g", first.MemberID, "range=x", "rr"))
	if got.ErrorCode != 0 || got.Generation != 1 || *got.ProtocolType != "consumer" || *got.Protocol != "range" ||
		got.LeaderID != first.MemberID || got.MemberID != first.MemberID || got.SkipAssignment || len(got.Members) != 1 ||
		got.Members[0].MemberID != first.MemberID || string(got.Members[0].ProtocolMetadata) != "x" {
		t.Errorf("second round: %+v", got)
	}
	r.wantState("g", "CompletingRebalance")
}

// join.new.old-version.
func TestJoinOldVersion(t *testing.T) {
	for version := int16(0); version <= 3; version++ {
		r := newRig(t)
		got := r.joined(r.send(joinReq("g", ""), version))
		if got.ErrorCode != 0 || got.Generation != 1 || got.LeaderID != got.MemberID || len(got.Members) != 1 || got.ProtocolType != nil {
			t.Errorf("v%d: %+v", version, got)
		}
	}
}

// §2.2.5: version 0 has no rebalance timeout; the session timeout is used.
func TestJoinVersion0RebalanceTimeout(t *testing.T) {
	r := newRig(t)
	leader := r.joined(r.send(joinReq("g", ""), 0)).MemberID
	r.synced(r.sync("g", leader, 1))
	pending := joinReq("g", "")
	pending.SessionTimeoutMillis = 60_000
	r.send(pending, 9)
	parked := r.send(joinReq("g", leader), 0)
	r.advance(session - time.Millisecond)
	r.wantParked("with a pending id", parked)
	r.advance(time.Millisecond) // the field says 30 s
	if r.parked(parked) {
		t.Errorf("timers: %v", r.timers())
	}
}

// §2.2.4, the table: what a member's JoinGroup does in each state.
func TestRejoin(t *testing.T) {
	type outcome struct {
		state   string
		parked  bool
		members int
	}
	for _, test := range []struct {
		rule       string
		completing bool
		member     int // 0 leads
		protocols  []string
		want       outcome
	}{
		{"join.completing.same, leader", true, 0, []string{"range"}, outcome{"CompletingRebalance", false, 2}},
		{"join.completing.same, follower", true, 1, []string{"range"}, outcome{"CompletingRebalance", false, 0}},
		{"join.completing.changed, leader", true, 0, []string{"range=new"}, outcome{"PreparingRebalance", true, 0}},
		{"join.completing.changed, follower", true, 1, []string{"range=new"}, outcome{"PreparingRebalance", true, 0}},
		{"join.stable.leader-repeats", false, 0, []string{"range"}, outcome{"PreparingRebalance", true, 0}},
		{"join.stable.follower-repeats", false, 1, []string{"range"}, outcome{"Stable", false, 0}},
		{"join.stable.changed: bytes", false, 1, []string{"range=new"}, outcome{"PreparingRebalance", true, 0}},
		{"join.stable.changed: more", false, 1, []string{"range", "rr"}, outcome{"PreparingRebalance", true, 0}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			r := newRig(t)
			var ids []string
			var gen int32
			if test.completing {
				ids, gen = r.generation("g", 2)
			} else {
				ids, gen = r.stable("g", 2)
			}
			before := strings.Join(r.timers(), "\n")
			ticket := r.join("g", ids[test.member], test.protocols...)
			if r.parked(ticket) != test.want.parked {
				t.Fatalf("parked: %v", r.parked(ticket))
			}
			r.wantState("g", test.want.state)
			if test.want.parked {
				return
			}
			got := r.joined(ticket)
			if got.ErrorCode != 0 || got.Generation != gen || len(got.Members) != test.want.members || got.LeaderID != ids[0] {
				t.Errorf("%+v", got)
			}
			if after := strings.Join(r.timers(), "\n"); after != before { // join.repeat.keeps-timer
				t.Errorf("timers were\n%s\nare\n%s", before, after)
			}
		})
	}
}

// join.stable.changed: a list in another order is another list.
func TestRejoinReordered(t *testing.T) {
	r := newRig(t)
	a, b := r.id("g"), r.id("g")
	r.join("g", a, "x", "y")
	r.join("g", b, "x", "y")
	gen := r.joined(r.join("g", a, "x", "y")).Generation
	for _, id := range []string{a, b} {
		req := syncReq("g", id, gen)
		req.Protocol = kmsg.StringPtr("x")
		r.synced(r.send(req, 5))
	}
	r.wantParked("reordered list", r.join("g", b, "y", "x"))
}

// join.parked.superseded, the contract: the earlier request is answered REBALANCE_IN_PROGRESS, the later one takes its place.
func TestJoinSuperseded(t *testing.T) {
	r := newRig(t)
	ids, _ := r.stable("g", 2)
	first := r.join("g", ids[0])
	second := r.join("g", ids[0], "range=z")
	if got := r.joined(first); got.ErrorCode != core.RebalanceInProgress || got.MemberID != ids[0] || got.Generation != -1 {
		t.Errorf("the earlier one: %+v", got)
	}
	r.wantParked("the later one", second)
	r.joined(r.join("g", ids[1]))
	if got := r.joined(second); got.ErrorCode != 0 || got.Generation != 3 || string(got.Members[0].ProtocolMetadata) != "z" {
		t.Errorf("the later one: %+v", got)
	}
}

// §1.7, corrected by verified item 5: a name that is listed twice counts once and wedges nothing.
func TestJoinDuplicateProtocolName(t *testing.T) {
	r := newRig(t)
	a := r.id("g")
	if got := r.joined(r.join("g", a, "range=1", "range=2")); got.ErrorCode != 0 || *got.Protocol != "range" || string(got.Members[0].ProtocolMetadata) != "1" {
		t.Errorf("alone: %+v", got)
	}
	b := r.id("g")
	parked := r.join("g", b)
	r.joined(r.join("g", a, "range=1", "range=2"))
	if got := r.joined(parked); got.ErrorCode != 0 || got.Generation != 2 {
		t.Errorf("with another member: %+v", got)
	}
}
