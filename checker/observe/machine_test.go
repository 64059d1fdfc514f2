package observe

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

func TestRoundJoinSyncCommitFetch(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java})
	leader, follower := b.stable()
	if got := answer[*kmsg.HeartbeatResponse](b, b.send("f", heartbeat(follower, 2), 4)); got.ErrorCode != 0 {
		t.Fatalf("heartbeat: %+v", got)
	}
	if got := answer[*kmsg.HeartbeatResponse](b, b.send("f", heartbeat(follower, 1), 4)); got.ErrorCode != classic.CodeIllegalGeneration {
		t.Fatalf("stale heartbeat: %+v", got)
	}
	b.send("a", commit(leader, 2, "t", 0, 41, "first"), 9)
	b.send("a", commit(leader, 2, "t", 0, 42, "second"), 9)
	b.send("a", commit(leader, 2, "t", 1, 7, ""), 9)

	req := kmsg.NewPtrOffsetFetchRequest()
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group}}
	got := answer[*kmsg.OffsetFetchResponse](b, b.send("x", req, 9))
	ps := got.Groups[0].Topics[0].Partitions
	if len(ps) != 2 || ps[0].Offset != 42 || *ps[0].Metadata != "second" || ps[1].Offset != 7 {
		t.Fatalf("fetch: %+v", got)
	}
	if !slices.Contains(b.records, classic.OffsetRecords) || !slices.Contains(b.records, classic.GroupRecord) {
		t.Fatalf("records: %v", b.records)
	}
}

func TestSilentMembersAreExpelledOnTime(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java})
	leader, follower := b.stable()
	b.sleep(9 * time.Second)
	b.send("a", heartbeat(leader, 2), 4)
	b.sleep(time.Second - time.Millisecond)
	if got := describe(b); got.State != "Stable" || len(got.Members) != 2 {
		t.Fatalf("a millisecond early: %+v", got)
	}
	b.sleep(time.Millisecond)
	if got := describe(b); got.State != "PreparingRebalance" || len(got.Members) != 1 || got.Members[0].MemberID != leader {
		t.Fatalf("at the session timeout of %s: %+v", follower, got)
	}
	if got := answer[*kmsg.HeartbeatResponse](b, b.send("f", heartbeat(follower, 2), 4)); got.ErrorCode != classic.CodeUnknownMemberID {
		t.Fatalf("expelled: %+v", got)
	}
}

func describe(b *bench) kmsg.DescribeGroupsResponseGroup {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	return answer[*kmsg.DescribeGroupsResponse](b, b.send("x", req, 5)).Groups[0]
}

func TestFailedWriteReachesEveryWaitingSync(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java})
	leader, follower := b.stable()
	j1, j2 := b.send("a", join(leader, "range"), 9), b.send("f", join(follower, "range", "sticky"), 9)
	if answer[*kmsg.JoinGroupResponse](b, j1).Generation != 3 || answer[*kmsg.JoinGroupResponse](b, j2).Generation != 3 {
		t.Fatal("no third generation")
	}
	waits := b.send("f", sync5(follower, 3, "range"), 5)
	b.m.FailWrites(true)
	fails := b.send("a", sync5(leader, 3, "range", leader, "q0", follower, "q1"), 5)
	for _, s := range []*kmsg.SyncGroupResponse{answer[*kmsg.SyncGroupResponse](b, waits), answer[*kmsg.SyncGroupResponse](b, fails)} {
		if s.ErrorCode != classic.CodeWriteFailed || len(s.MemberAssignment) != 0 {
			t.Fatalf("after a failed write: %+v", s)
		}
	}
	if got := describe(b); got.State != "PreparingRebalance" {
		t.Fatalf("after a failed write: %+v", got)
	}
}

func TestSupersededJoinIsDroppedOrAnswered(t *testing.T) {
	for _, p := range []classic.Profile{classic.Java, classic.Reference} {
		t.Run(p.Name, func(t *testing.T) {
			b := newBench(t, Config{Profile: p})
			_, follower := b.stable()
			first := b.send("f", join(follower, "range"), 9)
			b.parked(first)
			second := b.send("f", join(follower, "range"), 9)
			b.parked(second)
			if p.AnswersDropped {
				if got := answer[*kmsg.JoinGroupResponse](b, first); got.ErrorCode != classic.CodeRebalanceInProgress || got.MemberID != follower {
					t.Fatalf("superseded: %+v", got)
				}
			} else if !b.dropped[first] {
				t.Fatal("the superseded request is not dropped")
			}
		})
	}
}

func TestListAndDeleteOverManyGroups(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java})
	leader, follower := b.stable()
	other := commit("", -1, "t", 0, 1, "")
	other.Group = "simple"
	b.send("x", other, 9)

	list := func(v int16, states ...string) []kmsg.ListGroupsResponseGroup {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter = states
		return answer[*kmsg.ListGroupsResponse](b, b.send("x", req, v)).Groups
	}
	if got := list(5); len(got) != 2 || got[0].GroupState != "Stable" || got[0].GroupType != "classic" || got[1].GroupState != "Empty" {
		t.Fatalf("list: %+v", got)
	}
	if got := list(4, "sTABLE", "none such"); len(got) != 1 || got[0].Group != group || got[0].GroupType != "" {
		t.Fatalf("list of Stable ones: %+v", got)
	}
	if got := list(3, "Stable"); len(got) != 2 || got[0].GroupState != "" {
		t.Fatalf("version 3 has no filter: %+v", got)
	}
	del := kmsg.NewPtrDeleteGroupsRequest()
	del.Groups = []string{group, "simple", "none", group}
	got := answer[*kmsg.DeleteGroupsResponse](b, b.send("x", del, 2)).Groups
	if len(got) != 3 || got[0].ErrorCode != classic.CodeNonEmptyGroup || got[1].ErrorCode != 0 || got[2].ErrorCode != classic.CodeGroupIDNotFound {
		t.Fatalf("delete: %+v", got)
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = group
	leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: follower}, {MemberID: "nobody"}, {MemberID: leader}, {MemberID: follower}}
	left := answer[*kmsg.LeaveGroupResponse](b, b.send("x", leave, 5))
	var codes []int16
	for _, m := range left.Members {
		codes = append(codes, m.ErrorCode)
	}
	if !slices.Equal(codes, []int16{0, 25, 0, 25}) || left.Members[1].MemberID != "nobody" {
		t.Fatalf("leave: %+v", left)
	}
	if got := list(5, "empty"); len(got) != 1 || got[0].ProtocolType != "consumer" {
		t.Fatalf("an emptied group keeps its type: %+v", got)
	}
}

func TestRunsNeverRunOutOfAssignments(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java})
	leader, follower := b.stable()
	for gen := int32(3); gen < 400; gen++ {
		b.send("a", join(leader, "range"), 9)
		b.send("f", join(follower, "range", "sticky"), 9)
		own := time.Duration(gen).String()
		s := b.send("a", sync5(leader, gen, "range", leader, own+"a", follower, own+"f"), 5)
		if got := answer[*kmsg.SyncGroupResponse](b, s); string(got.MemberAssignment) != own+"a" {
			t.Fatalf("generation %d: %+v", gen, got)
		}
		s = b.send("f", sync5(follower, gen, "range"), 5)
		if got := answer[*kmsg.SyncGroupResponse](b, s); string(got.MemberAssignment) != own+"f" {
			t.Fatalf("generation %d: %+v", gen, got)
		}
	}
}

func TestJoinTimerIsTheLargestOfTheMembers(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java})
	leader, follower := b.stable()
	longer := join(follower, "range")
	longer.RebalanceTimeoutMillis = 70_000
	b.parked(b.send("f", longer, 9)) // the list is another one: a rebalance
	deadline := func(kind classic.TimerKind) time.Duration {
		for _, timer := range b.m.Timers() {
			if timer.Kind == kind {
				return timer.Deadline.Sub(b.m.Now())
			}
		}
		return -1
	}
	if got := deadline(classic.GroupJoinTimer); got != 70*time.Second {
		t.Fatalf("join timer: %v", got)
	}
	b.send("a", join(leader, "range"), 9)
	if got := deadline(classic.GroupSyncTimer); got != 70*time.Second {
		t.Fatalf("sync timer: %v", got)
	}
	short := join(follower, "sticky", "range")
	short.RebalanceTimeoutMillis = 1000
	b.send("f", short, 9)
	if got := deadline(classic.GroupJoinTimer); got != 30*time.Second {
		t.Fatalf("join timer after the longest timeout is gone: %v", got)
	}
}

func TestTheLastAssignmentForAMemberCounts(t *testing.T) {
	b := newBench(t, Config{Profile: classic.Java})
	id, _ := b.enter("a", "range")
	s := b.send("a", sync5(id, 1, "range", id, "first", "stranger", "theirs", id, "last"), 5)
	if got := answer[*kmsg.SyncGroupResponse](b, s); string(got.MemberAssignment) != "last" {
		t.Fatalf("sync: %+v", got)
	}
}

// A batch that takes away the leader and then a follower that waits for it: the Scala coordinator starts a rebalance in between.
func TestBatchesOfTheScalaCoordinatorGoOneByOne(t *testing.T) {
	for _, p := range []classic.Profile{classic.Java, classic.Scala} {
		b := newBench(t, Config{Profile: p})
		leader, follower := b.stable()
		b.send("a", join(leader, "range"), 9)
		b.send("f", join(follower, "range", "sticky"), 9)
		waits := b.send("f", sync5(follower, 3, "range"), 5)
		b.parked(waits)
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Group = group
		leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: leader}, {MemberID: "nobody"}, {MemberID: follower}}
		got := answer[*kmsg.LeaveGroupResponse](b, b.send("x", leave, 5))
		if len(got.Members) != 3 || got.Members[0].ErrorCode != 0 || got.Members[1].ErrorCode != 25 || got.Members[2].ErrorCode != 0 {
			t.Fatalf("%s: leave: %+v", p.Name, got)
		}
		if d := describe(b); d.State != "Empty" {
			t.Fatalf("%s: %+v", p.Name, d)
		}
		if p.LeavesOneByOne {
			if got := answer[*kmsg.SyncGroupResponse](b, waits); got.ErrorCode != classic.CodeRebalanceInProgress {
				t.Fatalf("%s: sync: %+v", p.Name, got)
			}
		} else if !b.dropped[waits] {
			t.Fatalf("%s: the SyncGroup of a member that is removed is not dropped", p.Name)
		}
	}
}
