package server

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/groupstats"
)

// An initial delay of 0 is over where the request is handled: nobody else runs here who could notice that its timer is due.
func TestInstantDelay(t *testing.T) {
	l := newLoop(running(core.Settings{}, groupstats.New(groupstats.Options{}), func(err error) { t.Error(err) }), nil)
	l.stop() // whoever waits is told so
	l.stopped = false
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = "g", "consumer", 10_000, 10_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	resp, err := l.ask(0, core.Request{Message: req, Version: 3}, func() { t.Error("the request had to wait") })
	if err != nil {
		t.Fatal(err)
	}
	if j := resp.(*kmsg.JoinGroupResponse); j.ErrorCode != core.None || j.Generation != 1 || j.LeaderID != j.MemberID {
		t.Errorf("answered %+v", j)
	}
}

// What is due before a request comes has happened before it, with the timers of no length that it brings: a group whose last member has expired is Empty, although an id is
// outstanding, and who joins then makes the next generation.
func TestInstantAfterWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(running(core.Settings{MinSessionTimeout: time.Millisecond}, groupstats.New(groupstats.Options{}), func(err error) { t.Error(err) }), nil)
		l.stop() // nobody but who asks lets time pass
		l.stopped = false
		join := func(id string, version int16, session time.Duration) *kmsg.JoinGroupResponse {
			req := kmsg.NewPtrJoinGroupRequest()
			req.Group, req.ProtocolType, req.MemberID = "g", "consumer", id
			req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(session.Milliseconds()), 10_000
			req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
			resp, err := l.ask(0, core.Request{Message: req, Version: version}, func() { t.Error("the request had to wait") })
			if err != nil {
				t.Fatal(err)
			}
			return resp.(*kmsg.JoinGroupResponse)
		}
		join("", 3, 100*time.Millisecond)
		one := join("", 4, 10*time.Second)
		join("", 4, 10*time.Second) // another id that is outstanding
		time.Sleep(200 * time.Millisecond)
		if j := join(one.MemberID, 4, 10*time.Second); j.ErrorCode != core.None || j.Generation != 3 {
			t.Errorf("answered %+v: want generation 3", j)
		}
	})
}
