package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

func (r *rig) failover() {
	r.Helper()
	if err := r.sim.Failover(); err != nil {
		r.Fatal(err)
	}
	r.look()
}

// gates are requests of every API to group "g", and where their answers have the error of the group.
func gates() map[string]struct {
	req     kmsg.Request
	version int16
	code    func(kmsg.Response) int16
} {
	join := joinReq("g", "m")
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID = "g", "m"
	old := kmsg.NewPtrLeaveGroupRequest()
	old.Group, old.MemberID = "g", "m"
	describe, remove := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrDeleteGroupsRequest()
	describe.Groups, remove.Groups = []string{"g"}, []string{"g"}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Group, fetch.Topics = "g", []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0}}}
	fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
	stable := *fetch
	stable.RequireStable = true
	type gate = struct {
		req     kmsg.Request
		version int16
		code    func(kmsg.Response) int16
	}
	fetched := func(r kmsg.Response) int16 {
		resp := r.(*kmsg.OffsetFetchResponse)
		switch {
		case resp.Version >= 8:
			return resp.Groups[0].ErrorCode
		case resp.Version >= 2:
			return resp.ErrorCode
		}
		return resp.Topics[0].Partitions[0].ErrorCode
	}
	left := func(r kmsg.Response) int16 {
		if n := len(r.(*kmsg.LeaveGroupResponse).Members); n > 0 {
			return int16(1000 + n)
		}
		return r.(*kmsg.LeaveGroupResponse).ErrorCode
	}
	txn := func(r kmsg.Response) int16 {
		return r.(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
	}
	return map[string]gate{
		"JoinGroup":     {join, 9, func(r kmsg.Response) int16 { return r.(*kmsg.JoinGroupResponse).ErrorCode }},
		"SyncGroup":     {syncReq("g", "m", 1), 5, func(r kmsg.Response) int16 { return r.(*kmsg.SyncGroupResponse).ErrorCode }},
		"Heartbeat":     {beat, 4, func(r kmsg.Response) int16 { return r.(*kmsg.HeartbeatResponse).ErrorCode }},
		"LeaveGroup":    {leaveReq("g", "m"), 5, left},
		"LeaveGroup v2": {old, 2, left},
		"OffsetCommit": {commitReq("g", "", -1, "t", 1), 9, func(r kmsg.Response) int16 {
			return r.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
		}},
		"TxnOffsetCommit v1": {txnReq("g", "", -1, 1, "t", 1), 1, txn},
		"TxnOffsetCommit v2": {txnReq("g", "", -1, 1, "t", 1), 2, txn},
		"TxnOffsetCommit v3": {txnReq("g", "", -1, 1, "t", 1), 3, txn},
		"OffsetFetch v1":     {fetch, 1, fetched}, "OffsetFetch v7": {fetch, 7, fetched}, "OffsetFetch v8": {&stable, 8, fetched}, "OffsetFetch v9": {&stable, 9, fetched},
		"OffsetDelete":   {offsetDeleteReq("g", "t"), 0, func(r kmsg.Response) int16 { return r.(*kmsg.OffsetDeleteResponse).ErrorCode }},
		"DescribeGroups": {describe, 6, func(r kmsg.Response) int16 { return r.(*kmsg.DescribeGroupsResponse).Groups[0].ErrorCode }},
		"DeleteGroups":   {remove, 2, func(r kmsg.Response) int16 { return r.(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode }},
		"ListGroups":     {kmsg.NewPtrListGroupsRequest(), 5, func(r kmsg.Response) int16 { return r.(*kmsg.ListGroupsResponse).ErrorCode }},
	}
}

// §2.0.3: loading.refuses, loading.heartbeat, loading.sync, loading.list, not-coordinator.refuses; and nothing of it has an effect.
func TestGates(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	ask := func(what string, want func(name string) int16) {
		t.Helper()
		for name, g := range gates() {
			if got := g.code(r.answers[r.send(g.req, g.version)]); got != want(name) {
				t.Errorf("%s: %s answered %d, want %d", what, name, got, want(name))
			}
		}
		bad := joinReq("g", "m")
		bad.SessionTimeoutMillis = 1
		if got := r.joined(r.send(bad, 9)); got.ErrorCode != core.InvalidSessionTimeout { // gate.session-first
			t.Errorf("%s: %+v", what, got)
		}
		if got := r.joined(r.join("g", "m")); got.MemberID != "" { // gate.echo
			t.Errorf("%s: %+v", what, got)
		}
		if got := r.joined(r.join("", "m")); got.ErrorCode != core.InvalidGroupID {
			t.Errorf("%s: %+v", what, got)
		}
		if code := r.committed(r.send(commitReq("g", "", -1, "nosuch", 1), 9)); code != core.UnknownTopicOrPartition {
			t.Errorf("%s: OffsetCommit of an unknown topic %d", what, code)
		}
		list := answer[*kmsg.ListGroupsResponse](r, r.send(kmsg.NewPtrListGroupsRequest(), 5))
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.CoordinatorKeys = []string{"g"}
		if found := answer[*kmsg.FindCoordinatorResponse](r, r.send(find, 6)); len(list.Groups) > 0 || found.Coordinators[0].ErrorCode != 0 {
			t.Errorf("%s: %+v, %+v", what, list, found)
		}
		if describe := r.describe("g"); describe.State != "" {
			t.Errorf("%s: %+v", what, describe)
		}
	}
	notCoordinator := func(name string) int16 {
		if name == "ListGroups" {
			return 0
		}
		return core.NotCoordinator
	}
	r.sim.Unload()
	ask("unloaded", notCoordinator)
	r.sim.Step(core.Marker{Producer: core.Producer{ID: 1}})
	r.sim.Step(core.TopicsDeleted{Topics: []string{"t"}})
	r.sim.BeginLoad()
	r.sim.Step(core.Marker{Producer: core.Producer{ID: 1}})
	if out := r.sim.Drain(); len(out.Marked) != 2 || out.Marked[0].Code != core.NotLeaderOrFollower || out.Marked[1].Code != core.NotLeaderOrFollower {
		t.Errorf("markers: %+v", out.Marked)
	}
	ask("loading", func(name string) int16 {
		switch name {
		case "Heartbeat":
			return 0
		case "TxnOffsetCommit v1":
			return core.CoordinatorNotAvailable
		}
		return core.CoordinatorLoadInProgress
	})
	r.advance(2 * session) // no timer runs meanwhile
	if err := r.sim.EndLoad(); err != nil {
		t.Fatal(err)
	}
	r.look()
	if code := r.beat("g", ids[0], gen); code != 0 {
		t.Errorf("after loading: %d", code)
	}
	if list := answer[*kmsg.ListGroupsResponse](r, r.send(kmsg.NewPtrListGroupsRequest(), 5)); len(list.Groups) != 1 {
		t.Errorf("after loading: %+v", list)
	}
	r.sim.BeginLoad()
	r.sim.Step(core.LoadEnd{Failed: true}) // DF33
	ask("after loading has failed", notCoordinator)
}

// load.state, load.sessions, load.no-sync (C74, 4.4-5): a Stable group goes on.
func TestFailoverStable(t *testing.T) {
	r := newRig(t)
	ids, gen := r.staticGroup("g", 2)
	r.commit("g", ids[0], gen, 5)
	r.advance(session - time.Second)
	before := fmt.Sprint(r.describe("g"))
	r.failover()
	if len(r.logged()) != 2 {
		t.Errorf("log: %+v", r.logged())
	}
	if left := r.sessionLeft(ids[0]); left != session {
		t.Errorf("session runs %v", left)
	}
	after := r.describe("g")
	for i := range after.Members { // instance ids are other pointers now
		if *after.Members[i].InstanceID != fmt.Sprint("i", i) {
			t.Errorf("%+v", after.Members[i])
		}
	}
	if len(fmt.Sprint(after)) != len(before) || after.State != "Stable" || after.Protocol != "range" || string(after.Members[1].MemberAssignment) != "a1" {
		t.Errorf("before %s\nafter  %+v", before, after)
	}
	if code := r.beat("g", ids[0], gen); code != 0 || r.fetch("g") != 5 {
		t.Errorf("heartbeat %d, offset %d", code, r.fetch("g"))
	}
	if s := r.synced(r.sync("g", ids[1], gen)); string(s.MemberAssignment) != "a1" {
		t.Errorf("%+v", s)
	}
	r.alive("g", ids, gen, 2*rebalance)
	r.wantState("g", "Stable")
	if got := r.joined(r.send(staticReq("g", ids[1], "i1"), 9)); got.Generation != gen || got.LeaderID != ids[0] {
		t.Errorf("a follower repeats: %+v", got)
	}
	replaced := r.joined(r.static("g", "i1")).MemberID // 4.5-st
	r.failover()
	if code := r.beat("g", replaced, gen); code != 0 || r.beat("g", ids[1], gen) != core.UnknownMemberID {
		t.Errorf("the replaced member: %d", code)
	}
	r.advance(session)
	r.wantState("g", "Empty")
	r.failover()
	if d := r.describe("g"); d.State != "Empty" || d.ProtocolType != "consumer" {
		t.Errorf("%+v", d)
	}
	if _, next := r.stable("g", 1); next != gen+2 {
		t.Errorf("generation %d, want %d", next, gen+2)
	}
}

// load.state: what only memory knew is lost (§4.5; C75, C76), and generations are used again.
func TestFailoverRebalance(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	pending := r.id("g")
	r.id("never")
	newcomer := r.send(joinReq("g", ""), 3)
	r.failover()
	if got := r.joined(newcomer); got.ErrorCode != core.NotCoordinator || got.MemberID == "" || got.Generation != -1 { // unload.join
		t.Errorf("%+v", got)
	}
	r.wantUnknown(r.join("g", pending))
	r.wantUnknown(r.join("g", r.joined(newcomer).MemberID))
	if d := r.describe("never"); d.State != "Empty" || d.ProtocolType != "" {
		t.Errorf("%+v", d)
	}
	if code := r.beat("g", ids[0], gen); code != 0 {
		t.Errorf("heartbeat %d", code)
	}
	b := r.send(joinReq("g", ""), 3) // gen+1, never synced
	r.join("g", ids[0])
	follower := r.sync("g", r.joined(b).MemberID, gen+1)
	r.failover()
	if got := r.synced(follower); got.ErrorCode != core.NotCoordinator { // unload.sync
		t.Errorf("%+v", got)
	}
	if a, b := r.beat("g", ids[0], gen+1), r.beat("g", ids[0], gen); a != core.IllegalGeneration || b != 0 {
		t.Errorf("heartbeats %d, %d", a, b)
	}
	if got := r.joined(r.join("g", ids[0], "range", "rr")); got.Generation != gen+1 { // load.one-protocol: a changed list
		t.Errorf("%+v", got)
	}
}

// §4.6: writes that are open fail first, then what is parked is answered (4.6-st, 4.6-w); what the log says later is nothing any more.
func TestUnloadWithWrites(t *testing.T) {
	r := newRig(t)
	ids, gen := r.staticGroup("g", 2)
	other, otherGen := r.generation("h", 2)
	r.commit("d", "", -1, 1)
	last, _ := r.stable("l", 1)
	r.sim.HoldWrites(true)
	follower, leader := r.sync("h", other[1], otherGen), r.sync("h", other[0], otherGen)
	replaced := r.static("g", "i1")
	commit := r.send(commitReq("g", ids[0], gen, "t", 1), 9)
	remove := func() core.Ticket {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{"d"}
		return r.send(req, 2)
	}()
	postponed := r.send(commitReq("d", "", -1, "t", 2), 9)
	txn := r.send(txnReq("x", "", -1, 3, "t", 2), 3)
	r.sim.Step(core.Marker{Producer: core.Producer{ID: 3}, Commit: true})
	leave := r.send(leaveReq("l", last[0]), 5)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", ids[0], gen
	behind := r.send(beat, 4)
	open := r.appends
	r.sim.Step(core.Unload{})
	r.look()
	if a, b := r.synced(follower), r.synced(leader); a.ErrorCode != core.NotCoordinator || b.ErrorCode != core.NotCoordinator {
		t.Errorf("SyncGroup: %+v, %+v", a, b)
	}
	if got := r.joined(replaced); got.ErrorCode != core.NotCoordinator || got.MemberID != "" || got.Generation != gen || *got.Protocol != "range" {
		t.Errorf("the replacement: %+v", got)
	}
	for what, code := range map[string]int16{
		"OffsetCommit": r.committed(commit), "a postponed OffsetCommit": r.committed(postponed), "TxnOffsetCommit": r.txnCommitted(txn),
		"DeleteGroups": answer[*kmsg.DeleteGroupsResponse](r, remove).Groups[0].ErrorCode, "LeaveGroup": answer[*kmsg.LeaveGroupResponse](r, leave).ErrorCode,
		"Heartbeat": answer[*kmsg.HeartbeatResponse](r, behind).ErrorCode,
	} {
		if code != core.NotCoordinator {
			t.Errorf("%s: %d", what, code)
		}
	}
	if len(r.timers()) > 0 {
		t.Errorf("timers: %v", r.timers())
	}
	for _, w := range open {
		r.sim.Step(core.Appended{ID: w.ID})
		r.sim.Step(core.Appended{ID: w.ID, Code: core.RequestTimedOut})
	}
	for _, err := range r.takeReports() { // the record of l, which became Empty; what the log says later is no inconsistency
		if _, failed := err.(*core.WriteError); !failed { //nolint:errorlint // never wrapped
			t.Error(err)
		}
	}
	r.sim.HoldWrites(false)
	r.failover()
	if code := r.beat("g", ids[0], gen); code != 0 || r.fetch("d") != 1 {
		t.Errorf("loaded again: %d", code)
	}
}

// load.epoch.
func TestEpochs(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.sim.Step(core.Unload{Epoch: 5})
	r.sim.Step(core.LoadBegin{Epoch: 4}) // heard of late
	if got := r.describe("g"); got.ErrorCode != core.NotCoordinator {
		t.Errorf("%+v", got)
	}
	r.sim.Step(core.LoadBegin{Epoch: 6})
	r.sim.Step(core.Unload{Epoch: 5})
	if got := r.describe("g"); got.ErrorCode != core.CoordinatorLoadInProgress {
		t.Errorf("%+v", got)
	}
	if err := r.sim.EndLoad(); err != nil || r.fetch("g") != 1 {
		t.Errorf("%v, %d", err, r.fetch("g"))
	}
}

// Replay and LoadEnd have no meaning outside of loading.
func TestLoadOutOfPlace(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.sim.Step(core.Replay{})
	r.sim.Step(core.LoadEnd{})
	if len(r.takeReports()) != 2 || r.fetch("g") != 1 {
		t.Error("something happened")
	}
}

// Topics that are deleted while the log is being read.
func TestTopicDeletedWhileLoading(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.sim.BeginLoad()
	r.sim.Step(core.TopicsDeleted{Topics: []string{"t"}})
	if err := r.sim.EndLoad(); err != nil || r.fetch("g") != -1 {
		t.Errorf("%v, %d", err, r.fetch("g"))
	}
}

// §4.4: records as no coordinator of this kind writes them. Members and offsets of other versions are read; what makes no sense harms
// nobody.
func TestReplayStrange(t *testing.T) {
	member := func(id string, instance *string, rebalance int32) kmsg.GroupMetadataValueMember {
		m := kmsg.NewGroupMetadataValueMember()
		m.MemberID, m.InstanceID, m.SessionTimeoutMillis, m.RebalanceTimeoutMillis = id, instance, 10_000, rebalance
		m.Subscription = []byte(id)
		return m
	}
	value := func(version int16, generation int32, members ...kmsg.GroupMetadataValueMember) *kmsg.GroupMetadataValue {
		v := kmsg.NewGroupMetadataValue()
		v.Version, v.ProtocolType, v.Generation, v.Members = version, "consumer", generation, members
		v.Protocol, v.Leader = kmsg.StringPtr("range"), kmsg.StringPtr("a")
		return &v
	}
	i := kmsg.StringPtr("i")
	for _, test := range []struct {
		name   string
		value  *kmsg.GroupMetadataValue
		ids    []string
		leader string
		next   int32
	}{
		{"version 0 has no rebalance timeout", value(0, 7, member("a", i, 0)), []string{"a"}, "a", 8},
		{"a rebalance timeout of -1", value(3, 7, member("a", nil, -1)), []string{"a"}, "a", 8},
		{"no leader", func() *kmsg.GroupMetadataValue { v := value(3, 7, member("a", nil, 1)); v.Leader = nil; return v }(), []string{"a"}, "a", 8},
		{"a leader who is no member", value(3, 7, member("b", nil, 1), member("c", nil, 1)), []string{"b", "c"}, "b", 8},
		{"no protocol", func() *kmsg.GroupMetadataValue { v := value(3, 7, member("a", nil, 1)); v.Protocol = nil; return v }(), []string{"a"}, "a", 8},
		{"one id twice", value(3, 7, member("a", nil, 1), member("b", nil, 1), member("a", i, 1)), []string{"b", "a"}, "a", 8},
		{"one instance twice", value(3, 7, member("a", i, 1), member("b", i, 1)), []string{"b"}, "b", 8},
		{"a negative generation", value(3, -7, member("a", nil, 1)), []string{"a"}, "a", 1},
		{"the last generation", value(3, 1<<31-1, member("a", nil, 1)), []string{"a"}, "a", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.sim.Step(core.LoadBegin{})
			r.sim.Step(core.Replay{Records: []core.Record{
				{Kind: core.GroupRecord, Group: "g", Metadata: value(3, 1, member("x", nil, 1))},
				{Kind: core.GroupRecord, Group: "g", Metadata: test.value},
				{Kind: core.OffsetRecord, Group: "g", Topic: "t"},
				{Kind: core.CommitMarker},
				{Kind: core.OffsetTombstone, Group: "other", Topic: "t"},
			}})
			r.sim.Step(core.LoadEnd{})
			r.look()
			var ids []string
			for _, m := range r.describe("g").Members {
				ids = append(ids, m.MemberID)
			}
			if !slices.Equal(ids, test.ids) || r.describe("other").State != "Dead" {
				t.Errorf("members %v, want %v", ids, test.ids)
			}
			protocol := "range=new"
			if test.value.Protocol == nil {
				protocol = "=new"
			}
			var last core.Ticket
			for _, id := range ids {
				last = r.join("g", id, protocol)
			}
			if len(ids) == 1 && r.joined(last).Generation != test.next || len(ids) > 1 && r.joined(last).LeaderID != test.leader {
				t.Errorf("%+v", r.joined(last))
			}
		})
	}
}

// §4.1: where a record has no rebalance timeout, the session timeout stands in for it.
func TestReplayRebalanceTimeout(t *testing.T) {
	for version, timeout := range map[int16]int32{0: 60_000, 1: -1, 3: -1} {
		r := newRig(t)
		v := kmsg.NewGroupMetadataValue()
		v.Version, v.ProtocolType, v.Protocol = version, "consumer", kmsg.StringPtr("range")
		m := kmsg.NewGroupMetadataValueMember()
		m.MemberID, m.SessionTimeoutMillis, m.RebalanceTimeoutMillis = "m", 20_000, timeout
		v.Members = []kmsg.GroupMetadataValueMember{m}
		r.sim.Step(core.LoadBegin{})
		r.sim.Step(core.Replay{Records: []core.Record{{Kind: core.GroupRecord, Group: "g", Metadata: &v}}})
		r.sim.Step(core.LoadEnd{})
		r.newMember(time.Second)
		if timers := r.timers(); !slices.Contains(timers, "join  20s") {
			t.Errorf("version %d: %q", version, timers)
		}
	}
}

// Reading the whole log, or what compaction has left of it, gives the same; so does reading it twice.
func TestReplayCompacted(t *testing.T) {
	life := func(r *rig) {
		ids, gen := r.staticGroup("g", 2)
		r.txn("g", 1, 10)
		r.commit("g", ids[0], gen, 20)
		r.txn("g", 2, 30)
		r.txn("gone", 2, 30)
		r.mark(1, true)
		r.static("g", "i1")
		r.commit("s", "", -1, 1)
		r.txn("s", 3, 2)
		r.offsetDelete("s", "t")
		r.txn("s", 4, 3)
		r.mark(3, true)
		r.id("e")
		r.remove("gone")
		r.commit("gone", "", -1, 4)
		r.mark(9, false)
	}
	look := func(r *rig) (all []string) {
		for _, g := range []string{"g", "s", "e", "gone"} {
			at, code := r.stableFetch(g)
			d := r.describe(g)
			all = append(all, fmt.Sprint(g, d.State, d.ProtocolType, d.Protocol, at, code, r.fetch(g)))
			for _, m := range d.Members {
				all = append(all, fmt.Sprint(m.MemberID, *m.InstanceID, string(m.ProtocolMetadata), string(m.MemberAssignment)))
			}
		}
		return all
	}
	r := newRig(t)
	life(r)
	live := look(r)
	raw := newRig(t)
	raw.sim.Step(core.LoadBegin{})
	raw.sim.Step(core.Replay{Records: r.raw()})
	raw.sim.Step(core.LoadEnd{})
	raw.look()
	for what, got := range map[string][]string{"whole": look(raw), "compacted": func() []string { r.failover(); return look(r) }(), "again": func() []string { r.failover(); return look(r) }()} {
		if !slices.Equal(got, live) {
			t.Errorf("%s:\n%q\nlive\n%q", what, got, live)
		}
	}
	r.mark(2, true)
	r.mark(4, true)
	if r.fetch("g") != 30 || r.fetch("s") != 3 || r.fetch("gone") != 4 {
		t.Errorf("after the markers: %d %d %d", r.fetch("g"), r.fetch("s"), r.fetch("gone"))
	}
}

// A log with a record that cannot be read is not served; one with an unknown kind of key is.
func TestDamagedLog(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.sim.Log().Append([]byte{0, 77}, []byte{1})
	r.failover()
	if r.fetch("g") != 1 {
		t.Error("the rest was not read")
	}
	r.sim.Log().Append(record.GroupKey("h"), []byte{0, 3, 9})
	if err := r.sim.Failover(); err == nil {
		t.Error("no error")
	}
	if d := r.describe("g"); d.ErrorCode != core.NotCoordinator {
		t.Errorf("%+v", d)
	}
}
