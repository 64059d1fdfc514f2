package server

import (
	"testing"

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
