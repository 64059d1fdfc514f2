package kafka

import (
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// found opens a fresh broker for what docs/findings.md tells of it.
func found(t *testing.T, version string) *Target {
	t.Helper()
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("starts a broker for each release and waits; MUSTER_NIGHTLY=1 runs it")
	}
	kafkatest.Need(t, version)
	tg, err := Open(t.Context(), version, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// asks sends a request on a connection of its own and returns what came within that time; nil where nothing did.
func asks(t *testing.T, tg target.Target, req kmsg.Request, version int16, wait time.Duration) kmsg.Response {
	t.Helper()
	c, err := tg.Dial(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := c.Send(req, version)
	if !tg.Clock().Await(t.Context(), call, wait) {
		return nil
	}
	resp, err := call.Answer()
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func joining(group, member string, session time.Duration, protocols ...string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(session.Milliseconds()), int32(session.Milliseconds())
	for _, name := range protocols {
		req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: []byte("x")})
	}
	return req
}

// TestProtocolTwice lets a member with a list that names a protocol twice join a group of one that is well: both are lost.
func TestProtocolTwice(t *testing.T) {
	for _, version := range []string{"4.4.0", "4.3.1", "3.9.2"} {
		t.Run(version, func(t *testing.T) {
			tg := found(t, version)
			const session, soon = 10 * time.Second, 3 * time.Second
			group := tg.Capabilities().Prefix + "twice"
			a, ok := asks(t, tg, joining(group, "", session, "range"), 3, 20*time.Second).(*kmsg.JoinGroupResponse)
			if !ok || a.ErrorCode != 0 {
				t.Fatalf("the first member: %+v", a)
			}
			c, err := tg.Dial(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			b := c.Send(joining(group, "", session, "range", "range"), 3)
			if tg.Clock().Await(t.Context(), b, soon) {
				resp, err := b.Answer()
				t.Fatalf("the second member was answered %+v, %v: Kafka has been mended", resp, err)
			}
			again, ok := asks(t, tg, joining(group, a.MemberID, session, "range"), 3, 20*time.Second).(*kmsg.JoinGroupResponse)
			if !ok || again.ErrorCode != kerr.InconsistentGroupProtocol.Code {
				t.Errorf("the first member rejoins: %+v, want INCONSISTENT_GROUP_PROTOCOL", again)
			}
			if tg.Clock().Await(t.Context(), b, 3*session) {
				resp, err := b.Answer()
				t.Errorf("the second member was answered %+v, %v after the rebalance timeout", resp, err)
			}
			del := kmsg.NewPtrDeleteGroupsRequest()
			del.Groups = []string{group}
			gone, ok := asks(t, tg, del, 2, 20*time.Second).(*kmsg.DeleteGroupsResponse)
			if !ok || gone.Groups[0].ErrorCode != kerr.NonEmptyGroup.Code {
				t.Errorf("DeleteGroups: %+v, want NON_EMPTY_GROUP", gone)
			}
		})
	}
}
