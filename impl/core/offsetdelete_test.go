package core_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// subscription is a consumer's metadata for topics, as a protocol of joinReq.
func subscription(topics ...string) string {
	b := []byte{0, 1}
	b = binary.BigEndian.AppendUint32(b, uint32(len(topics)))
	for _, t := range topics {
		b = binary.BigEndian.AppendUint16(b, uint16(len(t)))
		b = append(b, t...)
	}
	b = binary.BigEndian.AppendUint32(b, 0xffffffff) // no user data
	return "range=" + string(b) + "and whatever follows"
}

// consumer is a Stable group of one member with this protocol.
func (r *rig) consumer(group string, protocol string) (string, int32) {
	r.Helper()
	id := r.id(group)
	gen := r.joined(r.join(group, id, protocol)).Generation
	r.sync(group, id, gen)
	return id, gen
}

// offsetDelete deletes the offsets of "t/0", "nosuch/0", ... and returns the top level error and the codes in order.
func (r *rig) offsetDelete(group string, topics ...string) (int16, []int16) {
	r.Helper()
	return r.offsetDeleted(r.send(offsetDeleteReq(group, topics...), 0))
}

func offsetDeleteReq(group string, topics ...string) *kmsg.OffsetDeleteRequest {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	for _, t := range topics {
		req.Topics = append(req.Topics, kmsg.OffsetDeleteRequestTopic{Topic: t, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}})
	}
	return req
}

func (r *rig) offsetDeleted(ticket core.Ticket) (int16, []int16) {
	r.Helper()
	resp := answer[*kmsg.OffsetDeleteResponse](r, ticket)
	var codes []int16
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			codes = append(codes, p.ErrorCode)
		}
	}
	return resp.ErrorCode, codes
}

// §2.8, the table (C8b, C70).
func TestOffsetDelete(t *testing.T) {
	consumer := func(protocol string) func(*rig) {
		return func(r *rig) { r.consumer("g", protocol) }
	}
	for _, test := range []struct {
		rule   string
		group  string
		setup  func(*rig)
		topics []string
		top    int16
		codes  []int16
	}{
		{"offset-delete.group-id.empty", "", nil, []string{"t"}, core.InvalidGroupID, nil},
		{"group absent", "g", nil, []string{"t"}, core.GroupIDNotFound, nil},
		{"group absent, no partitions (C70f)", "g", nil, nil, core.GroupIDNotFound, nil},
		{"offset-delete.empty", "g", func(r *rig) { r.commit("g", "", -1, 1) }, []string{"t", "u", "nosuch"}, 0, []int16{0, 0, 3}},
		{"offset-delete.empty: no partitions", "g", func(r *rig) { r.id("g") }, nil, 0, nil},
		{"offset-delete.subscribed", "g", consumer(subscription("t", "v")), []string{"t", "u", "nosuch"}, 0, []int16{86, 0, 3}},
		{"nothing subscribed", "g", consumer(subscription()), []string{"t"}, 0, []int16{0}},
		{"offsets.subscribed: unreadable (C70e)", "g", consumer("range=x"), []string{"t", "u"}, 0, []int16{86, 86}},
		{"offsets.subscribed: cut off", "g", consumer("range=\x00\x01\x00\x00\x00\x02\x00\x01t\x00"), []string{"u"}, 0, []int16{86}},
		{"offsets.subscribed: a name that is too long", "g", consumer("range=\x00\x01\x00\x00\x00\x01\x00\x05t"), []string{"u"}, 0, []int16{86}},
		{"offsets.subscribed: more names than bytes", "g", consumer("range=\x00\x01\x7f\xff\xff\xff\x00\x01t"), []string{"u"}, 0, []int16{86}},
		{"offsets.subscribed: null", "g", consumer("range=\x00\x01\xff\xff\xff\xff"), []string{"u"}, 0, []int16{86}},
		{"offsets.subscribed: no user data", "g", consumer("range=\x00\x01\x00\x00\x00\x00"), []string{"u"}, 0, []int16{86}},
		{"offsets.subscribed: user data cut off", "g", consumer("range=\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05x"), []string{"u"}, 0, []int16{86}},
		{"any version, and nothing after the user data", "g", consumer("range=\xff\xff\x00\x00\x00\x00\x00\x00\x00\x01x"), []string{"u"}, 0, []int16{0}},
		{"offset-delete.other-type (C70b)", "g", func(r *rig) {
			req := joinReq("g", "")
			req.ProtocolType = "connect"
			r.send(req, 3)
		}, []string{"t"}, core.NonEmptyGroup, nil},
	} {
		t.Run(test.rule, func(t *testing.T) {
			r := newRig(t)
			if test.setup != nil {
				test.setup(r)
			}
			if top, codes := r.offsetDelete(test.group, test.topics...); top != test.top || !slices.Equal(codes, test.codes) {
				t.Errorf("%d %v, want %d %v", top, codes, test.top, test.codes)
			}
		})
	}
}

// What is deleted is gone, in the log too; the group stays (offset-delete.last, C71). Repeated partitions are one.
func TestOffsetDeleted(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.records()
	if top, codes := r.offsetDelete("g", "t", "u", "t"); top != 0 || !slices.Equal(codes, []int16{0, 0, 0}) {
		t.Errorf("%d %v", top, codes)
	}
	if recs := r.records(); !slices.Equal(recs, []string{"g t/0 gone"}) {
		t.Errorf("written: %v", recs)
	}
	if r.fetch("g") != -1 {
		t.Error("the offset is left")
	}
	r.wantState("g", "Empty")
}

// offset-delete.pending (2.8-pend, 2.12-pend): what a transaction has pending is deleted too, by OffsetDelete and by DeleteGroups.
func TestDeletePending(t *testing.T) {
	r := newRig(t)
	r.txn("g", 1, 10)
	r.records()
	r.offsetDelete("g", "t")
	if recs := r.records(); !slices.Equal(recs, []string{"g t/0 gone"}) {
		t.Errorf("written: %v", recs)
	}
	if at, code := r.stableFetch("g"); at != -1 || code != 0 {
		t.Errorf("%d, error %d", at, code)
	}
	r.txn("g", 1, 11)
	r.remove("g")
	if err := r.sim.Failover(); err != nil {
		t.Fatal(err)
	}
	r.mark(1, true)
	r.wantState("g", "Dead")
	if r.fetch("g") != -1 {
		t.Error("it came back")
	}
}

// A deletion that cannot be written has deleted nothing; an offset that was on its way is deleted with the others.
func TestOffsetDeleteFails(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.sim.FailWrites(core.MessageTooLarge)
	if top, codes := r.offsetDelete("g", "t"); top != core.UnknownServerError || codes != nil || r.fetch("g") != 1 { // 2.12-af
		t.Errorf("%d %v, offset %d", top, codes, r.fetch("g"))
	}
	r.takeReports()
	r.sim.FailWrites(core.None)
	r.sim.HoldWrites(true)
	r.send(commitReq("g", "", -1, "u", 2), 9)
	r.send(txnReq("g", "", -1, 1, "u", 3), 3)
	remove := r.send(offsetDeleteReq("g", "u"), 0)
	later := r.send(commitReq("g", "", -1, "t", 9), 9)
	for range 4 {
		r.end(core.None)
	}
	if top, _ := r.offsetDeleted(remove); top != 0 || r.committed(later) != 0 || r.fetch("g") != 9 {
		t.Errorf("%d, offset %d", top, r.fetch("g"))
	}
	r.sim.HoldWrites(false)
	r.mark(1, true)
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
	if got := answer[*kmsg.OffsetFetchResponse](r, r.send(req, 9)).Groups[0].Topics; len(got) != 1 || got[0].Topic != "t" {
		t.Errorf("%+v", got)
	}
}

// offsets.subscribed: of all members, for the chosen protocol, from one generation to the next; static.replaced.subscribed; load (4.4-3).
func TestSubscribed(t *testing.T) {
	r := newRig(t)
	a := r.joined(r.static("g", "a", subscription("t"))).MemberID
	b := r.static("g", "b", subscription("v"))
	gen := r.joined(r.send(staticReq("g", a, "a", subscription("t")), 9)).Generation
	r.joined(b)
	r.sync("g", a, gen)
	want := func(what string, codes ...int16) {
		t.Helper()
		if _, got := r.offsetDelete("g", "t", "u"); !slices.Equal(got, codes) {
			t.Errorf("%s: %v, want %v", what, got, codes)
		}
	}
	want("of the generation", 86, 0)
	r.joined(r.static("g", "a", subscription("u")))
	want("after a replacement", 86, 0)
	if err := r.sim.Failover(); err != nil {
		t.Fatal(err)
	}
	want("after a failover", 0, 86)
	early := newRig(t, delayed)
	early.send(joinReq("g", "", subscription("t")), 3)
	if _, got := early.offsetDelete("g", "t", "u"); !slices.Equal(got, []int16{86, 86}) { // C70g
		t.Errorf("during the first rebalance: %v", got)
	}
}
