package core_test

import (
	"slices"
	"testing"
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

const (
	retention = time.Hour
	interval  = 10 * time.Minute
)

func cleaning(s *core.Settings) { s.OffsetsRetention, s.CleanupInterval = retention, interval }

// alive lets d pass while the members heartbeat.
func (r *rig) alive(group string, ids []string, generation int32, d time.Duration) {
	r.Helper()
	for ; d > 0; d -= session / 2 {
		r.advance(session / 2)
		for _, id := range ids {
			r.beat(group, id, generation)
		}
	}
}

// §3.5, the table: what is left of t/0 and u/0, committed at the beginning, just before the retention is over and at the cleanup after it.
func TestExpiry(t *testing.T) {
	both := func(r *rig, member string, gen int32) {
		r.commit("g", member, gen, 1)
		r.send(commitReq("g", member, gen, "u", 2), 9)
	}
	for _, test := range []struct {
		rule  string
		do    func(r *rig)
		left  []string // of "t", "u"
		state string
	}{
		{"expiry.simple", func(r *rig) { both(r, "", -1); r.advance(retention) }, nil, "Dead"},
		{"expiry.simple: not yet", func(r *rig) { r.advance(time.Second); both(r, "", -1); r.advance(retention - time.Second) }, []string{"t", "u"}, "Empty"},
		{"expiry.simple: each by itself", func(r *rig) {
			r.commit("g", "", -1, 1)
			r.advance(time.Minute)
			r.send(commitReq("g", "", -1, "u", 2), 9)
			r.advance(retention - time.Minute)
		}, []string{"u"}, "Empty"},
		{"expiry.empty: counts from when it became so", func(r *rig) {
			id, gen := r.consumer("g", subscription("t"))
			both(r, id, gen)
			r.alive("g", []string{id}, gen, 30*time.Minute)
			r.leave("g", id)
			r.advance(retention - time.Second)
		}, []string{"t", "u"}, "Empty"},
		{"expiry.empty: all together", func(r *rig) {
			id, gen := r.consumer("g", subscription("t"))
			r.commit("g", id, gen, 1)
			r.leave("g", id)
			r.advance(30 * time.Minute)
			r.send(commitReq("g", "", -1, "u", 2), 9)
			r.advance(30 * time.Minute)
		}, nil, "Dead"},
		{"expiry.empty: the clock stops", func(r *rig) {
			id, gen := r.consumer("g", subscription("t", "u"))
			both(r, id, gen)
			r.leave("g", id)
			r.advance(30 * time.Minute)
			id, gen = r.consumer("g", subscription("t", "u"))
			r.alive("g", []string{id}, gen, retention)
		}, []string{"t", "u"}, "Stable"},
		{"expiry.unsubscribed", func(r *rig) {
			id, gen := r.consumer("g", subscription("t"))
			both(r, id, gen)
			r.alive("g", []string{id}, gen, retention)
		}, []string{"t"}, "Stable"},
		{"expiry.unsubscribed: unknown", func(r *rig) {
			id, gen := r.consumer("g", "range=?")
			both(r, id, gen)
			r.alive("g", []string{id}, gen, retention)
		}, []string{"t", "u"}, "Stable"},
		{"expiry.rebalancing", func(r *rig) {
			id, gen := r.consumer("g", subscription("t"))
			both(r, id, gen)
			r.alive("g", []string{id}, gen, retention-time.Minute)
			req := joinReq("g", "")
			req.RebalanceTimeoutMillis = 3_600_000
			r.send(req, 3)
			r.alive("g", []string{id}, gen, time.Minute)
			r.sim.Step(core.Cleanup{})
		}, []string{"t", "u"}, "PreparingRebalance"},
		{"expiry.explicit", func(r *rig) {
			req := commitReq("g", "", -1, "t", 1)
			req.RetentionTimeMillis = interval.Milliseconds()
			r.send(req, 4)
			r.send(commitReq("g", "", -1, "u", 2), 4)
			r.advance(interval)
		}, []string{"u"}, "Empty"},
		{"expiry.explicit: longer than the retention", func(r *rig) {
			req := commitReq("g", "", -1, "t", 1)
			req.RetentionTimeMillis = 2 * retention.Milliseconds()
			r.send(req, 2)
			r.send(commitReq("g", "", -1, "u", 2), 9)
			r.advance(retention)
		}, []string{"t"}, "Empty"},
		{"expiry.explicit: for ever", func(r *rig) {
			req := commitReq("g", "", -1, "t", 1)
			req.RetentionTimeMillis = 1<<63 - 1
			r.send(req, 3)
			r.advance(2 * retention)
		}, []string{"t"}, "Empty"},
		{"expiry.explicit: long ago", func(r *rig) {
			req := commitReq("g", "", -1, "t", 1)
			req.RetentionTimeMillis = -1 << 63
			r.send(req, 3)
			r.advance(interval)
		}, nil, "Dead"},
		{"expiry.explicit: version 5 has none", func(r *rig) {
			req := commitReq("g", "", -1, "t", 1)
			req.RetentionTimeMillis = 1
			r.send(req, 5)
			r.advance(interval)
		}, []string{"t"}, "Empty"},
		{"expiry.explicit: not while somebody consumes it", func(r *rig) {
			id, gen := r.consumer("g", subscription("t"))
			req := commitReq("g", id, gen, "t", 1)
			req.RetentionTimeMillis = 1
			r.send(req, 4)
			r.alive("g", []string{id}, gen, 2*interval)
		}, []string{"t"}, "Stable"},
		{"expiry.pending", func(r *rig) { both(r, "", -1); r.txn("g", 1, 9); r.advance(retention) }, []string{"t"}, "Empty"},
		{"cleanup.removes", func(r *rig) { r.id("g"); r.advance(interval) }, nil, "Dead"},
		{"cleanup.removes: a group with members", func(r *rig) {
			id, gen := r.consumer("g", subscription("t"))
			r.alive("g", []string{id}, gen, interval)
		}, nil, "Stable"},
		{"cleanup.pending", func(r *rig) { r.txn("g", 1, 9); r.advance(2 * retention) }, nil, "Empty"},
		{"offset-delete.last", func(r *rig) { r.commit("g", "", -1, 1); r.offsetDelete("g", "t"); r.advance(interval) }, nil, "Dead"},
	} {
		for _, failover := range []bool{false, true} {
			r := newRig(t, cleaning)
			test.do(r)
			if failover && test.state != "PreparingRebalance" { // nothing depends on what only memory knows
				if err := r.sim.Failover(); err != nil {
					t.Fatal(err)
				}
				r.sim.Step(core.Cleanup{})
				r.look()
			}
			var left []string
			if r.fetch("g") == 1 {
				left = append(left, "t")
			}
			for _, e := range r.logged() {
				if e.OffsetKey != nil && e.OffsetKey.Topic == "u" {
					left = append(left, "u")
				}
			}
			if !slices.Equal(left, test.left) {
				t.Errorf("%s: left %v, want %v (failover %v)", test.rule, left, test.left, failover)
			}
			if got := r.describe("g").State; got != test.state {
				t.Errorf("%s: %s, want %s (failover %v)", test.rule, got, test.state, failover)
			}
		}
	}
}

// Without an interval, nothing is armed; Cleanup is the caller's to send.
func TestCleanupByHand(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.advance(7*24*time.Hour - time.Millisecond)
	r.sim.Step(core.Cleanup{})
	if r.fetch("g") != 1 || len(r.timers()) > 0 {
		t.Errorf("before the default retention: %d, timers %v", r.fetch("g"), r.timers())
	}
	r.advance(time.Millisecond)
	r.sim.Step(core.Cleanup{})
	r.look()
	r.wantState("g", "Dead")
	if len(r.logged()) > 0 {
		t.Errorf("left: %+v", r.logged())
	}
}

// Tombstones that cannot be written have expired nothing; the next cleanup tries again. What the group is asked meanwhile waits.
func TestCleanupFails(t *testing.T) {
	r := newRig(t, cleaning)
	r.commit("g", "", -1, 1)
	r.id("h")
	r.advance(retention - time.Second)
	r.id("i") // pending, like that of h
	r.sim.FailWrites(core.MessageTooLarge)
	r.advance(time.Second)
	if r.fetch("g") != 1 || len(r.takeReports()) == 0 {
		t.Error("nothing was written, and yet")
	}
	r.sim.FailWrites(core.None)
	r.sim.HoldWrites(true)
	r.advance(interval)
	behind := r.send(commitReq("g", "", -1, "t", 2), 9)
	r.wantParked("behind the tombstones", behind)
	for len(r.appends) > 0 && r.sim.EndWrite(core.None) {
		r.look()
	}
	if r.committed(behind) != 0 || r.fetch("g") != 2 {
		t.Errorf("%d, offset %d", r.committed(behind), r.fetch("g"))
	}
}

// offsets.topic-deleted: pending offsets too.
func TestTopicsDeletedPending(t *testing.T) {
	r := newRig(t)
	r.txn("g", 1, 10)
	r.sim.Step(core.TopicsDeleted{Topics: []string{"t"}})
	r.mark(1, true)
	if r.fetch("g") != -1 {
		t.Error("the offset came back")
	}
	r.wantState("g", "Empty")
}
