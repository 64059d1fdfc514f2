package embedded

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// What is larger, more, finer or further apart than walks have it: they draw from small alphabets, have a few groups of a few members, and no request of theirs waits when its coordinator goes.
var unusualValues = []play{
	{name: "a transaction that a marker of a later epoch ends", play: func(w *played) {
		// Where a producer is fenced, and with the second version of transactions always, the epoch is raised before the marker is written.
		for i, commit := range []bool{true, false} {
			group, producer := fmt.Sprint("g", i), int64(i+1)
			w.atOnce(txnCommits(group, producer, 5), "0")
			w.atOnce(fetches(group, true), "0 88@-1")
			w.event(core.Marker{Producer: core.Producer{ID: producer, Epoch: 1}, Commit: commit})
			w.atOnce(fetches(group, true), map[bool]string{true: "0 0@5", false: "0 0@-1"}[commit])
		}
	}},
	{name: "an id that was handed out for another group", play: func(w *played) {
		id := w.id(w.ask(join("g", "")))
		w.id(w.ask(join("h", ""))) // which is there
		w.atOnce(join("h", id), "25")
		w.atOnce(leaves("h", id), "0 25")
		w.says(w.ask(join("g", id)), "0 gen=1 of 1")
	}},
	{name: "what waits for a deletion when the coordinator goes", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		w.slow()
		deleted := w.ask(deletes("g"))
		joins, beat, commit := w.ask(join("g", "")), w.ask(beats("g", "m", 1)), w.ask(commits("g", 2))
		w.open(deleted, joins, beat, commit)
		w.event(core.Unload{})
		w.says(deleted, "16")
		w.says(joins, "16")
		w.says(beat, "16")
		w.says(commit, "16")
	}},
	{name: "static members that have not come back have their votes", play: func(w *played) {
		as := func(id, instance string, protocols ...string) *kmsg.JoinGroupRequest {
			r := joinAs("g", id, instance)
			r.Protocols = nil
			for _, p := range protocols {
				r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: p})
			}
			return r
		}
		first := w.id(w.ask(as("", "i1", "sticky", "range")))
		w.ask(as("", "i2", "sticky", "range"))
		third := w.ask(as("", "i3", "range", "sticky"))
		w.says(w.ask(as(first, "i1", "sticky", "range")), "0 gen=2 of 3")
		r := as(w.id(third), "i3", "range", "sticky")
		r.Protocols[0].Metadata = []byte("another")
		again := w.ask(r)
		w.open(again)
		for range 3 { // the others keep their sessions, and do not join
			w.advance(20 * time.Second)
			for _, id := range []string{first, w.idOf("g", "i2")} {
				w.ask(beats("g", id, 2))
			}
		}
		w.says(again, "0 gen=3 of 3")
		if m, ok := w.answers[again].(*kmsg.JoinGroupResponse); ok && *m.Protocol != "sticky" {
			w.blame("%s has been chosen, which one of three would rather have", *m.Protocol)
		}
	}},
	{name: "generations of more than one byte, and of more than two", play: func(w *played) {
		for _, gen := range []int32{math.MaxInt8 - 1, math.MaxUint8, math.MaxInt16, math.MaxUint16, math.MaxInt32 - 2} {
			w.loads(loggedGroup(gen, "i"))
			next := w.ask(joinAs("g", "m", "i"))
			w.says(next, fmt.Sprintf("0 gen=%d of 1", gen+1))
		}
	}},
	{name: "timeouts to the millisecond", play: func(w *played) {
		for _, loaded := range []bool{false, true} {
			w.loads()
			req := join("g", "")
			req.SessionTimeoutMillis = 10_789
			id := w.id(w.ask(req, 3))
			w.atOnce(syncs("g", id, 1, id), "0x")
			if loaded {
				w.failsOver()
			}
			w.advance(10_788 * time.Millisecond)
			w.atOnce(describes("g"), "Stable1")
			w.advance(time.Millisecond)
			w.atOnce(describes("g"), "Empty0")
		}
	}},
	{name: "a rebalance timeout that is longer than any session", play: func(w *played) {
		req := join("g", "")
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 1_800_000, math.MaxInt32 // 24 days, as Connect and others set it
		id := w.id(w.ask(req, 3))
		w.atOnce(syncs("g", id, 1, id), "0x")
		w.ask(join("g", ""), 3)
		for range 60 { // a day
			w.advance(25 * time.Minute)
			w.atOnce(beats("g", id, 1), "27") // still in the group, and still asked to join
		}
	}},
	{name: "a member after a failover is shown as before", play: func(w *played) {
		id := w.stable("g")
		shown := func() string {
			m, ok := w.answers[w.ask(describes("g"))].(*kmsg.DescribeGroupsResponse)
			if !ok || len(m.Groups[0].Members) != 1 {
				return "nobody"
			}
			one := m.Groups[0].Members[0]
			return fmt.Sprint(one.MemberID, one.ClientID, one.ClientHost, one.MemberAssignment)
		}
		before := shown()
		w.failsOver()
		if after := shown(); after != before {
			w.blame("member %s: %s, and before %s", id, after, before)
		}
	}},
	{name: "partitions, offsets and epochs of many bits", play: func(w *played) {
		for _, v := range []struct {
			partition, epoch int32
			at               int64
		}{{math.MaxInt8 + 1, 0, math.MaxInt32 + 1}, {math.MaxUint8 + 1, math.MaxInt16 + 1, 1 << 53}, {math.MaxUint16 + 1, math.MaxUint16 + 1, 1<<53 + 1}, {math.MaxInt32, math.MaxInt32, math.MaxInt64}, {0, -1, 0}} {
			req, ask := commits("g", v.at), fetches("g", true)
			req.Topics[0].Topic, ask.Groups[0].Topics[0].Topic = wideTopic, wideTopic
			req.Topics[0].Partitions[0].Partition, req.Topics[0].Partitions[0].LeaderEpoch = v.partition, v.epoch
			ask.Groups[0].Topics[0].Partitions = []int32{v.partition}
			w.atOnce(req, "0")
			for range 2 { // from memory, and from the log
				if p := w.fetched(ask); p.Offset != v.at || p.LeaderEpoch != v.epoch || p.Partition != v.partition {
					w.blame("partition %d has offset %d and epoch %d, not %+v", p.Partition, p.Offset, p.LeaderEpoch, v)
				}
				w.failsOver()
			}
		}
	}},
	{name: "a commit that names no epoch and no note takes those of the one before away", play: func(w *played) {
		first := commits("g", 1)
		first.Topics[0].Partitions[0].LeaderEpoch, first.Topics[0].Partitions[0].Metadata = 7, kmsg.StringPtr("note")
		w.atOnce(first, "0")
		w.atOnce(commits("g", 2), "0")
		if p := w.fetched(fetches("g", true)); p.LeaderEpoch != -1 || *p.Metadata != "" {
			w.blame("epoch %d and note %q", p.LeaderEpoch, *p.Metadata)
		}
	}},
	{name: "a group of forty", play: func(w *played) {
		leader := w.id(w.ask(join("g", ""), 3))
		for range 39 {
			w.ask(join("g", ""), 3)
		}
		w.says(w.ask(join("g", leader)), "0 gen=2 of 40")
		w.atOnce(describes("g"), "CompletingRebalance40")
	}},
	{name: "three hundred groups", play: func(w *played) {
		for i := range 300 {
			w.atOnce(commits(fmt.Sprint("g", i), 1), "0")
		}
		if listed := w.answers[w.ask(kmsg.NewPtrListGroupsRequest(), 4)].(*kmsg.ListGroupsResponse).Groups; len(listed) != 300 {
			w.blame("%d groups are listed", len(listed))
		}
	}},
	{name: "an assignment that is longer than a string may be", play: func(w *played) {
		id := w.id(w.ask(join("g", ""), 3))
		long := strings.Repeat("x", 2*gen.LongestString)
		req := syncs("g", id, 1, id)
		req.GroupAssignment[0].MemberAssignment = []byte(long)
		given := func(req *kmsg.SyncGroupRequest) {
			if got := w.answers[w.ask(req)].(*kmsg.SyncGroupResponse).MemberAssignment; string(got) != long {
				w.blame("%d bytes of %d arrive", len(got), len(long))
			}
		}
		given(req)
		w.failsOver()
		given(syncs("g", id, 1))
	}},
	{name: "names that differ in a letter's case alone", play: func(w *played) {
		w.stable("g")
		other := join("g", "")
		other.Protocols[0].Name = "Range"
		w.atOnce(other, "23")
		w.atOnce(describes("G"), "Dead0")
		w.atOnce(describes("g"), "Stable1")
	}},
}

// wideTopic is one more topic in plays, with every partition that there can be.
const wideTopic = "wide"

func playedTopic(topic string, partition int32) bool {
	return topic == wideTopic && partition >= 0 || machineTopic(topic, partition)
}

// fetched is the only partition of an answer to OffsetFetch.
func (w *played) fetched(req *kmsg.OffsetFetchRequest) kmsg.OffsetFetchResponseGroupTopicPartition {
	m, ok := w.answers[w.ask(req)].(*kmsg.OffsetFetchResponse)
	if !ok || len(m.Groups[0].Topics) != 1 {
		w.blame("OffsetFetch: %s", said(m))
		return kmsg.OffsetFetchResponseGroupTopicPartition{Metadata: new(string)}
	}
	return m.Groups[0].Topics[0].Partitions[0]
}

// failsOver has the coordinator lose its groups and read its own log.
func (w *played) failsOver() {
	if err := w.sim.Failover(); err != nil {
		w.blame("the log cannot be read: %v", err)
	}
	w.take()
}

// idOf is the id of a static member.
func (w *played) idOf(group, instance string) string {
	if m, ok := w.answers[w.ask(describes(group))].(*kmsg.DescribeGroupsResponse); ok {
		for _, one := range m.Groups[0].Members {
			if one.InstanceID != nil && *one.InstanceID == instance {
				return one.MemberID
			}
		}
	}
	w.blame("nobody in %s is %s", group, instance)
	return ""
}

// loggedGroup is a log's record of a group of one static member, m, that leads it.
func loggedGroup(generation int32, instance string) gen.Logged {
	v := kmsg.NewGroupMetadataValue()
	v.Version, v.ProtocolType, v.Generation, v.Protocol, v.Leader = 3, "consumer", generation, kmsg.StringPtr("range"), kmsg.StringPtr("m")
	m := kmsg.NewGroupMetadataValueMember()
	m.MemberID, m.InstanceID, m.SessionTimeoutMillis, m.RebalanceTimeoutMillis = "m", &instance, 10_000, 10_000
	v.CurrentStateTimestamp, v.Members = -1, append(v.Members, m)
	return gen.Logged{Key: record.GroupKey("g"), Value: record.GroupValue(&v)}
}
