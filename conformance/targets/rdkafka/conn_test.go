package rdkafka

import (
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/muster-kafka/muster/conformance/target"
)

// answers is a connection that answers JoinGroup with a generation and remembers what was sent.
type answers struct {
	target.Conn
	generation int32
	got        kmsg.Request
}

func (a *answers) Send(req kmsg.Request, version int16) *target.Call {
	a.got = req
	call := target.NewCall(req, version, time.Now())
	resp := req.ResponseKind()
	if joined, ok := resp.(*kmsg.JoinGroupResponse); ok {
		joined.Generation = a.generation
	}
	call.Finish(resp, nil, time.Now())
	return call
}

// TestGenerationsShift holds that scenarios see generations from 1 on, and that refusals and requests without a generation stay as they are.
func TestGenerationsShift(t *testing.T) {
	for mock, kafka := range map[int32]int32{2: 1, 3: 2, -1: -1, 0: 0} {
		call := shifted(&answers{generation: mock}, kmsg.NewPtrJoinGroupRequest(), 3)
		<-call.Done()
		resp, _ := call.Answer()
		if got := resp.(*kmsg.JoinGroupResponse).Generation; got != kafka {
			t.Errorf("generation %d of the mock is shown as %d, want %d", mock, got, kafka)
		}
	}
	for kafka, mock := range map[int32]int32{1: 2, 7: 8, -1: -1, 0: 0} {
		inner := &answers{}
		req := kmsg.NewPtrHeartbeatRequest()
		req.Generation = kafka
		<-shifted(inner, req, 3).Done()
		if got := inner.got.(*kmsg.HeartbeatRequest).Generation; got != mock {
			t.Errorf("generation %d is sent as %d, want %d", kafka, got, mock)
		}
		if req.Generation != kafka {
			t.Errorf("the request of the judge was changed to %d", req.Generation)
		}
	}
}

// TestOpen lets a member join on the mock, and sees each group at a process of its own.
func TestOpen(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes a C compiler; MUSTER_NIGHTLY=1 runs it")
	}
	defer goleak.VerifyNone(t)
	tg, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for _, group := range []string{"g", "h"} {
		c, err := tg.Dial(t.Context(), "A")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = group, "consumer", 10000, 10000
		req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
		call := c.Send(req, tg.Capabilities().Newest[req.Key()])
		if !tg.Clock().Await(t.Context(), call, initialDelay+5*time.Second) {
			t.Fatal("no answer to JoinGroup")
		}
		resp, err := call.Answer()
		if err != nil {
			t.Fatal(err)
		}
		if r := resp.(*kmsg.JoinGroupResponse); r.ErrorCode != 0 || r.Generation != 1 {
			t.Errorf("JoinGroup answers error %d, generation %d", r.ErrorCode, r.Generation)
		}
	}
	if n := len(tg.nodes); n != 3 {
		t.Errorf("%d processes for two groups, want one each and the first", n)
	}
}
