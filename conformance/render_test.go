package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestRendering gives each verb an answer and looks at its line.
func TestRendering(t *testing.T) {
	str := kmsg.StringPtr
	joinError := func(code int16, edit func(*kmsg.JoinGroupResponse)) func(kmsg.Request) kmsg.Response {
		return func(req kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrJoinGroupResponse()
			resp.ErrorCode, resp.Generation, resp.MemberID = code, -1, req.(*kmsg.JoinGroupRequest).MemberID
			if req.GetVersion() < 7 {
				resp.Protocol = str("")
			}
			edit(resp)
			return resp
		}
	}
	plain := func(*kmsg.JoinGroupResponse) {}
	cases := []struct {
		name, command, want string
		answer              func(kmsg.Request) kmsg.Response
	}{
		{"refused", "join A range=x member=stranger", "A: UNKNOWN_MEMBER_ID", joinError(25, plain)},
		{"refused, with id", "join A range=x member=stranger -id", "A: UNKNOWN_MEMBER_ID id=stranger", joinError(25, plain)},
		{"refused, without echo", "join A range=x member=stranger -id", "A: UNKNOWN_MEMBER_ID id=-", joinError(25, func(r *kmsg.JoinGroupResponse) { r.MemberID = "" })},
		{"refused, old version", "join A range=x member=stranger v=5", "A: UNKNOWN_MEMBER_ID", joinError(25, plain)},
		{"refused with what a refusal must not carry", "join A range=x member=stranger", `A: ILLEGAL_GENERATION gen=3 leader=? protocol=range type=consumer members=[stranger:""]`, joinError(22, func(r *kmsg.JoinGroupResponse) {
			r.Generation, r.LeaderID, r.Protocol, r.ProtocolType = 3, "who", str("range"), str("consumer")
			m := kmsg.NewJoinGroupResponseMember()
			m.MemberID = strangerID
			r.Members = append(r.Members, m)
		})},
		{"empty where null is due", "join A range=x member=stranger", `A: ILLEGAL_GENERATION protocol=""`, joinError(22, func(r *kmsg.JoinGroupResponse) { r.Protocol = str("") })},
		{"no fresh id", "join A range=x", "A: MEMBER_ID_REQUIRED id=-", joinError(79, plain)},
		{"unknown code", "join A range=x", "A: ERROR_999", joinError(999, plain)},
		{"foreign id in a success", "join A range=x member=stranger", "A: NONE id=? gen=1 leader=? protocol=range members=[?:x]", func(kmsg.Request) kmsg.Response {
			return generation(1, "new", "new", "new")
		}},
		{"another type and a skipped assignment", "join A range=x v=9", "A: NONE gen=1 leader=A type=connect protocol=null members=[A:x] skip-assignment", func(kmsg.Request) kmsg.Response {
			r := generation(1, "A-id", "A-id", "A-id")
			r.ProtocolType, r.Protocol, r.SkipAssignment = str("connect"), nil, true
			return r
		}},
		{"bytes", `sync A stranger="a b" member=stranger type=consumer protocol=range`, `A: NONE "a b"`, syncAnswer(0, "a b", str("consumer"), str("range"))},
		{"no bytes", "sync A member=stranger", `A: NONE "" type=null protocol=other`, syncAnswer(0, "", nil, str("other"))},
		{"a refusal with bytes", "sync A member=stranger", "A: REBALANCE_IN_PROGRESS left", syncAnswer(27, "left", nil, nil)},
		{"a refusal with names", "sync A member=stranger", "A: REBALANCE_IN_PROGRESS type=consumer protocol=range", syncAnswer(27, "", str("consumer"), str("range"))},
		{"heartbeat", "heartbeat A member=stranger", "A: ILLEGAL_GENERATION", func(kmsg.Request) kmsg.Response {
			r := kmsg.NewPtrHeartbeatResponse()
			r.ErrorCode = 22
			return r
		}},
		{"leave", "leave A member=stranger", "A: NONE [stranger:UNKNOWN_MEMBER_ID]", leaveAnswer(0, 25)},
		{"leave, old version", "leave A member=stranger v=1", "A: UNKNOWN_MEMBER_ID", leaveAnswer(25)},
		{"leave, top level", "leave A member=stranger", "A: INVALID_GROUP_ID", leaveAnswer(24)},
		{"batch", "leave-batch stranger none stranger", "-: NONE [stranger:NONE -:UNKNOWN_MEMBER_ID stranger:UNKNOWN_MEMBER_ID]", leaveAnswer(0, 0, 25, 25)},
		{"empty batch", "leave-batch", "-: NONE []", leaveAnswer(0)},
		{"commit", "commit - t/1=5 t/0=6:note nosuch/0=7", "-: nosuch/0:UNKNOWN_TOPIC_OR_PARTITION t/0:NONE t/1:NONE", commitAnswer},
		{"fetch", "fetch - t/0 t/1", `-: NONE t/0=5:"a b" t/1=none`, fetchAnswer(0, fetchedPartition{0, 5, str("a b"), 0}, fetchedPartition{1, -1, str(""), 0})},
		{"fetch, old version", "fetch - t/0 v=5", "-: NONE t/0=5", fetchAnswer(0, fetchedPartition{0, 5, str(""), 0})},
		{"fetch, partition error", "fetch - t/0 t/1", "-: NONE t/0=UNSTABLE_OFFSET_COMMIT t/1=UNSTABLE_OFFSET_COMMIT:3", fetchAnswer(0, fetchedPartition{0, -1, str(""), 88}, fetchedPartition{1, 3, str(""), 88})},
		{"fetch, null note", "fetch - t/0", "-: NONE t/0=-1:null", fetchAnswer(0, fetchedPartition{0, -1, nil, 0})},
		{"fetch, group error", "fetch - -all", "-: NOT_COORDINATOR", fetchAnswer(16)},
		{"describe", "describe", "describe: Stable type=consumer protocol=range members=[?:x->t/0]", describeAnswer("Stable", "consumer", "range")},
		{"describe a type of odd characters", "describe", `describe: Empty type="a\x7cb"`, describeAnswer("Empty", "a|b", "")},
		{"delete", "delete group other", "delete: [group:NON_EMPTY_GROUP other:NON_EMPTY_GROUP]", func(req kmsg.Request) kmsg.Response {
			r := kmsg.NewPtrDeleteGroupsResponse()
			for _, g := range req.(*kmsg.DeleteGroupsRequest).Groups {
				d := kmsg.NewDeleteGroupsResponseGroup()
				d.Group, d.ErrorCode = g, 68
				r.Groups = append(r.Groups, d)
			}
			return r
		}},
		{"find", "find-coordinator v=3", "find-coordinator: NONE no-node", func(kmsg.Request) kmsg.Response {
			r := kmsg.NewPtrFindCoordinatorResponse()
			r.NodeID, r.Host, r.Port = -1, "h", 1
			return r
		}},
		{"find several", "find-coordinator group other", "find-coordinator: [group:NONE other:COORDINATOR_NOT_AVAILABLE(a-node)]", func(req kmsg.Request) kmsg.Response {
			r := kmsg.NewPtrFindCoordinatorResponse()
			for i, k := range req.(*kmsg.FindCoordinatorRequest).CoordinatorKeys {
				c := kmsg.NewFindCoordinatorResponseCoordinator()
				c.Key, c.NodeID, c.Host, c.Port, c.ErrorCode = k, 1, "h", 1, int16(15*i)
				r.Coordinators = append(r.Coordinators, c)
			}
			return r
		}},
		{"list", "list", "list: NONE [group:consumer/Stable/classic]", listAnswer},
		{"list, old version", "list v=3", "list: NONE [group:consumer]", listAnswer},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verb, _, _ := strings.Cut(c.command, " ")
			verb = strings.TrimSuffix(verb, "-batch")
			got := lineOf(t, verb, c.command, c.answer)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if line := "roles A B from A B\n" + c.command + "\n----\n" + got + "\n"; judged(t, answering(verb, c.answer), line).Status != Pass {
				t.Errorf("the line does not match itself: %s", got)
			}
		})
	}
}

// answering is a fake that answers one kind of request in one way.
func answering(verb string, answer func(kmsg.Request) kmsg.Response) *fake {
	h := house{state: "Dead"}
	h.special = func(f *fake, x *exchange) bool {
		if x.req.Key() != int16(apis[verb].key) {
			return false
		}
		f.answer(x, answer(x.req), 0)
		return true
	}
	return newFake(h.serve)
}

func lineOf(t *testing.T, verb, command string, answer func(kmsg.Request) kmsg.Response) string {
	t.Helper()
	// roles makes the actors known without a request.
	got := gives(t, answering(verb, answer), "roles A B from A B\n"+command+"\n----\nnothing\n")
	if len(got) != 1 {
		t.Fatalf("%d lines: %q", len(got), got)
	}
	return got[0]
}

func syncAnswer(code int16, bytes string, typ, protocol *string) func(kmsg.Request) kmsg.Response {
	return func(kmsg.Request) kmsg.Response {
		r := kmsg.NewPtrSyncGroupResponse()
		r.ErrorCode, r.MemberAssignment, r.ProtocolType, r.Protocol = code, []byte(bytes), typ, protocol
		return r
	}
}

func leaveAnswer(top int16, entries ...int16) func(kmsg.Request) kmsg.Response {
	return func(req kmsg.Request) kmsg.Response {
		r := kmsg.NewPtrLeaveGroupResponse()
		r.ErrorCode = top
		for i, code := range entries {
			m := kmsg.NewLeaveGroupResponseMember()
			m.MemberID, m.ErrorCode = req.(*kmsg.LeaveGroupRequest).Members[i].MemberID, code
			r.Members = append(r.Members, m)
		}
		return r
	}
}

func commitAnswer(req kmsg.Request) kmsg.Response {
	r := kmsg.NewPtrOffsetCommitResponse()
	for _, t := range req.(*kmsg.OffsetCommitRequest).Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition = p.Partition
			if t.Topic != "topic-1" {
				rp.ErrorCode = 3
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		r.Topics = append(r.Topics, rt)
	}
	return r
}

type fetchedPartition struct {
	number int32
	offset int64
	note   *string
	code   int16
}

func fetchAnswer(code int16, partitions ...fetchedPartition) func(kmsg.Request) kmsg.Response {
	return func(req kmsg.Request) kmsg.Response {
		r := kmsg.NewPtrOffsetFetchResponse()
		r.ErrorCode = code
		g := kmsg.NewOffsetFetchResponseGroup()
		g.ErrorCode = code
		old, fresh := kmsg.NewOffsetFetchResponseTopic(), kmsg.NewOffsetFetchResponseGroupTopic()
		old.Topic, fresh.Topic = "topic-1", "topic-1"
		for _, p := range partitions {
			a, b := kmsg.NewOffsetFetchResponseTopicPartition(), kmsg.NewOffsetFetchResponseGroupTopicPartition()
			a.Partition, a.Offset, a.Metadata, a.ErrorCode = p.number, p.offset, p.note, p.code
			b.Partition, b.Offset, b.Metadata, b.ErrorCode = p.number, p.offset, p.note, p.code
			old.Partitions, fresh.Partitions = append(old.Partitions, a), append(fresh.Partitions, b)
		}
		if req.GetVersion() >= 8 {
			g.Topics = append(g.Topics, fresh)
			r.Groups = append(r.Groups, g)
		} else {
			r.Topics = append(r.Topics, old)
		}
		return r
	}
}

func describeAnswer(state, typ, protocol string) func(kmsg.Request) kmsg.Response {
	return func(req kmsg.Request) kmsg.Response {
		r := kmsg.NewPtrDescribeGroupsResponse()
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.State, g.ProtocolType, g.Protocol = req.(*kmsg.DescribeGroupsRequest).Groups[0], state, typ, protocol
		if state == "Stable" {
			m := kmsg.NewDescribeGroupsResponseGroupMember()
			m.MemberID, m.ProtocolMetadata, m.MemberAssignment = "x", []byte("x"), []byte("t/0")
			g.Members = append(g.Members, m)
		}
		r.Groups = append(r.Groups, g)
		return r
	}
}

func listAnswer(kmsg.Request) kmsg.Response {
	r := kmsg.NewPtrListGroupsResponse()
	for i := range serial.Load() + 1 {
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.ProtocolType, g.GroupState, g.GroupType = fmt.Sprintf("run-test-%d", i), "consumer", "Stable", "classic"
		r.Groups = append(r.Groups, g)
	}
	return r
}
