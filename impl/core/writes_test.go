package core_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// §4.3 and §2.6.3, column NEW.
func TestAppendErrors(t *testing.T) {
	for _, test := range []struct{ log, group, commit int16 }{
		{core.UnknownTopicOrPartition, core.CoordinatorNotAvailable, core.CoordinatorNotAvailable},
		{core.NotEnoughReplicas, core.CoordinatorNotAvailable, core.CoordinatorNotAvailable},
		{core.RequestTimedOut, core.CoordinatorNotAvailable, core.CoordinatorNotAvailable},
		{core.NotLeaderOrFollower, core.NotCoordinator, core.NotCoordinator},
		{core.KafkaStorageError, core.NotCoordinator, core.NotCoordinator},
		{core.MessageTooLarge, core.UnknownServerError, core.UnknownServerError},
		{core.RecordListTooLarge, core.UnknownServerError, core.UnknownServerError},
		{core.InvalidFetchSize, core.UnknownServerError, core.UnknownServerError},
		{core.NetworkException, core.NetworkException, core.CoordinatorLoadInProgress},
		{20, 20, 20}, // NOT_ENOUGH_REPLICAS_AFTER_APPEND is passed through
	} {
		r := newRig(t)
		ids, gen := r.generation("g", 2)
		follower := r.sync("g", ids[1], gen)
		r.sim.FailWrites(test.log)
		leader := r.sync("g", ids[0], gen, ids[1]+"=x")
		for _, s := range []core.Ticket{leader, follower} { // sync.write.fails
			if got := r.synced(s); got.ErrorCode != test.group || len(got.MemberAssignment) != 0 {
				t.Errorf("log error %d: SyncGroup %+v, want error %d", test.log, got, test.group)
			}
		}
		r.wantState("g", "PreparingRebalance")
		if code := r.committed(r.send(commitReq("s", "", -1, "t", 1), 9)); code != test.commit {
			t.Errorf("log error %d: OffsetCommit %d, want %d", test.log, code, test.commit)
		}
		if r.fetch("s") != -1 || r.describe("s").State != "Dead" && test.log != core.RequestTimedOut {
			t.Error("a simple group is left of a commit that failed")
		}
	}
}

// Nothing that depends on the log is answered or seen before it is durable.
func TestAnswersWaitForTheLog(t *testing.T) {
	r := newRig(t)
	r.commit("old", "", -1, 1)
	ids, gen := r.generation("g", 2)
	r.sim.HoldWrites(true)
	follower, leader := r.sync("g", ids[1], gen), r.sync("g", ids[0], gen, ids[1]+"=x")
	commit := r.send(commitReq("old", "", -1, "t", 2), 9)
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{"old"}
	remove := r.send(req, 2)
	behind := r.send(commitReq("old", "", -1, "t", 3), 9)
	r.wantParked("before the log", follower, leader, commit, remove, behind)
	r.wantState("g", "CompletingRebalance")
	if r.fetch("old") != 1 {
		t.Error("an offset is seen before it is durable")
	}
	r.end(core.None)
	if r.parked(follower) || r.parked(leader) {
		t.Error("after the assignment")
	}
	r.end(core.None)
	if r.parked(commit) || r.fetch("old") != 2 {
		t.Error("after the offset")
	}
	r.wantParked("before the tombstones", remove, behind)
	r.end(core.None)
	if r.parked(remove) {
		t.Error("after the tombstones")
	}
	r.end(core.None)
	if r.committed(behind) != 0 || r.fetch("old") != 3 {
		t.Errorf("what came during the deletion: a new simple group, offset %d", r.fetch("old"))
	}
}

func (r *rig) end(code int16) {
	r.Helper()
	if !r.sim.EndWrite(code) {
		r.Fatal("no write is open")
	}
	r.look()
}

// A deletion covers the offsets that are on their way to the log, and one that fails has changed nothing.
func TestDeleteFails(t *testing.T) {
	r := newRig(t)
	pending := r.id("g")
	r.commit("g", "", -1, 1)
	r.records()
	r.sim.HoldWrites(true)
	commit := r.send(commitReq("g", "", -1, "u", 2), 9)
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{"g"}
	remove := r.send(req, 2)
	join := r.join("g", pending)
	if recs := r.records(); len(recs) != 4 || recs[1] != "g t/0 gone" || recs[2] != "g u/0 gone" || recs[3] != "g gone" {
		t.Errorf("written: %v", recs)
	}
	r.end(core.None)
	r.committed(commit)
	r.end(core.MessageTooLarge)
	if got := answer[*kmsg.DeleteGroupsResponse](r, remove).Groups[0].ErrorCode; got != core.UnknownServerError {
		t.Errorf("DeleteGroups: %d", got)
	}
	if got := r.joined(join); got.ErrorCode != 0 || r.fetch("g") != 1 {
		t.Errorf("the pending id: %+v", got)
	}
}

// An acknowledgement that comes when the group has moved on has no effect (§2.3.2).
func TestLateAcknowledgement(t *testing.T) {
	for _, code := range []int16{core.None, core.NotEnoughReplicas} {
		r := newRig(t)
		ids, gen := r.generation("g", 2)
		r.sim.HoldWrites(true)
		leader := r.sync("g", ids[0], gen, ids[0]+"=x")
		b := r.join("g", ids[1], "range=new")
		if got := r.synced(leader); got.ErrorCode != core.RebalanceInProgress {
			t.Errorf("%+v", got)
		}
		r.end(code)
		r.wantParked("after the acknowledgement", b)
		r.wantState("g", "PreparingRebalance")
	}
}

// The leader repeats itself while it is being written: one record, the first assignment (sync.parked.superseded; O5).
func TestLeaderRepeatsDuringWrite(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 1)
	r.records()
	r.sim.HoldWrites(true)
	first := r.sync("g", ids[0], gen, ids[0]+"=first")
	second := r.sync("g", ids[0], gen, ids[0]+"=second")
	if got := r.synced(first); got.ErrorCode != core.RebalanceInProgress {
		t.Errorf("%+v", got)
	}
	r.end(core.None)
	if got := r.synced(second); string(got.MemberAssignment) != "first" {
		t.Errorf("%+v", got)
	}
	if recs := r.records(); len(recs) != 1 {
		t.Errorf("written: %v", recs)
	}
}

// §5.1 DF10: the answer to a LeaveGroup that empties the group waits for the record, and can fail; memory stays Empty.
func TestLeaveFails(t *testing.T) {
	r := newRig(t)
	ids, _ := r.stable("g", 1)
	r.sim.FailWrites(core.MessageTooLarge)
	if got := r.leave("g", ids[0]); got.ErrorCode != core.UnknownServerError || len(got.Members) > 0 {
		t.Errorf("%+v", got)
	}
	r.wantState("g", "Empty")
	var failed *core.WriteError
	if reported := r.takeReports(); len(reported) != 1 || !errors.As(reported[0], &failed) || failed.Group != "g" {
		t.Errorf("reported: %v", reported)
	}
}

// §4.3, verified item 4: a group whose creation cannot be written is gone; what was answered stays answered.
func TestCreationFails(t *testing.T) {
	r := newRig(t)
	r.sim.FailWrites(core.MessageTooLarge)
	pending := r.id("g")
	old := r.joined(r.send(joinReq("h", ""), 3))
	if old.ErrorCode != core.UnknownServerError || old.Generation != -1 {
		t.Errorf("v3: %+v", old)
	}
	r.sim.FailWrites(core.None)
	if got := r.joined(r.join("g", pending)); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("the pending id: %+v", got)
	}
	if r.describe("g").State != "Dead" || r.describe("h").State != "Dead" || len(r.timers()) > 0 {
		t.Errorf("left: %v", r.timers())
	}
}

// A creation that fails late takes everything with it that has been built on it, and hangs nobody.
func TestCreationFailsLate(t *testing.T) {
	r := newRig(t)
	r.sim.HoldWrites(true)
	a := r.joined(r.join("g", r.id("g"))).MemberID
	leader := r.sync("g", a, 1)
	commit := r.send(commitReq("g", "", -1, "t", 1), 9)
	r.end(core.NotEnoughReplicas)
	if got := r.synced(leader); got.ErrorCode != core.CoordinatorNotAvailable {
		t.Errorf("%+v", got)
	}
	if r.committed(commit) != core.UnknownMemberID { // it was refused: the group had members
		t.Errorf("commit: %d", r.committed(commit))
	}
	r.end(core.None)
	r.wantState("g", "Dead")
}

// §3.5: the offsets of deleted topics go, from every group.
func TestTopicsDeleted(t *testing.T) {
	r := newRig(t)
	r.commit("g", "", -1, 1)
	r.commit("h", "", -1, 2)
	r.send(commitReq("h", "", -1, "u", 3), 9)
	r.records()
	r.sim.Step(core.TopicsDeleted{Topics: []string{"t", "nosuch"}})
	r.look()
	if r.fetch("g") != -1 || r.fetch("h") != -1 {
		t.Error("offsets are left")
	}
	if recs := r.records(); len(recs) != 2 || recs[0] != "g t/0 gone" {
		t.Errorf("written: %v", recs)
	}
	if left := r.logged(); len(left) != 1 || left[0].OffsetKey.Topic != "u" {
		t.Errorf("left in the log: %+v", left)
	}
}

// What would change a group that is being deleted waits, and then finds it gone.
func TestJoinDuringDeletion(t *testing.T) {
	r := newRig(t)
	pending := r.id("g")
	r.sim.HoldWrites(true)
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{"g"}
	first, second := r.send(req, 2), r.send(req, 2)
	join, fresh := r.join("g", pending), r.join("g", "")
	r.wantParked("during the deletion", first, second, join, fresh)
	r.wantState("g", "Empty")
	r.end(core.None)
	if a, b := answer[*kmsg.DeleteGroupsResponse](r, first), answer[*kmsg.DeleteGroupsResponse](r, second); a.Groups[0].ErrorCode != 0 || b.Groups[0].ErrorCode != core.GroupIDNotFound {
		t.Errorf("%+v, then %+v", a, b)
	}
	if a, b := r.joined(join), r.joined(fresh); a.ErrorCode != core.UnknownMemberID || b.ErrorCode != core.MemberIDRequired {
		t.Errorf("the pending id: %+v\na new member: %+v", a, b)
	}
}

// The acknowledgement of one generation's assignment is nothing to the next one's.
func TestAcknowledgementOfAnotherGeneration(t *testing.T) {
	r := newRig(t)
	ids, gen := r.generation("g", 1)
	r.sim.HoldWrites(true)
	r.sync("g", ids[0], gen, ids[0]+"=old")
	r.joined(r.join("g", ids[0], "range=new"))
	leader := r.sync("g", ids[0], gen+1, ids[0]+"=new")
	r.end(core.None)
	r.wantParked("after the older acknowledgement", leader)
	r.end(core.None)
	if got := r.synced(leader); string(got.MemberAssignment) != "new" {
		t.Errorf("%+v", got)
	}
}

// A commit that fails takes only a group with it that it has made itself: one whose offsets were in the log is there until a cleanup, even
// if a transaction that was aborted has left it none.
func TestCommitFails(t *testing.T) {
	r := newRig(t)
	r.txn("g", 1, 5)
	r.mark(1, false)
	r.wantState("g", "Empty")
	r.sim.FailWrites(core.NotEnoughReplicas)
	for _, group := range []string{"g", "h"} {
		if code := r.txnCommitted(r.send(txnReq(group, "", -1, 2, "t", 6), 3)); code != core.CoordinatorNotAvailable {
			t.Errorf("%s: %d", group, code)
		}
	}
	r.sim.FailWrites(core.None)
	r.wantState("g", "Empty")
	r.wantState("h", "Dead")
	r.records()
	r.sim.Step(core.Cleanup{})
	r.wantState("g", "Dead")
	if got := r.records(); len(got) != 1 {
		t.Errorf("the cleanup writes %q", got)
	}
}

// Writes that fail all at once do so in the order in which they were put out (unload.forgets), and so do those that end with a later one.
func TestWritesEndInOrder(t *testing.T) {
	for what, ev := range map[string]func(last core.AppendID) core.Event{
		"unload":    func(core.AppendID) core.Event { return core.Unload{} },
		"later one": func(last core.AppendID) core.Event { return core.Appended{ID: last} },
	} {
		r := newRig(t)
		r.sim.HoldWrites(true)
		var tickets []core.Ticket
		for n := range 12 {
			tickets = append(tickets, r.send(commitReq(fmt.Sprint("g", 11-n), "", -1, "t", 1), 9))
		}
		r.wantParked(what, tickets...)
		r.sim.Step(ev(r.appends[len(r.appends)-1].ID))
		var answered []core.Ticket
		for _, a := range r.sim.Drain().Answers {
			answered = append(answered, a.Ticket)
		}
		if !slices.Equal(answered, tickets) {
			t.Errorf("%s: answered are %v, in this order; put out were %v", what, answered, tickets)
		}
	}
}
