package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
	"github.com/muster-kafka/muster/internal/cputime"
)

// BenchmarkDay is 24 hours of ten groups of three members on virtual time: each member sends a heartbeat every three seconds, each group commits every five,
// and once an hour a member of each leaves and another one comes.
func BenchmarkDay(b *testing.B) {
	before := cputime.Used()
	for b.Loop() {
		d := day{b: b, sim: sim.New(1, core.Settings{})}
		for g := range 10 {
			group := &dayGroup{name: fmt.Sprint("group-", g)}
			for range 3 {
				d.enter(group)
				d.rebalance(group)
			}
			d.groups = append(d.groups, group)
		}
		for second := 1; second <= 24*60*60; second++ {
			d.sim.Advance(time.Second)
			for i, g := range d.groups {
				if second%3600 == i {
					d.replace(g)
				}
				if second%3 == i%3 {
					d.beat(g)
				}
				if second%5 == 0 {
					d.commit(g)
				}
			}
		}
		for _, g := range d.groups {
			var v core.View
			if !d.sim.Core().View(g.name, &v) || v.State != core.Stable || len(v.Members) != 3 || v.Generation < 24 {
				b.Fatalf("after a day: %+v", v)
			}
		}
		b.ReportMetric(float64(d.requests), "requests/day")
	}
	b.ReportMetric((cputime.Used()-before).Seconds()/float64(b.N), "cpu-s/day")
}

type day struct {
	b        *testing.B
	sim      *sim.Sim
	groups   []*dayGroup
	requests int
}

type dayGroup struct {
	name       string
	members    []string
	generation int32
}

// ask hands requests in, one after the other, and returns their answers, which may come in another order.
func (d *day) ask(version int16, requests ...kmsg.Request) (all []kmsg.Response) {
	for _, r := range requests {
		r.SetVersion(version)
		d.requests++
		d.sim.Ask(r)
	}
	out := d.sim.Drain()
	if len(out.Answers) != len(requests) {
		d.b.Fatalf("%d answers to %d requests, the first %+v", len(out.Answers), len(requests), requests[0])
	}
	for _, a := range out.Answers {
		all = append(all, a.Message)
	}
	return all
}

func (d *day) join(g *dayGroup, member string) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType = g.name, member, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 10_000, 60_000
	r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range", Metadata: []byte("orders")})
	return r
}

// enter gives a group a member, by its id alone.
func (d *day) enter(g *dayGroup) {
	r := d.ask(7, d.join(g, ""))[0].(*kmsg.JoinGroupResponse)
	g.members = append(g.members, r.MemberID)
}

// rebalance lets all members join, the last one first, and sync.
func (d *day) rebalance(g *dayGroup) {
	var joins, syncs []kmsg.Request
	for i := range g.members {
		joins = append(joins, d.join(g, g.members[len(g.members)-1-i]))
	}
	leader := ""
	for _, a := range d.ask(7, joins...) {
		r := a.(*kmsg.JoinGroupResponse)
		if leader, g.generation = r.LeaderID, r.Generation; r.ErrorCode != core.None {
			d.b.Fatalf("JoinGroup: %d", r.ErrorCode)
		}
	}
	for _, m := range g.members {
		r := kmsg.NewPtrSyncGroupRequest()
		r.Group, r.MemberID, r.Generation = g.name, m, g.generation
		if m == leader {
			for _, to := range g.members {
				r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: to, MemberAssignment: []byte("orders-0")})
			}
		}
		syncs = append(syncs, r)
	}
	for _, a := range d.ask(3, syncs...) {
		if r := a.(*kmsg.SyncGroupResponse); r.ErrorCode != core.None {
			d.b.Fatalf("SyncGroup: %d", r.ErrorCode)
		}
	}
}

// replace lets the oldest member leave and another one come.
func (d *day) replace(g *dayGroup) {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group, r.MemberID = g.name, g.members[0]
	d.ask(1, r)
	g.members = g.members[1:]
	d.enter(g)
	d.rebalance(g)
}

func (d *day) beat(g *dayGroup) {
	for _, m := range g.members {
		r := kmsg.NewPtrHeartbeatRequest()
		r.Group, r.MemberID, r.Generation = g.name, m, g.generation
		if r := d.ask(4, r)[0].(*kmsg.HeartbeatResponse); r.ErrorCode != core.None {
			d.b.Fatalf("Heartbeat: %d", r.ErrorCode)
		}
	}
}

func (d *day) commit(g *dayGroup) {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.MemberID, r.Generation = g.name, g.members[0], g.generation
	r.Topics = append(r.Topics, kmsg.OffsetCommitRequestTopic{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: int64(d.requests)}}})
	if r := d.ask(8, r)[0].(*kmsg.OffsetCommitResponse); r.Topics[0].Partitions[0].ErrorCode != core.None {
		d.b.Fatalf("OffsetCommit: %d", r.Topics[0].Partitions[0].ErrorCode)
	}
}
