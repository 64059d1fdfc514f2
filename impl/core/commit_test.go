package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// §2.6.2, the table. The group "g" is built by setup, which returns the member and generation to commit with.
func TestCommit(t *testing.T) {
	stable := func(r *rig) (string, int32) { ids, gen := r.stable("g", 2); return ids[1], gen }
	empty := func(r *rig) (string, int32) { ids, gen := r.stable("g", 1); r.leave("g", ids[0]); return ids[0], gen }
	static := func(r *rig) (string, int32) { ids, gen := r.staticGroup("g", 1); return ids[0], gen }
	for _, test := range []struct {
		rule    string
		version int16
		setup   func(*rig) (string, int32)
		change  func(*kmsg.OffsetCommitRequest)
		code    int16
	}{
		{"commit.group.unknown", 8, func(*rig) (string, int32) { return "m", 5 }, nil, core.IllegalGeneration},
		{"commit.group.unknown.code", 9, func(*rig) (string, int32) { return "m", 5 }, nil, core.GroupIDNotFound},
		{"commit.simple.creates", 9, func(*rig) (string, int32) { return "", -1 }, nil, 0},
		{"commit.simple.creates: with a name", 9, func(*rig) (string, int32) { return "m", -7 }, nil, 0},
		{"commit.empty.accepted", 9, empty, func(q *kmsg.OffsetCommitRequest) { q.Generation = -1 }, 0},
		{"commit.member.unknown: Empty", 9, empty, nil, core.UnknownMemberID},
		{"commit.anonymous.refused", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.MemberID, q.Generation = "", -1 }, core.UnknownMemberID},
		{"commit.member.unknown", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.MemberID, q.Generation = "q", 99 }, core.UnknownMemberID},
		{"commit.member.unknown: no id", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.MemberID = "" }, core.UnknownMemberID},
		{"commit.member.unknown: pending", 9, func(r *rig) (string, int32) { r.stable("g", 1); return r.id("g"), 1 }, nil, core.UnknownMemberID},
		{"commit.generation.illegal", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.Generation-- }, core.IllegalGeneration},
		{"commit.generation.illegal: none", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.Generation = -1 }, core.IllegalGeneration},
		{"commit.completing", 9, func(r *rig) (string, int32) { ids, gen := r.generation("g", 1); return ids[0], gen }, nil, core.RebalanceInProgress},
		{"commit.completing: older generation", 9, func(r *rig) (string, int32) { ids, gen := r.generation("g", 1); return ids[0], gen - 1 }, nil, core.IllegalGeneration},
		{"commit.anonymous.refused: Completing", 9, func(r *rig) (string, int32) { r.generation("g", 1); return "", -1 }, nil, core.UnknownMemberID},
		{"commit.member.accepted: Stable", 9, stable, nil, 0},
		{"commit.member.accepted: v2", 2, stable, nil, 0},
		{"commit.member.accepted: Preparing", 9, func(r *rig) (string, int32) { ids, gen := r.stable("g", 2); r.join("g", ids[0]); return ids[1], gen }, nil, 0},
		{"commit.member.accepted: aborted generation (C38b)", 9, func(r *rig) (string, int32) {
			ids, gen := r.generation("g", 2)
			r.join("g", ids[0], "range=new")
			return ids[1], gen
		}, nil, 0},
		{"static.unmapped (C42b)", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.InstanceID = kmsg.StringPtr("i") }, core.UnknownMemberID},
		{"static.unmapped: not before version 7", 6, stable, func(q *kmsg.OffsetCommitRequest) { q.InstanceID = kmsg.StringPtr("i") }, 0},
		{"static.unmapped: Empty, no generation (C40)", 9, empty, func(q *kmsg.OffsetCommitRequest) { q.Generation, q.InstanceID = -1, kmsg.StringPtr("i") }, 0},
		{"static.fenced: no id (C42)", 9, static, func(q *kmsg.OffsetCommitRequest) {
			q.MemberID, q.Generation, q.InstanceID = "", -1, kmsg.StringPtr("i0")
		}, core.FencedInstanceID},
		{"static.fenced before the generation", 9, static, func(q *kmsg.OffsetCommitRequest) {
			q.MemberID, q.Generation, q.InstanceID = "q", 99, kmsg.StringPtr("i0")
		}, core.FencedInstanceID},
		{"static.optional", 9, static, nil, 0},
		{"commit.topic.unknown", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.Topics[0].Topic = "nosuch" }, core.UnknownTopicOrPartition},
		{"commit.topic.unknown: partition", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.Topics[0].Partitions[0].Partition = 2 }, core.UnknownTopicOrPartition},
		{"commit.topic.unknown before the group", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.Topics[0].Topic, q.MemberID = "nosuch", "q" }, core.UnknownTopicOrPartition},
		{"any offset (§2.6.2)", 9, stable, func(q *kmsg.OffsetCommitRequest) { q.Topics[0].Partitions[0].Offset = -77 }, 0},
	} {
		t.Run(test.rule, func(t *testing.T) {
			r := newRig(t)
			member, gen := test.setup(r)
			req := commitReq("g", member, gen, "t", 42)
			if test.change != nil {
				test.change(req)
			}
			code := r.committed(r.send(req, test.version))
			if code != test.code {
				t.Errorf("error %d, want %d", code, test.code)
			}
			want := int64(-1)
			if test.code == 0 {
				want = req.Topics[0].Partitions[0].Offset
			}
			if got := r.fetch("g"); got != want {
				t.Errorf("offset %d, want %d", got, want)
			}
		})
	}
}

// commit.topic.unknown, commit.metadata.too-large: each partition on its own; metadata counts in UTF-16 units (C44).
func TestCommitPartitions(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	r.records()
	req := commitReq("g", ids[0], gen, "t", 1)
	meta := func(s string) kmsg.OffsetCommitRequestTopicPartition {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset, p.LeaderEpoch, p.Metadata = 2, 3, kmsg.StringPtr(s)
		return p
	}
	req.Topics[0].Partitions = []kmsg.OffsetCommitRequestTopicPartition{meta(strings.Repeat("x", 4097)), meta(strings.Repeat("\U0001F600", 2048)), meta("later")}
	req.Topics[0].Partitions[2].Offset = 5
	req.Topics[0].Partitions[1].Partition = 1
	req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{Topic: "nosuch", Partitions: []kmsg.OffsetCommitRequestTopicPartition{meta("")}})
	got := answer[*kmsg.OffsetCommitResponse](r, r.send(req, 9))
	for i, want := range []int16{core.OffsetMetadataTooLarge, 0, 0} {
		if p := got.Topics[0].Partitions[i]; p.ErrorCode != want || p.Partition != req.Topics[0].Partitions[i].Partition {
			t.Errorf("partition %d: %+v, want error %d", i, p, want)
		}
	}
	if got.Topics[1].Topic != "nosuch" || got.Topics[1].Partitions[0].ErrorCode != core.UnknownTopicOrPartition {
		t.Errorf("%+v", got.Topics[1])
	}
	if recs := r.records(); len(recs) != 2 || len(r.appends) != 0 {
		t.Errorf("written: %v", recs)
	}
	one := strings.Repeat("\U0001F600", 2048) + "x"
	req.Topics = req.Topics[:1]
	req.Topics[0].Partitions = []kmsg.OffsetCommitRequestTopicPartition{meta(one)}
	if code := r.committed(r.send(req, 9)); code != core.OffsetMetadataTooLarge {
		t.Errorf("4097 units: %d", code)
	}
	if recs := r.records(); len(recs) != 0 {
		t.Errorf("written: %v", recs)
	}
}

// §2.6.1: no topics, no questions.
func TestCommitNothing(t *testing.T) {
	r := newRig(t)
	req := commitReq("g", "q", 5, "t", 1)
	req.Topics = nil
	if got := answer[*kmsg.OffsetCommitResponse](r, r.send(req, 9)); len(got.Topics) != 0 {
		t.Errorf("%+v", got)
	}
	r.wantState("g", "Dead")
}

// commit.renews-timer, even where all is refused for its metadata; not in CompletingRebalance (§3.1).
func TestCommitRenews(t *testing.T) {
	r := newRig(t)
	ids, gen := r.stable("g", 1)
	req := commitReq("g", ids[0], gen, "t", 1)
	req.Topics[0].Partitions[0].Metadata = kmsg.StringPtr(strings.Repeat("x", 5000))
	r.advance(time.Second)
	r.send(req, 9)
	if got := r.sessionLeft(ids[0]); got != session {
		t.Errorf("session runs %v", got)
	}
	r.joined(r.join("g", ids[0]))
	r.advance(time.Second)
	r.commit("g", ids[0], gen+1, 1)
	if got := r.sessionLeft(ids[0]); got != session-time.Second {
		t.Errorf("in CompletingRebalance: session runs %v", got)
	}
}

// offsets.survive-members, fetch.committed, fetch.nothing, fetch.all; and a simple group can be joined (C84).
func TestFetch(t *testing.T) {
	r := newRig(t)
	if d := r.commit("s", "", -1, 3); d != 0 {
		t.Fatal(d)
	}
	if d := r.describe("s"); d.State != "Empty" || d.ProtocolType != "" {
		t.Errorf("simple group: %+v", d)
	}
	ids, gen := r.stable("s", 1)
	req := commitReq("s", ids[0], gen, "u", 8)
	req.Topics[0].Partitions[0].LeaderEpoch = 4
	req.Topics[0].Partitions[0].Metadata = kmsg.StringPtr("note")
	r.committed(r.send(req, 6))
	r.leave("s", ids[0])
	fetch := kmsg.NewPtrOffsetFetchRequest()
	named := []kmsg.OffsetFetchRequestGroupTopic{{Topic: "u", Partitions: []int32{1, 0, 0}}, {Topic: "nosuch", Partitions: []int32{0}}}
	fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "s"}, {Group: "s", Topics: named}, {Group: "other"}, {Group: "s", Topics: []kmsg.OffsetFetchRequestGroupTopic{}}}
	got := answer[*kmsg.OffsetFetchResponse](r, r.send(fetch, 9)).Groups
	if len(got) != 4 || len(got[2].Topics) != 0 || len(got[3].Topics) != 0 || got[2].ErrorCode != 0 {
		t.Fatalf("%+v", got)
	}
	if all := got[0].Topics; len(all) != 2 || all[0].Topic != "t" || all[0].Partitions[0].Offset != 3 || all[1].Topic != "u" {
		t.Errorf("all: %+v", all)
	}
	u := got[1].Topics[0].Partitions
	if len(u) != 3 || u[0].Offset != -1 || u[0].LeaderEpoch != -1 || *u[0].Metadata != "" || u[1].Offset != 8 || u[1].LeaderEpoch != 4 || *u[2].Metadata != "note" {
		t.Errorf("u: %+v", u)
	}
	if p := got[1].Topics[1].Partitions[0]; p.Offset != -1 || p.ErrorCode != 0 {
		t.Errorf("nosuch: %+v", p)
	}
}

// §5.3: how OffsetFetch changed.
func TestFetchVersions(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 3)
	for version := int16(1); version <= 7; version++ {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = "g"
		got := answer[*kmsg.OffsetFetchResponse](r, r.send(req, version))
		if all := len(got.Topics) == 1; all != (version >= 2) {
			t.Errorf("v%d without topics: %+v", version, got)
		}
		req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0}}}
		got = answer[*kmsg.OffsetFetchResponse](r, r.send(req, version))
		if got.Topics[0].Partitions[0].Offset != 3 || got.ErrorCode != 0 {
			t.Errorf("v%d: %+v", version, got)
		}
	}
}

// §4.1, verified item 9: value version 4, and 1 where the commit brings its own retention.
func TestCommitRecords(t *testing.T) {
	r := newRig(t)
	req := commitReq("g", "", -1, "t", 3)
	req.RetentionTimeMillis = 5000
	r.send(req, 4)
	v := r.logged()[0].Offset
	if v.Version != 1 || v.ExpireTimestamp != v.CommitTimestamp+5000 || v.CommitTimestamp != r.sim.Now().UnixMilli() {
		t.Errorf("with retention: %+v", v)
	}
	r.send(req, 5) // the field has gone
	if v := r.logged()[0].Offset; v.Version != 4 || v.LeaderEpoch != -1 || v.Offset != 3 {
		t.Errorf("without: %+v", v)
	}
}
