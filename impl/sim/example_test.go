package sim_test

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
)

// The leader of a generation dies between its JoinGroup and its SyncGroup. The follower's SyncGroup waits for an assignment that never comes,
// until the leader's session is over; then the follower is told to join again, and leads. Member ids are the test's own, the clock is virtual,
// and the log can be read.
func Example() {
	ids := []string{"leader", "follower"}
	s := sim.New(1, core.Settings{NewMemberID: func(string) (id string) { id, ids = ids[0], ids[1:]; return id }})
	s.Ask(join("")) // alone, at once in generation 1
	s.Ask(join("")) // waits for the leader to join again
	s.Ask(join("leader"))
	s.Ask(sync("follower", 2))
	s.Advance(10 * time.Second) // not a word of the leader
	s.Ask(join("follower"))
	for _, a := range s.Drain().Answers {
		fmt.Println(text(a.Message))
	}
	fmt.Println("after", s.Now().Sub(sim.Epoch), "there are", s.Log().Appended(), "records in the log")

	// Output:
	// JoinGroup: NONE, generation 1, leader "leader"
	// JoinGroup: NONE, generation 2, leader "leader"
	// JoinGroup: NONE, generation 2, leader "leader"
	// SyncGroup: REBALANCE_IN_PROGRESS
	// JoinGroup: NONE, generation 3, leader "follower"
	// after 10s there are 1 records in the log
}

func join(member string) kmsg.Request {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = 3 // which needs no second round for the id of a member
	req.Group, req.MemberID, req.ProtocolType = "g", member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 60_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("subscription")}}
	return req
}

func sync(member string, generation int32) kmsg.Request {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = "g", member, generation
	return req
}

func text(answer kmsg.Response) string {
	switch r := answer.(type) {
	case *kmsg.JoinGroupResponse:
		return fmt.Sprintf("JoinGroup: %s, generation %d, leader %q", name(r.ErrorCode), r.Generation, r.LeaderID)
	case *kmsg.SyncGroupResponse:
		return "SyncGroup: " + name(r.ErrorCode)
	}
	return fmt.Sprintf("%T", answer)
}

func name(code int16) string {
	if e := kerr.TypedErrorForCode(code); e != nil {
		return e.Message
	}
	return "NONE"
}
