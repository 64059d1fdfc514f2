package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/muster-kafka/muster/internal/anomaly"
	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// deny forbids something to everybody on the broker, which allows everything else.
func (c *cast) deny(kind kmsg.ACLResourceType, name string, operation kmsg.ACLOperation) {
	c.t.Helper()
	req := kmsg.NewPtrCreateACLsRequest()
	acl := kmsg.NewCreateACLsRequestCreation()
	acl.ResourceType, acl.ResourceName, acl.ResourcePatternType = kind, name, kmsg.ACLResourcePatternTypeLiteral
	acl.Principal, acl.Host, acl.Operation, acl.PermissionType = "User:*", "*", operation, kmsg.ACLPermissionTypeDeny
	req.Creations = append(req.Creations, acl)
	resp, err := req.RequestWith(c.ctx, c.admin())
	c.must(err)
	c.must(kerr.ErrorForCode(resp.Results[0].ErrorCode))
}

// TestKafkaDoctorRefused examines a cluster that lets the doctor see only a part, with groups that come and go and are of another
// protocol, and as a client of Kafka 2.4 would.
func TestKafkaDoctorRefused(t *testing.T) {
	for _, version := range releases() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			b := kafkatest.Start(t, version, map[string]string{
				"authorizer.class.name":          "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
				"allow.everyone.if.no.acl.found": "true",
			})
			c := newCast(t, b)
			c.topic("t", 2, 10, time.Hour)
			for _, g := range []string{"open", "secret", "doomed"} {
				c.stable(c.raw(g, "sits"))
			}
			c.must(c.stable(c.raw("abandoned", "left")).leave())
			c.commit("abandoned", 3, 10)
			modern := c.modernGroup(version)
			c.deny(kmsg.ACLResourceTypeGroup, "secret", kmsg.ACLOperationDescribe)
			c.await("the ACL", func() bool {
				resp, err := describeOne(c, "secret")
				return err == nil && resp == kerr.GroupAuthorizationFailed.Code
			})

			// Everything that may be read is, and a group is deleted in between.
			gone := false
			r := examined(t, Options{Addr: b.Addr, Settings: hasty(), Look: 4 * time.Second, Every: 300 * time.Millisecond, Live: func(*Report) {
				if !gone {
					c.deleteGroup("doomed")
					gone = true
				}
			}})
			if r.Groups.Judged != 2 || r.Log.Read != "all" || !slices.Contains(r.Vanished, "doomed") {
				t.Errorf("judged %d, log %s, vanished %v", r.Groups.Judged, r.Log.Read, r.Vanished)
			}
			if len(r.NotAuthorized) != 1 || r.NotAuthorized[0] != (NotJudged{"secret", "GROUP_AUTHORIZATION_FAILED"}) {
				t.Errorf("not authorised: %v", r.NotAuthorized)
			}
			if modern != "" && !slices.Contains(r.NotJudged, NotJudged{modern, "consumer group"}) {
				t.Errorf("not judged: %v", r.NotJudged)
			}
			// Nobody has written anything since, so how late it is by the broker's clock is not known.
			diagnosed(t, r, map[string]diagnosis{"abandoned": {rule: anomaly.LagWithoutMembers, certain: false, member: "", says: "if this machine's clock is right"}})

			// Asked for by name.
			r = examined(t, Options{Addr: b.Addr, Settings: hasty(), Groups: []string{"open", "secret", "nobody"}, Look: time.Second, Every: 300 * time.Millisecond})
			if r.Groups.Judged != 1 || !slices.Equal(r.Absent, []string{"nobody"}) || len(r.NotAuthorized) != 1 || len(r.Vanished) > 0 || len(r.Findings) > 0 {
				t.Errorf("asked for by name: %+v", r)
			}

			// As a client of 2.4, whose ListGroups has no states and whose OffsetFetch is for one group.
			r = examined(t, Options{Addr: b.Addr, Settings: hasty(), Look: 4 * time.Second, Every: 300 * time.Millisecond, versions: kversion.V2_4_0()})
			if r.Groups.Judged != 2 || r.Log.Read != "all" {
				t.Errorf("as 2.4: judged %d, log %s", r.Groups.Judged, r.Log.Read)
			}
			diagnosed(t, r, map[string]diagnosis{"abandoned": {rule: anomaly.LagWithoutMembers, certain: false, member: "", says: "if this machine's clock is right"}})

			// Without the log.
			c.deny(kmsg.ACLResourceTypeTopic, offsetsTopic, kmsg.ACLOperationRead)
			c.sleep(500 * time.Millisecond)
			r = examined(t, Options{Addr: b.Addr, Settings: hasty(), Look: 2 * time.Second, Every: 300 * time.Millisecond})
			if r.Log.Read != "none" || !slices.ContainsFunc(r.Notes, func(n string) bool {
				return strings.Contains(n, "TOPIC_AUTHORIZATION_FAILED") && strings.Contains(n, "READ")
			}) {
				t.Errorf("log %s, notes %v", r.Log.Read, r.Notes)
			}
			diagnosed(t, r, map[string]diagnosis{"abandoned": {rule: anomaly.LagWithoutMembers, certain: false, member: "", says: "oldest unread record"}})
		})
	}
}

func describeOne(c *cast, group string) (int16, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	answer, err := c.raw(group, "asks").ask(req)
	if err != nil {
		return 0, err
	}
	return answer.(*kmsg.DescribeGroupsResponse).Groups[0].ErrorCode, nil
}

// deleteGroup empties a group of whoever is in it, and deletes it.
func (c *cast) deleteGroup(group string) {
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{group}
	m := c.raw(group, "removes")
	answer, err := m.ask(describe)
	c.must(err)
	for _, member := range answer.(*kmsg.DescribeGroupsResponse).Groups[0].Members {
		m.id = member.MemberID
		c.must(m.leave())
	}
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{group}
	answer, err = m.ask(req)
	c.must(err)
	c.must(kerr.ErrorForCode(answer.(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode))
}

// modernGroup makes a group of the consumer protocol where the release has it, and returns its name.
func (c *cast) modernGroup(version string) string {
	if strings.HasPrefix(version, "3.") {
		return ""
	}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.SubscribedTopicNames = "modern", "AAAAAAAAAAAAAAAAAAAAAA", 60000, []string{"t"}
	req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	answer, err := c.raw("modern", "modern").ask(req)
	c.must(err)
	c.must(kerr.ErrorForCode(answer.(*kmsg.ConsumerGroupHeartbeatResponse).ErrorCode))
	return "modern"
}

func TestUnreachable(t *testing.T) {
	var e *UnreachableError
	if _, err := Examine(t.Context(), Options{Addr: "127.0.0.1:1"}); !errors.As(err, &e) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("nobody listens there: %v", err)
	}
	// Somebody listens who is not Kafka, and hangs up.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail.example.org ESMTP\r\n"))
			_ = c.Close()
		}
	}()
	if _, err := Examine(t.Context(), Options{Addr: l.Addr().String()}); !errors.As(err, &e) {
		t.Errorf("not Kafka: %v", err)
	}
	// Somebody who never answers; the context ends sooner than the patience of the doctor.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Examine(ctx, Options{Addr: silent.Addr().String()}); !errors.As(err, &e) {
		t.Errorf("no answer: %v", err)
	}
}

func TestWrongOptions(t *testing.T) {
	bad := anomaly.Defaults()
	bad.FlapCount = 0
	for name, o := range map[string]Options{
		"rate": {Rate: 5000}, "two looks": {Every: time.Millisecond}, "time to look": {Watch: true}, "FlapCount": {Settings: bad},
	} {
		var e *SettingsError
		if _, err := Examine(t.Context(), o); !errors.As(err, &e) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Partitions as Kafka computes them: Utils.abs(groupId.hashCode()) % 50.
func TestPartitionOf(t *testing.T) {
	for group, want := range map[string]int32{"": 0, "a": 47, "polygenelubricants": 0} {
		if got := partitionOf(group, 50); got != want {
			t.Errorf("%q: %d, want %d", group, got, want)
		}
	}
}

func TestReportJSON(t *testing.T) {
	r := (&examination{c: &cluster{sent: &counter{}}}).report()
	var text strings.Builder
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(text.String()), &back); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"findings", "not_judged", "not_authorized", "absent", "vanished", "notes"} {
		if _, ok := back[list].([]any); !ok {
			t.Errorf("%s is no list but %v", list, back[list])
		}
	}
}

// Names come from clients and must not steer the terminal.
func TestTableIsHarmless(t *testing.T) {
	r := (&examination{c: &cluster{sent: &counter{}}}).report()
	r.Findings = append(r.Findings, anomaly.Finding{Rule: anomaly.Wedged, Group: "g\x1b[2J\n", Summary: "s\x1b", Evidence: []string{"e\u009b"}})
	var text strings.Builder
	if err := r.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\u009b") {
		t.Errorf("%q", text.String())
	}
}

// TestUnread holds that a right is advised where one is missing, and nowhere else.
func TestUnread(t *testing.T) {
	for err, want := range map[error]bool{kerr.TopicAuthorizationFailed: true, kerr.UnknownTopicOrPartition: false, kerr.LeaderNotAvailable: false, errUntold: false} {
		if text := unread(err); strings.Contains(text, "READ") != want || !strings.Contains(text, reason(err)) || !strings.Contains(text, offsetsTopic) {
			t.Errorf("%v: %s", err, text)
		}
	}
}
