package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

func txnReq(group, member string, generation int32, producer int64, topic string, offset int64) *kmsg.TxnOffsetCommitRequest {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID = "tx", producer
	req.Group, req.MemberID, req.Generation = group, member, generation
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Offset = offset
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{p}}}
	return req
}

// txn commits t/0 in a transaction, without a member.
func (r *rig) txn(group string, producer, offset int64) {
	r.Helper()
	if code := r.txnCommitted(r.send(txnReq(group, "", -1, producer, "t", offset), 3)); code != 0 {
		r.Errorf("TxnOffsetCommit: %d", code)
	}
}

func (r *rig) txnCommitted(t core.Ticket) int16 {
	r.Helper()
	return answer[*kmsg.TxnOffsetCommitResponse](r, t).Topics[0].Partitions[0].ErrorCode
}

func (r *rig) mark(producer int64, commit bool) {
	r.Helper()
	r.sim.Step(core.Marker{Producer: core.Producer{ID: producer}, Commit: commit})
	r.look()
}

// stableFetch is what a fetch that requires stable offsets says of t/0.
func (r *rig) stableFetch(group string) (int64, int16) {
	r.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = true
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}}}
	p := answer[*kmsg.OffsetFetchResponse](r, r.send(req, 9)).Groups[0].Topics[0].Partitions[0]
	return p.Offset, p.ErrorCode
}

// The leader's epoch is committed from version 2 on.
func TestTxnLeaderEpoch(t *testing.T) {
	for version, want := range []int32{-1, -1, 5, 5} {
		r := newRig(t)
		req := txnReq("g", "", -1, 1, "t", 3)
		req.Topics[0].Partitions[0].LeaderEpoch = 5
		if code := r.txnCommitted(r.send(req, int16(version))); code != 0 {
			t.Fatalf("v%d: %d", version, code)
		}
		r.mark(1, true)
		fetch := kmsg.NewPtrOffsetFetchRequest()
		fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}}}
		if got := answer[*kmsg.OffsetFetchResponse](r, r.send(fetch, 9)).Groups[0].Topics[0].Partitions[0]; got.Offset != 3 || got.LeaderEpoch != want {
			t.Errorf("v%d: offset %d, epoch %d, want epoch %d", version, got.Offset, got.LeaderEpoch, want)
		}
	}
}

// §2.9.1, the table.
func TestTxnCommit(t *testing.T) {
	stable := func(r *rig) (string, int32) { ids, gen := r.stable("g", 2); return ids[1], gen }
	completing := func(r *rig) (string, int32) { ids, gen := r.generation("g", 2); return ids[1], gen }
	none := func(*rig) (string, int32) { return "", -1 }
	empty := func(r *rig) (string, int32) { ids, _ := r.stable("g", 1); r.leave("g", ids[0]); return ids[0], -1 }
	instance := func(q *kmsg.TxnOffsetCommitRequest) { q.InstanceID = kmsg.StringPtr("i0") }
	anonymous := func(q *kmsg.TxnOffsetCommitRequest) { q.MemberID, q.Generation = "", -1 }
	for _, test := range []struct {
		rule    string
		version int16
		setup   func(*rig) (string, int32)
		change  func(*kmsg.TxnOffsetCommitRequest)
		code    int16
	}{
		{"txn-commit.group-id.empty", 3, none, func(q *kmsg.TxnOffsetCommitRequest) { q.Group = "" }, core.InvalidGroupID},
		{"topics first", 3, none, func(q *kmsg.TxnOffsetCommitRequest) { q.Group, q.Topics[0].Topic = "", "nosuch" }, core.UnknownTopicOrPartition},
		{"txn-commit.simple.creates", 3, none, nil, 0},
		{"txn-commit.group.unknown (C51)", 3, none, func(q *kmsg.TxnOffsetCommitRequest) { q.Generation = 5 }, core.IllegalGeneration},
		{"old versions carry no generation", 2, none, func(q *kmsg.TxnOffsetCommitRequest) { q.Generation = 5 }, 0},
		{"txn-commit.empty.accepted", 3, empty, nil, 0},
		{"txn-commit.empty.accepted: instance", 3, empty, instance, 0},
		{"txn-commit.member.unknown: Empty", 3, empty, func(q *kmsg.TxnOffsetCommitRequest) { q.Generation = 1 }, core.UnknownMemberID},
		{"txn-commit.anonymous.accepted", 3, stable, anonymous, 0},
		{"txn-commit.anonymous.accepted: v0", 0, stable, nil, 0},
		{"txn-commit.anonymous.accepted: Completing", 4, completing, anonymous, 0},
		{"txn-commit.member.unknown", 3, stable, func(q *kmsg.TxnOffsetCommitRequest) { q.MemberID, q.Generation = "q", 99 }, core.UnknownMemberID},
		{"txn-commit.member.unknown: no id", 3, stable, func(q *kmsg.TxnOffsetCommitRequest) { q.MemberID = "" }, core.UnknownMemberID},
		{"txn-commit.generation.illegal", 3, stable, func(q *kmsg.TxnOffsetCommitRequest) { q.Generation++ }, core.IllegalGeneration},
		{"txn-commit.generation.illegal: none", 3, stable, func(q *kmsg.TxnOffsetCommitRequest) { q.Generation = -1 }, core.IllegalGeneration},
		{"static.fenced", 3, func(r *rig) (string, int32) { _, gen := r.staticGroup("g", 1); return "q", gen }, instance, core.FencedInstanceID},
		{"static.unmapped", 3, stable, instance, core.UnknownMemberID},
		{"txn-commit.any-phase: Stable", 3, stable, nil, 0},
		{"txn-commit.any-phase: Completing", 3, completing, nil, 0},
		{"txn-commit.any-phase: Preparing", 3, func(r *rig) (string, int32) { ids, gen := r.stable("g", 2); r.join("g", ids[0]); return ids[1], gen }, nil, 0},
		{"metadata", 3, none, func(q *kmsg.TxnOffsetCommitRequest) {
			q.Topics[0].Partitions[0].Metadata = kmsg.StringPtr(strings.Repeat("x", 4097))
		}, core.OffsetMetadataTooLarge},
	} {
		t.Run(test.rule, func(t *testing.T) {
			r := newRig(t)
			member, gen := test.setup(r)
			req := txnReq("g", member, gen, 7, "t", 42)
			if test.change != nil {
				test.change(req)
			}
			if code := r.txnCommitted(r.send(req, test.version)); code != test.code {
				t.Errorf("error %d, want %d", code, test.code)
			}
			if got := r.fetch("g"); got != -1 { // txn.pending
				t.Errorf("offset %d is seen before its transaction has ended", got)
			}
			want := int64(-1)
			if test.code == 0 {
				want = 42
			}
			if r.mark(7, true); r.fetch("g") != want {
				t.Errorf("after the marker: %d, want %d", r.fetch("g"), want)
			}
		})
	}
}

// txn-commit.verified: the transaction comes before the member, and after the topics.
func TestTxnVerified(t *testing.T) {
	for _, code := range []int16{47, 48, 49, 120} {
		r := newRig(t)
		req := txnReq("g", "q", 5, 7, "t", 1)
		req.Topics = append(req.Topics, kmsg.TxnOffsetCommitRequestTopic{Topic: "nosuch", Partitions: req.Topics[0].Partitions})
		r.last++
		r.sim.Step(core.Request{Ticket: r.last, Message: req, Version: 4, Verified: code})
		r.look()
		got := answer[*kmsg.TxnOffsetCommitResponse](r, r.last)
		if got.Topics[0].Partitions[0].ErrorCode != code || got.Topics[1].Partitions[0].ErrorCode != core.UnknownTopicOrPartition {
			t.Errorf("%+v", got)
		}
		r.wantState("g", "Dead")
	}
}

// txn-commit.keeps-timer (C45b).
func TestTxnKeepsTimer(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	r.advance(session - time.Second)
	r.txnCommitted(r.send(txnReq("g", ids[0], gen, 7, "t", 1), 3))
	r.advance(time.Second)
	r.wantState("g", "Empty")
}

// txn.commits, txn.aborts, txn.newer-wins (C49), and what else §2.9.2 says.
func TestMarkers(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*rig)
		want int64
	}{
		{"committed", func(r *rig) { r.txn("g", 1, 10); r.mark(1, true) }, 10},
		{"aborted", func(r *rig) { r.txn("g", 1, 10); r.mark(1, false) }, 5},
		{"another producer's", func(r *rig) { r.txn("g", 1, 10); r.mark(2, true) }, 5},
		{"twice", func(r *rig) { r.txn("g", 1, 10); r.mark(1, true); r.commit("g", "", -1, 7); r.mark(1, true) }, 7},
		{"after an abort", func(r *rig) { r.txn("g", 1, 10); r.mark(1, false); r.mark(1, true) }, 5},
		{"a plain commit later", func(r *rig) { r.txn("g", 1, 10); r.commit("g", "", -1, 20); r.mark(1, true) }, 20},
		{"a plain commit before", func(r *rig) { r.commit("g", "", -1, 20); r.txn("g", 1, 10); r.mark(1, true) }, 10},
		{"itself again", func(r *rig) { r.txn("g", 1, 10); r.txn("g", 1, 11); r.mark(1, true) }, 11},
		{"two producers, the later marker is the older commit", func(r *rig) { r.txn("g", 1, 10); r.txn("g", 2, 20); r.mark(2, true); r.mark(1, true) }, 20},
		{"two producers, in order", func(r *rig) { r.txn("g", 1, 10); r.txn("g", 2, 20); r.mark(1, true); r.mark(2, true) }, 20},
		{"and then a new one", func(r *rig) { r.txn("g", 1, 10); r.mark(1, true); r.txn("g", 1, 11); r.mark(1, false) }, 10},
	} {
		for _, failover := range []bool{false, true} {
			r := newRig(t)
			r.commit("g", "", -1, 5)
			test.do(r)
			if failover {
				if err := r.sim.Failover(); err != nil {
					t.Fatal(err)
				}
				r.look()
			}
			if got := r.fetch("g"); got != test.want {
				t.Errorf("%s: offset %d, want %d (failover %v)", test.name, got, test.want, failover)
			}
		}
	}
}

// Several groups in one transaction, and an effect for the coordinator of transactions.
func TestMarkerOfManyGroups(t *testing.T) {
	r := newRig(t)
	r.txn("g", 1, 1)
	r.txn("h", 1, 2)
	r.txn("other", 2, 3)
	r.sim.Step(core.Marker{Producer: core.Producer{ID: 1, Epoch: 3}, Commit: true})
	out := r.sim.Drain()
	if len(out.Marked) != 1 || out.Marked[0].Code != 0 || out.Marked[0].Marker.Producer.Epoch != 3 || len(out.Appends) != 1 {
		t.Errorf("%+v", out)
	}
	if r.fetch("g") != 1 || r.fetch("h") != 2 || r.fetch("other") != -1 {
		t.Errorf("%d %d %d", r.fetch("g"), r.fetch("h"), r.fetch("other"))
	}
	for log, want := range map[int16]int16{core.NotEnoughReplicas: 6, core.NotLeaderOrFollower: 6, core.MessageTooLarge: -1} {
		r.sim.FailWrites(log)
		r.sim.Step(core.Marker{Producer: core.Producer{ID: 2}, Commit: true})
		if out := r.sim.Drain(); out.Marked[0].Code != want || r.fetch("other") != -1 {
			t.Errorf("log error %d: %+v", log, out.Marked)
		}
	}
}

// fetch.unstable, and the modes of a fetch (C47, C48).
func TestFetchUnstable(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 5)
	r.txn("g", 1, 10)
	r.txnCommitted(r.send(txnReq("g", "", -1, 1, "u", 10), 3)) // u/0 is only pending
	if at, code := r.stableFetch("g"); at != -1 || code != core.UnstableOffsetCommit {
		t.Errorf("stable: %d, error %d", at, code)
	}
	if at := r.fetch("g"); at != 5 {
		t.Errorf("plain: %d", at)
	}
	named := []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0, 1}}, {Topic: "u", Partitions: []int32{0}}}
	for version := int16(7); version <= 9; version++ {
		for _, all := range []bool{true, false} {
			req := kmsg.NewPtrOffsetFetchRequest()
			req.RequireStable, req.Group = true, "g"
			req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}, {Group: "nosuch"}}
			if !all {
				req.Groups[0].Topics = named
				for _, n := range named {
					req.Topics = append(req.Topics, kmsg.OffsetFetchRequestTopic{Topic: n.Topic, Partitions: n.Partitions})
				}
			}
			resp := answer[*kmsg.OffsetFetchResponse](r, r.send(req, version))
			topics, codes := 0, []int16{}
			for _, topic := range resp.Topics {
				topics++
				for _, p := range topic.Partitions {
					codes = append(codes, p.ErrorCode)
				}
			}
			if version >= 8 {
				for _, topic := range resp.Groups[0].Topics {
					topics++
					for _, p := range topic.Partitions {
						codes = append(codes, p.ErrorCode)
					}
				}
				if len(resp.Groups) != 2 || len(resp.Groups[1].Topics) > 0 || resp.Groups[1].ErrorCode != 0 {
					t.Errorf("v%d: %+v", version, resp.Groups)
				}
			}
			want := []int16{88, 0, 88}
			if all {
				want = []int16{88}
			}
			if len(codes) != len(want) || codes[0] != 88 || codes[len(codes)-1] != 88 {
				t.Errorf("v%d all %v: codes %v in %d topics, want %v", version, all, codes, topics, want)
			}
		}
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable, req.Group, req.Topics = true, "g", []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0}}}
	if got := answer[*kmsg.OffsetFetchResponse](r, r.send(req, 6)).Topics[0].Partitions[0]; got.ErrorCode != 0 || got.Offset != 5 {
		t.Errorf("version 6 does not have the flag: %+v", got)
	}
	r.mark(1, true)
	if at, code := r.stableFetch("g"); at != 10 || code != 0 {
		t.Errorf("after the marker: %d, error %d", at, code)
	}
}

// fetch.unstable.plain (§5.1 DF20): a stable fetch waits for the commits that are being written, a plain one does not.
func TestStableFetchWaits(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 3)
	r.sim.HoldWrites(true)
	r.send(commitReq("g", "", -1, "t", 4), 9)
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = true
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
	fetch := r.send(req, 9)
	r.wantParked("behind the write", fetch)
	if r.fetch("g") != 3 {
		t.Error("the plain fetch")
	}
	r.end(core.None)
	if got := answer[*kmsg.OffsetFetchResponse](r, fetch); got.Groups[0].Topics[0].Partitions[0].Offset != 4 {
		t.Errorf("%+v", got)
	}
	r.send(commitReq("g", "", -1, "t", 5), 9)
	fetch = r.send(req, 9)
	r.end(core.NotEnoughReplicas)
	if got := answer[*kmsg.OffsetFetchResponse](r, fetch); got.Groups[0].ErrorCode != core.NotCoordinator { // DF21
		t.Errorf("%+v", got)
	}
}

// commit.topic-id: topics by id, in commit, transaction and fetch; an offset of another topic of that name is none (HB-61's contract).
func TestTopicIDs(t *testing.T) {
	id := [16]byte{1}
	r := newRig(t, func(s *core.Settings) {
		s.TopicName = func(asked [16]byte) (string, bool) { return "t", asked == id }
		s.TopicID = func(name string) ([16]byte, bool) { return id, name == "t" }
	})
	commit := commitReq("g", "", -1, "", 5)
	commit.Topics[0].TopicID = id
	commit.Topics = append(commit.Topics, kmsg.OffsetCommitRequestTopic{TopicID: [16]byte{9}, Partitions: commit.Topics[0].Partitions})
	got := answer[*kmsg.OffsetCommitResponse](r, r.send(commit, 10))
	if got.Topics[0].TopicID != id || got.Topics[0].Partitions[0].ErrorCode != 0 || got.Topics[1].Partitions[0].ErrorCode != core.UnknownTopicID {
		t.Errorf("%+v", got)
	}
	if r.fetch("g") != 5 {
		t.Errorf("by name: %d", r.fetch("g"))
	}
	fetch := func() []kmsg.OffsetFetchResponseGroupTopic {
		req := kmsg.NewPtrOffsetFetchRequest()
		topics := []kmsg.OffsetFetchRequestGroupTopic{{TopicID: id, Partitions: []int32{0, 1}}, {TopicID: [16]byte{9}, Partitions: []int32{0}}}
		req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", Topics: topics}, {Group: "g"}}
		resp := answer[*kmsg.OffsetFetchResponse](r, r.send(req, 10)).Groups
		return append(resp[0].Topics, resp[1].Topics...)
	}
	topics := fetch()
	if len(topics) != 3 || topics[0].Partitions[0].Offset != 5 || topics[0].Partitions[1].Offset != -1 || topics[1].Partitions[0].ErrorCode != core.UnknownTopicID || topics[2].TopicID != id {
		t.Errorf("%+v", topics)
	}
	txn := txnReq("g", "", -1, 1, "", 6)
	txn.Topics[0].TopicID = id
	if code := r.txnCommitted(r.send(txn, 6)); code != 0 {
		t.Errorf("TxnOffsetCommit: %d", code)
	}
	txn.Topics[0].TopicID = [16]byte{9}
	if code := r.txnCommitted(r.send(txn, 6)); code != core.UnknownTopicID {
		t.Errorf("TxnOffsetCommit of an unknown id: %d", code)
	}
	r.mark(1, true)
	if err := r.sim.Failover(); err != nil || fetch()[0].Partitions[0].Offset != 6 {
		t.Errorf("after a failover: %v, %+v", err, fetch())
	}
	id = [16]byte{2} // the topic is another one now
	if topics := fetch(); topics[0].Partitions[0].Offset != -1 {
		t.Errorf("of its predecessor: %+v", topics)
	}
}
