package campaign

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// begins is a JoinGroup of an old version that makes a generation of one member.
func begins(member string, generation int32) func(*history.Recorder, int64) {
	return func(rec *history.Recorder, until int64) {
		req, resp := kmsg.NewPtrJoinGroupRequest(), kmsg.NewPtrJoinGroupResponse()
		req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = "g", "consumer", 10_000, 10_000
		req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
		name := "range"
		resp.Generation, resp.Protocol, resp.LeaderID, resp.MemberID = generation, &name, member, member
		resp.Members = []kmsg.JoinGroupResponseMember{{MemberID: member}}
		rec.Finish(rec.Begin("c", 1, req, 3), resp, history.Answered, "", until)
	}
}

// leaves is a LeaveGroup.
func leaves(member string) func(*history.Recorder, int64) {
	return func(rec *history.Recorder, until int64) {
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Group, req.MemberID = "g", member
		rec.Finish(rec.Begin("c", 1, req, 2), kmsg.NewPtrLeaveGroupResponse(), history.Answered, "", until)
	}
}

// TestCleaned holds that a target which removes groups that have nothing may do so to a few of them. One whose generations begin anew each time is wrong.
func TestCleaned(t *testing.T) {
	for name, test := range map[string]struct {
		cleanup  time.Duration
		budget   time.Duration
		parallel int
		legal    int
	}{
		"now and then":             {10 * time.Minute, time.Minute, 4, 2},
		"in a longer campaign":     {10 * time.Minute, 5 * time.Minute, 2, 4},
		"by one that never cleans": {0, time.Minute, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := judging(t, "4.3.1")
			c.caps.Cleanup, c.o.Budget, c.o.Parallel = test.cleanup, test.budget, test.parallel
			const all = 6
			for seed := range uint64(all) {
				one := judged(seed+1, begins("a", 1), leaves("a"), begins("b", 1))
				one.history.Header.Cleanup = test.cleanup
				c.look(t.Context(), t.Context(), one)
			}
			if r := &c.report; r.Legal != test.legal || r.Illegal != all-test.legal || len(r.Failures) == 0 || r.Failures[0].Rule != "join.complete.generation" {
				t.Errorf("%d legal, want %d; %d illegal, %v", r.Legal, test.legal, r.Illegal, r.Failures)
			}
		})
	}
}
