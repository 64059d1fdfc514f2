package server_test

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

func dialTo(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// everyNode is a connection to each node, by id.
func everyNode(t *testing.T, c *server.Cluster) []net.Conn {
	t.Helper()
	var conns []net.Conn
	for _, addr := range c.Addrs() {
		conns = append(conns, dialTo(t, addr))
	}
	return conns
}

// groupOn is a group that a node coordinates; others are of the same node, in another partition.
func groupOn(t *testing.T, c *server.Cluster, node int32, other int) string {
	t.Helper()
	partitions := map[int32]bool{}
	for i := range 1000 {
		name := fmt.Sprint("group", i)
		if at, p := c.Coordinator(name); at == node && !partitions[p] {
			if partitions[p] = true; len(partitions) > other {
				return name
			}
		}
	}
	t.Fatal("no such group")
	return ""
}

func findReq(keys ...string) *kmsg.FindCoordinatorRequest {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = keys[0], keys
	return req
}

func commitReq(group string, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 1, Offset: offset, LeaderEpoch: -1}}}}
	return req
}

func commitOffset(t *testing.T, c net.Conn, group string, offset int64) int16 {
	t.Helper()
	return ask(t, c, commitReq(group, offset), 8).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
}

// committed are the offsets of t/1 that groups have, -1 for none; an error is 1000 and its code.
func committed(t *testing.T, c net.Conn, stable bool, groups ...string) []int64 {
	t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = stable
	for _, g := range groups {
		req.Groups = append(req.Groups, kmsg.OffsetFetchRequestGroup{Group: g, MemberEpoch: -1, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{1}}}})
	}
	var out []int64
	for i, g := range ask(t, c, req, 9).(*kmsg.OffsetFetchResponse).Groups {
		switch {
		case g.Group != groups[i]:
			t.Errorf("group %d of the answer is %q, want %q", i, g.Group, groups[i])
		case g.ErrorCode != 0:
			out = append(out, 1000+int64(g.ErrorCode))
		case g.Topics[0].Partitions[0].ErrorCode != 0:
			out = append(out, 1000+int64(g.Topics[0].Partitions[0].ErrorCode))
		default:
			out = append(out, g.Topics[0].Partitions[0].Offset)
		}
	}
	return out
}

// Any node names the coordinator of a group, in every version; any other node says NOT_COORDINATOR.
func TestGroupsHaveOneCoordinator(t *testing.T) {
	c, _ := startCluster(t, nodes(3))
	conns := everyNode(t, c)
	for node := range int32(3) {
		g := groupOn(t, c, node, 0)
		for asked, conn := range conns {
			for v := range int16(7) {
				req := findReq(g, groupOn(t, c, (node+1)%3, 0))
				r := ask(t, conn, req, v).(*kmsg.FindCoordinatorResponse)
				got, addr := r.NodeID, net.JoinHostPort(r.Host, fmt.Sprint(r.Port))
				if v >= 4 {
					if len(r.Coordinators) != 2 || r.Coordinators[1].NodeID != (node+1)%3 {
						t.Errorf("v%d: %+v", v, r)
					}
					got, addr = r.Coordinators[0].NodeID, net.JoinHostPort(r.Coordinators[0].Host, fmt.Sprint(r.Coordinators[0].Port))
				}
				if got != node || addr != c.Addrs()[node] {
					t.Errorf("v%d: node %d at %s, want %d at %s", v, got, addr, node, c.Addrs()[node])
				}
			}
			want := core.NotCoordinator
			if int32(asked) == node {
				want = core.None
			}
			if code := commitOffset(t, conn, g, 5); code != want {
				t.Errorf("a commit on node %d: %d, want %d", asked, code, want)
			}
			join := ask(t, conn, joinReq(g, ""), 9).(*kmsg.JoinGroupResponse).ErrorCode
			if (want == core.None) != (join == core.MemberIDRequired) || want != core.None && join != want {
				t.Errorf("a join on node %d: %d", asked, join)
			}
		}
	}
	bad := ask(t, conns[0], &kmsg.FindCoordinatorRequest{CoordinatorType: 7, CoordinatorKeys: []string{"g"}}, 4).(*kmsg.FindCoordinatorResponse)
	if bad.Coordinators[0].ErrorCode != core.InvalidRequest {
		t.Errorf("a kind of coordinator that is none: %+v", bad)
	}
}

// Requests about several groups are answered in their order, each by who coordinates it; what a node lists is its own.
func TestSeveralGroupsAtOnce(t *testing.T) {
	c, _ := startCluster(t, nodes(2))
	conns := everyNode(t, c)
	a, b, d, foreign := groupOn(t, c, 0, 0), groupOn(t, c, 0, 1), groupOn(t, c, 0, 2), groupOn(t, c, 1, 0)
	for i, g := range []string{a, b, d} {
		if code := commitOffset(t, conns[0], g, int64(10+i)); code != 0 {
			t.Fatal(code)
		}
	}
	commitOffset(t, conns[1], foreign, 99)
	if got := committed(t, conns[0], false, d, foreign, a, d, b); !slices.Equal(got, []int64{12, 1000 + int64(core.NotCoordinator), 10, 12, 11}) {
		t.Errorf("offsets: %v", got)
	}
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{b, foreign, a, b}
	for i, g := range ask(t, conns[0], describe, 5).(*kmsg.DescribeGroupsResponse).Groups {
		if g.Group != describe.Groups[i] || (g.ErrorCode == 0) != (g.Group != foreign) || g.ErrorCode == 0 && g.State != "Empty" {
			t.Errorf("described: %+v", g)
		}
	}
	for node, want := range [][]string{{a, b, d}, {foreign}} {
		var got []string
		for _, g := range ask(t, conns[node], kmsg.NewPtrListGroupsRequest(), 5).(*kmsg.ListGroupsResponse).Groups {
			got = append(got, g.Group)
		}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("node %d lists %v, want %v", node, got, want)
		}
	}
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Groups = []string{a, foreign, a, "never"}
	want := map[string]int16{a: 0, foreign: core.NotCoordinator, "never": core.GroupIDNotFound}
	if at, _ := c.Coordinator("never"); at != 0 {
		want["never"] = core.NotCoordinator
	}
	got := ask(t, conns[0], remove, 2).(*kmsg.DeleteGroupsResponse).Groups
	for _, g := range got {
		if g.ErrorCode != want[g.Group] {
			t.Errorf("deleted %q: %d, want %d", g.Group, g.ErrorCode, want[g.Group])
		}
	}
	if len(got) != 3 {
		t.Errorf("a group that is named twice is answered twice: %+v", got)
	}
	for _, empty := range []kmsg.Request{kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrDeleteGroupsRequest(), kmsg.NewPtrOffsetFetchRequest()} {
		ask(t, conns[0], empty, server.Versions()[kmsg.Key(empty.Key())].Max-1)
	}
}

// A coordinator that moves answers who waits, the old node refuses, the new one loads, then has members and offsets; and the members go on.
func TestCoordinatorMoves(t *testing.T) {
	c, _ := startCluster(t, nodes(2))
	conns := everyNode(t, c)
	g := groupOn(t, c, 0, 0)
	leader := ask(t, conns[0], joinReq(g, ""), 3).(*kmsg.JoinGroupResponse).MemberID
	ask(t, conns[0], syncReq(g, leader, 1), 5)
	commit := commitReq(g, 7)
	commit.Generation, commit.MemberID = 1, leader
	if code := ask(t, conns[0], commit, 8).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatal(code)
	}
	waiting, parked := dialTo(t, c.Addrs()[0]), joinReq(g, "")
	write(t, waiting, frame(parked, 3, 1))
	waitFor(t, conns[0], g, "PreparingRebalance", 2)
	if err := c.Move(g, 1, time.Hour); err != nil {
		t.Fatal(err)
	}
	if r := read(t, waiting, parked, 1).(*kmsg.JoinGroupResponse); r.ErrorCode != core.NotCoordinator {
		t.Errorf("who waited got %d", r.ErrorCode)
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = g, leader, 1
	if r := ask(t, conns[0], beat, 4).(*kmsg.HeartbeatResponse); r.ErrorCode != core.NotCoordinator {
		t.Errorf("the old node: %d", r.ErrorCode)
	}
	if r := ask(t, conns[1], joinReq(g, leader), 9).(*kmsg.JoinGroupResponse); r.ErrorCode != core.CoordinatorLoadInProgress {
		t.Errorf("a join while loading: %d", r.ErrorCode)
	}
	if r := ask(t, conns[1], kmsg.NewPtrListGroupsRequest(), 4).(*kmsg.ListGroupsResponse); r.ErrorCode != core.CoordinatorLoadInProgress {
		t.Errorf("a list while loading: %d", r.ErrorCode)
	}
	if r := ask(t, conns[0], findReq(g), 3).(*kmsg.FindCoordinatorResponse); r.NodeID != 1 {
		t.Errorf("the coordinator is said to be %d", r.NodeID)
	}
	if err := c.Move(g, 1, 0); err != nil { // again, and at once: the first loading has no end any more
		t.Fatal(err)
	}
	if got := committed(t, conns[1], true, g); got[0] != 7 {
		t.Errorf("offset %d, want 7", got[0])
	}
	if r := ask(t, conns[1], beat, 4).(*kmsg.HeartbeatResponse); r.ErrorCode != 0 {
		t.Errorf("a member's heartbeat on the new node: %d", r.ErrorCode)
	}
	if err := c.Move(g, 2, 0); err == nil {
		t.Error("moved to a node that there is not")
	}
}

// After a crash groups are what their logs say: members and offsets are there, who waited has no answer, and an id that was only handed out is unknown.
func TestCrash(t *testing.T) {
	c, _ := startCluster(t)
	conn, waiting := dialTo(t, c.Addrs()[0]), dialTo(t, c.Addrs()[0])
	leader := ask(t, conn, joinReq("g", ""), 3).(*kmsg.JoinGroupResponse).MemberID
	ask(t, conn, syncReq("g", leader, 1), 5)
	commitOffset(t, conn, "h", 5)
	handedOut := ask(t, conn, joinReq("g", ""), 9).(*kmsg.JoinGroupResponse).MemberID
	write(t, waiting, frame(joinReq("g", ""), 3, 1))
	waitFor(t, conn, "g", "PreparingRebalance", 2)
	c.Crash()
	gone(t, conn)
	gone(t, waiting)
	gone(t, dialTo(t, c.Addrs()[0]))
	c.Recover()
	conn = dialTo(t, c.Addrs()[0])
	waitFor(t, conn, "g", "Stable", 1)
	if got := committed(t, conn, true, "h"); got[0] != 5 {
		t.Errorf("offset %v", got)
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", leader, 1
	if r := ask(t, conn, beat, 4).(*kmsg.HeartbeatResponse); r.ErrorCode != 0 {
		t.Errorf("the member: %d", r.ErrorCode)
	}
	if r := ask(t, conn, joinReq("g", handedOut), 9).(*kmsg.JoinGroupResponse); r.ErrorCode != core.UnknownMemberID {
		t.Errorf("an id that was handed out before: %d", r.ErrorCode)
	}
}
