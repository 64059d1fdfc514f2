package core_test

import (
	"slices"
	"testing"
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

// join.complete.generation, join.complete.empty, leave.last.empties: join (1), leave (2), join (3).
func TestGenerations(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	if gen != 1 {
		t.Errorf("first generation %d", gen)
	}
	r.leave("g", ids[0])
	if d := r.describe("g"); d.State != "Empty" || d.ProtocolType != "consumer" || d.Protocol != "" {
		t.Errorf("emptied: %+v", d)
	}
	if _, gen := r.stable("g", 1); gen != 3 {
		t.Errorf("generation after Empty %d, want 3", gen)
	}
	if recs := r.records(); !slices.Equal(recs, []string{"g gen=0 n=0", "g gen=1 n=1", "g gen=2 n=0", "g gen=3 n=1"}) {
		t.Errorf("written: %v", recs)
	}
}

// join.new.rebalances, join.complete.all-joined, join.reply.follower.
func TestSecondMember(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	b := r.id("g")
	parked := r.join("g", b)
	r.wantParked("the newcomer", parked)
	r.wantState("g", "PreparingRebalance")
	if code := r.beat("g", ids[0], gen); code != core.RebalanceInProgress {
		t.Errorf("heartbeat of the old member: %d", code)
	}
	leader := r.joined(r.join("g", ids[0]))
	follower := r.joined(parked)
	if leader.Generation != 2 || len(leader.Members) != 2 || follower.Generation != 2 || len(follower.Members) != 0 || follower.LeaderID != ids[0] {
		t.Errorf("leader %+v\nfollower %+v", leader, follower)
	}
	if code := r.beat("g", ids[0], gen); code != core.IllegalGeneration { // generation.fence
		t.Errorf("old generation: %d", code)
	}
}

// join.complete.vote.
func TestVote(t *testing.T) {
	for _, test := range []struct {
		name  string
		lists [][]string
		want  []string // each of them may win
	}{
		{"most votes (C13)", [][]string{{"x", "y"}, {"y", "x"}, {"y", "x"}}, []string{"y"}},
		{"common to all (C14)", [][]string{{"x", "y"}, {"x", "y"}, {"y"}}, []string{"y"}},
		{"a tie", [][]string{{"x", "y"}, {"y", "x"}}, []string{"x", "y"}},
		{"first of the list that is a candidate", [][]string{{"z", "x", "y"}, {"x", "y"}}, []string{"x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			won := map[string]bool{}
			for choice := range test.want {
				r := newRig(t, func(s *core.Settings) { s.Choose = func(n int) int { return choice % n } })
				var ids []string
				for range test.lists {
					ids = append(ids, r.id("g"))
				}
				for i, id := range ids {
					r.join("g", id, test.lists[i]...) // the first is alone at first
				}
				last := r.join("g", ids[0], test.lists[0]...)
				if got := len(r.joined(last).Members); got != len(ids) {
					t.Fatalf("%d members joined", got)
				}
				won[*r.joined(last).Protocol] = true
			}
			for _, name := range test.want {
				if !won[name] {
					t.Errorf("%s never won: %v", name, won)
				}
			}
			if len(won) != len(test.want) {
				t.Errorf("won: %v, want %v", won, test.want)
			}
		})
	}
}

// join.complete.leader: after the leader has gone, any of those who joined; one who rejoins stays.
func TestLeader(t *testing.T) {
	led := map[int]bool{}
	for choice := range 2 {
		r := newRig(t, func(s *core.Settings) { s.Choose = func(n int) int { return choice % n } })
		ids, _ := r.stable("g", 3)
		r.leave("g", ids[0])
		a := r.join("g", ids[1])
		b := r.join("g", ids[2])
		leader := r.joined(a).LeaderID
		if r.joined(b).LeaderID != leader {
			t.Fatal("two leaders")
		}
		led[slices.Index(ids, leader)] = true
		list := r.joined([]core.Ticket{0, a, b}[slices.Index(ids, leader)]).Members
		if len(list) != 2 {
			t.Errorf("the leader is told of %d members", len(list))
		}
	}
	if !led[1] || !led[2] || led[0] {
		t.Errorf("led by %v, want members 1 and 2", led)
	}
}

// join.complete.timeout: who has not come back when the join timer fires is out, heartbeats or not, and cannot lead.
func TestJoinTimer(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 2)
	parked := r.join("g", ids[1], "range=new")
	for range 5 {
		r.advance(rebalance/6 + time.Millisecond)
		if code := r.beat("g", ids[0], gen); code != core.RebalanceInProgress {
			t.Fatalf("heartbeat: %d", code)
		}
	}
	r.wantParked("before the join timer", parked)
	r.advance(rebalance / 6)
	got := r.joined(parked)
	if got.Generation != gen+1 || got.LeaderID != ids[1] || len(got.Members) != 1 {
		t.Errorf("%+v", got)
	}
	if code := r.beat("g", ids[0], gen); code != core.UnknownMemberID {
		t.Errorf("who stayed away: %d", code)
	}
}

// join.timer.fixed: a joiner with a longer rebalance timeout does not extend it, but the one that starts it counts.
func TestJoinTimerIsFixed(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	longer := joinReq("g", r.id("g"))
	longer.RebalanceTimeoutMillis = 40_000
	starter := r.send(longer, 9)
	longest := joinReq("g", r.id("g"))
	longest.RebalanceTimeoutMillis = 3_600_000
	late := r.send(longest, 9)
	for range 8 {
		r.advance(5*time.Second - time.Millisecond)
		r.beat("g", ids[0], gen)
	}
	r.wantParked("before the timer", starter, late)
	r.advance(8 * time.Millisecond)
	if got := r.joined(starter); got.ErrorCode != 0 || r.joined(late).ErrorCode != 0 {
		t.Errorf("after 40 s: %+v", got)
	}
}

// join.pending.blocks, and the join timer does not wait for pending ids (§1.4, §2.2.3).
func TestPendingBlocks(t *testing.T) {
	for _, end := range []string{"join", "leave", "expire", "join timer"} {
		t.Run(end, func(t *testing.T) {
			r := newRig(t)
			ids, _ := r.stable("g", 1)
			req := joinReq("g", "")
			req.SessionTimeoutMillis = int32((9 * time.Second).Milliseconds())
			if end == "join timer" {
				req.SessionTimeoutMillis = int32((2 * rebalance).Milliseconds())
			}
			pending := r.joined(r.send(req, 9)).MemberID
			parked := r.join("g", ids[0])
			r.wantParked("with a pending id", parked)
			members := 1
			switch end {
			case "join":
				r.join("g", pending)
				members = 2
			case "leave":
				r.leave("g", pending)
			case "expire":
				r.advance(9 * time.Second)
			case "join timer":
				r.advance(rebalance)
			}
			if got := r.joined(parked); got.ErrorCode != 0 || len(got.Members) != members {
				t.Errorf("%+v", got)
			}
			if end == "join timer" { // it is still pending and may join
				r.wantParked("the pending id", r.join("g", pending))
			}
		})
	}
}

// §3.3: the last member leaves while an id is pending: Empty at once, and the id survives.
func TestLastLeavesWithPending(t *testing.T) {
	r := newRig(t)
	ids, _ := r.stable("g", 1)
	pending := r.id("g")
	if got := r.leave("g", ids[0]); got.ErrorCode != 0 {
		t.Errorf("%+v", got)
	}
	r.wantState("g", "Empty")
	if got := r.joined(r.join("g", pending)); got.ErrorCode != 0 || got.Generation != 3 {
		t.Errorf("%+v", got)
	}
}

// §2.2.1: a negative rebalance timeout is accepted and counts as none.
func TestNegativeRebalanceTimeout(t *testing.T) {
	r := newRig(t)
	req := joinReq("g", r.id("g"))
	req.RebalanceTimeoutMillis = -5
	if got := r.joined(r.send(req, 9)); got.ErrorCode != 0 {
		t.Errorf("%+v", got)
	}
}
