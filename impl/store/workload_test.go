package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
)

const (
	groups    = 3
	producers = 2
)

// some is how much a test does by day, and with MUSTER_CRASHES at night. With the race detector pebble checks itself all over, so there is less.
func some(day, night int) int {
	switch {
	case os.Getenv("MUSTER_CRASHES") != "":
		return night
	case raceEnabled:
		return day / 4
	}
	return day
}

func group(i int) string { return fmt.Sprint("group-", i) }

// member is one that has joined at some time.
type member struct {
	group, id  string
	generation int32
}

// workload is what a coordinator writes while random clients use it: generations, static members that are replaced, offsets, transactions,
// deletions, sessions that expire. It is the same for the same seed.
func workload(seed uint64, writes int) []core.Append {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := sim.New(seed, core.Settings{OffsetsRetention: time.Hour, CleanupInterval: 10 * time.Minute})
	var all []core.Append
	var members []member
	ticket := core.Ticket(0)
	for len(all) < writes {
		ticket++
		g := group(rng.IntN(groups))
		var m member
		if len(members) > 0 {
			m = members[rng.IntN(len(members))]
		}
		switch rng.IntN(12) {
		case 0, 1:
			s.Step(core.Request{Ticket: ticket, Version: 5, ClientID: "c", ClientHost: "/h", Message: join(g, rng)})
		case 2, 3, 4:
			req := kmsg.NewPtrSyncGroupRequest()
			req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
			for _, o := range members {
				req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: o.id, MemberAssignment: []byte{byte(rng.Uint32())}})
			}
			s.Step(core.Request{Ticket: ticket, Version: 3, Message: req})
		case 5, 6:
			s.Step(core.Request{Ticket: ticket, Version: 7, Message: commit(g, "", -1, rng)})
		case 7:
			s.Step(core.Request{Ticket: ticket, Version: 7, Message: commit(m.group, m.id, m.generation, rng)})
		case 8:
			req := kmsg.NewPtrTxnOffsetCommitRequest()
			req.Group, req.ProducerID, req.TransactionalID, req.Generation = g, int64(1+rng.IntN(producers)), "x", -1
			for p := range int32(1 + rng.IntN(3)) {
				req.Topics = append(req.Topics, kmsg.TxnOffsetCommitRequestTopic{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: p, Offset: rng.Int64N(1000), LeaderEpoch: -1}}})
			}
			s.Step(core.Request{Ticket: ticket, Version: 3, Message: req})
		case 9:
			s.Step(core.Marker{Producer: core.Producer{ID: int64(1 + rng.IntN(producers))}, Commit: rng.IntN(2) == 0})
		case 10:
			req := kmsg.NewPtrLeaveGroupRequest()
			req.Group, req.MemberID = m.group, m.id
			s.Step(core.Request{Ticket: ticket, Version: 2, Message: req})
		case 11:
			switch rng.IntN(6) {
			case 0:
				req := kmsg.NewPtrDeleteGroupsRequest()
				req.Groups = []string{g}
				s.Step(core.Request{Ticket: ticket, Version: 1, Message: req})
			case 1:
				req := kmsg.NewPtrOffsetDeleteRequest()
				req.Group, req.Topics = g, []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}}}
				s.Step(core.Request{Ticket: ticket, Version: 0, Message: req})
			default:
				s.Advance(time.Duration(rng.IntN(20)) * time.Minute)
			}
		}
		out := s.Drain()
		all = append(all, out.Appends...)
		for _, a := range out.Answers {
			if r, ok := a.Message.(*kmsg.JoinGroupResponse); ok && r.ErrorCode == core.None {
				members = append(members, member{*r.Protocol, r.MemberID, r.Generation})
			}
		}
		if len(members) > 6 {
			members = members[1:]
		}
	}
	return all[:writes]
}

// join names its protocol after the group, so that an answer tells it.
func join(g string, rng *rand.Rand) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = g, "consumer", 60_000, 60_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: g, Metadata: []byte{byte(rng.Uint32())}}}
	if rng.IntN(2) == 0 {
		req.InstanceID = kmsg.StringPtr(fmt.Sprint("instance-", rng.IntN(2)))
	}
	return req
}

func commit(g, id string, generation int32, rng *rand.Rand) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = g, id, generation
	for p := range int32(1 + rng.IntN(4)) {
		req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: p, Offset: rng.Int64N(1000), LeaderEpoch: -1, Metadata: kmsg.StringPtr("m")}}})
	}
	return req
}

// state is what a coordinator that has loaded these records answers, now and once the transactions that it knows of are committed.
func state(t *testing.T, parts ...[]core.Record) string {
	t.Helper()
	s := sim.New(0, core.Settings{})
	s.BeginLoad()
	for _, records := range parts {
		s.Step(core.Replay{Records: records})
	}
	s.Step(core.LoadEnd{})
	var out strings.Builder
	tell(t, &out, s, 0)
	for p := range int64(producers) {
		s.Step(core.Marker{Producer: core.Producer{ID: p + 1}, Commit: true})
		tell(t, &out, s, core.Ticket(p+1)*100)
	}
	return out.String()
}

func tell(t *testing.T, out *strings.Builder, s *sim.Sim, ticket core.Ticket) {
	ask := func(req kmsg.Request, version int16) {
		ticket++
		s.Step(core.Request{Ticket: ticket, Version: version, Message: req})
	}
	ask(kmsg.NewPtrListGroupsRequest(), 4)
	describe := kmsg.NewPtrDescribeGroupsRequest()
	for i := range groups {
		describe.Groups = append(describe.Groups, group(i))
		for _, stable := range []bool{false, true} {
			fetch := kmsg.NewPtrOffsetFetchRequest()
			fetch.Group, fetch.RequireStable = group(i), stable
			ask(fetch, 7)
		}
	}
	ask(describe, 5)
	for _, a := range s.Drain().Answers {
		write(t, out, a.Message)
	}
	for i := range groups {
		var v core.View
		if s.Core().View(group(i), &v) {
			v.Kept = v.Kept && !v.Recorded // of a group that has its own record it makes no difference, and compaction forgets it
			write(t, out, v)
		}
	}
}

func write(t *testing.T, out *strings.Builder, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(append(b, '\n'))
}

// records flattens writes.
func records(writes []core.Append) (all []core.Record) {
	for _, w := range writes {
		all = append(all, w.Records...)
	}
	return all
}
