package kfake

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"
)

// TestOpen lets one member join on the fake, at the versions that the judge chooses.
func TestOpen(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	tg, err := Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	}()
	caps := tg.Capabilities()
	if tg.Name() != "kfake" || caps.MinSession != minSession || caps.InitialDelay != 0 || caps.MaxGroups != 0 {
		t.Errorf("name %q, capabilities %+v", tg.Name(), caps)
	}
	t.Logf("%+v", caps)
	c, err := tg.Dial(ctx, "A")
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group = caps.Prefix + "g"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 1000, 1000
	req.ProtocolType = "consumer"
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
	for _, want := range []*kerr.Error{kerr.MemberIDRequired, nil} {
		call := c.Send(req, 5)
		if !tg.Clock().Await(ctx, call, 5*time.Second) {
			t.Fatal("no answer to JoinGroup")
		}
		resp, err := call.Answer()
		if err != nil {
			t.Fatal(err)
		}
		r := resp.(*kmsg.JoinGroupResponse)
		if want == nil && r.ErrorCode != 0 || want != nil && r.ErrorCode != want.Code {
			t.Fatalf("JoinGroup answers %v, want %v", kerr.ErrorForCode(r.ErrorCode), want)
		}
		req.MemberID = r.MemberID
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
