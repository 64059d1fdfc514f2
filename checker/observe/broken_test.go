package observe

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// TestNoAnswerOfABrokenModel holds that a model with any rule broken may leave a request without an answer, and can be asked on: by breaking rules it is told which one a
// coordinator has broken, whatever that has answered.
func TestNoAnswerOfABrokenModel(t *testing.T) {
	dropped := 0
	for _, rule := range classic.Rules() {
		id, _ := classic.FindRule(rule.ID)
		if breakable, _ := classic.Breakable(id); !breakable {
			continue
		}
		w := NewWorld(Config{Profile: classic.Java, Broken: []classic.RuleID{id}, InitialDelay: time.Second})
		all := []*Branch{w.NewBranch(group)}
		ask := func(req kmsg.Request, minted string) {
			var next []*Branch
			for _, b := range all {
				r := Request{Ticket: 1, Message: req, Version: 3, Minted: minted}
				if err := w.Apply(b, r, At(time.Unix(0, 0)), func(o Outcome) bool {
					dropped += len(o.Dropped)
					next = append(next, o.Branch)
					return true
				}); err != nil {
					t.Errorf("%s: %v", rule.ID, err)
				}
			}
			all = next
		}
		join := kmsg.NewPtrJoinGroupRequest()
		join.Group, join.ProtocolType, join.SessionTimeoutMillis = group, "consumer", 10_000
		join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.MemberID = group, "A"
		ask(join, "A")
		ask(beat, "")
	}
	if dropped == 0 {
		t.Error("none has left the heartbeat of a member without an answer")
	}
}
