package linearize

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
)

// describe says an operation in one line, for people.
func (o *operation) describe() string {
	switch o.stage {
	case restart:
		return o.String()
	case followUp:
		return fmt.Sprintf("#%d %s answer of %s: %s", o.call.id, o.call.client, kmsg.NameForKey(o.call.message.Key()), answerText(o.call.actual))
	case silent:
		return fmt.Sprintf("#%d %s silence about %s", o.call.id, o.call.client, kmsg.NameForKey(o.call.message.Key()))
	}
	return fmt.Sprintf("#%d %s %s -> %s", o.call.id, o.call.client, requestText(o.call.message, o.call.version), o.call.endText())
}

func (c *call) endText() string {
	switch c.outcome {
	case history.Answered:
		return answerText(c.actual)
	case history.GivenUp:
		return "no answer, given up"
	case history.Closed:
		return "the target closed the connection"
	case history.Lost:
		return "no answer, which was kept away on purpose"
	default:
		return "end not recorded"
	}
}

func (s *state) describe() string {
	lines := make([]string, len(s.explanations))
	for i := range s.explanations {
		lines[i] = s.explanations[i].branch.String()
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func errorText(code int16) string {
	if err := kerr.TypedErrorForCode(code); err != nil {
		return err.Message
	}
	if code == 0 {
		return "NONE"
	}
	return fmt.Sprintf("error %d", code)
}

// text collects words, leaving out what is empty.
type text []string

func (t *text) add(format string, args ...any) { *t = append(*t, fmt.Sprintf(format, args...)) }
func (t *text) opt(name, value string) {
	if value != "" {
		t.add("%s=%s", name, value)
	}
}

func (t *text) instance(id *string) {
	if id != nil {
		t.add("instance=%s", *id)
	}
}

// nullable tells null from what is empty.
func (t *text) nullable(name string, value *string) {
	switch {
	case value == nil:
		t.add("%s=null", name)
	case *value == "":
		t.add(`%s=""`, name)
	default:
		t.add("%s=%s", name, *value)
	}
}

func (t text) String() string { return strings.Join(t, " ") }

func requestText(req kmsg.Request, version int16) string {
	t := text{kmsg.NameForKey(req.Key()), fmt.Sprintf("v%d", version)}
	switch r := req.(type) {
	case *kmsg.JoinGroupRequest:
		t.opt("member", short(r.MemberID))
		t.instance(r.InstanceID)
		for _, p := range r.Protocols {
			t.add("%s=%q", p.Name, p.Metadata)
		}
		t.add("session=%v", time.Duration(r.SessionTimeoutMillis)*time.Millisecond)
		t.add("rebalance=%v", time.Duration(r.RebalanceTimeoutMillis)*time.Millisecond)
	case *kmsg.SyncGroupRequest:
		t.add("member=%s gen=%d", short(r.MemberID), r.Generation)
		for _, a := range r.GroupAssignment {
			t.add("%s=%q", short(a.MemberID), a.MemberAssignment)
		}
	case *kmsg.HeartbeatRequest:
		t.add("member=%s gen=%d", short(r.MemberID), r.Generation)
	case *kmsg.LeaveGroupRequest:
		t.opt("member", short(r.MemberID))
		for _, m := range r.Members {
			t.opt("member", short(m.MemberID))
			t.instance(m.InstanceID)
		}
	case *kmsg.OffsetCommitRequest:
		t.add("member=%s gen=%d", short(r.MemberID), r.Generation)
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				t.add("%s/%d=%d", topic.Topic, p.Partition, p.Offset)
			}
		}
	case *kmsg.OffsetDeleteRequest:
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				t.add("%s/%d", topic.Topic, p.Partition)
			}
		}
	}
	return t.String()
}

func answerText(resp kmsg.Response) string {
	var t text
	switch r := resp.(type) {
	case nil:
		return "no answer"
	case *kmsg.JoinGroupResponse:
		t.add("%s", errorText(r.ErrorCode))
		t.opt("member", short(r.MemberID))
		if r.ErrorCode != 0 && r.Protocol != nil && r.Version >= 7 { // a refusal has none
			t.nullable("protocol", r.Protocol)
		}
		if r.ErrorCode == 0 {
			t.add("gen=%d leader=%s", r.Generation, short(r.LeaderID))
			t.nullable("protocol", r.Protocol)
			for _, m := range r.Members {
				t.add("%s:%q", short(m.MemberID), m.ProtocolMetadata)
			}
		}
	case *kmsg.SyncGroupResponse:
		t.add("%s", errorText(r.ErrorCode))
		if r.ErrorCode == 0 {
			t.add("%q", r.MemberAssignment)
		}
	case *kmsg.HeartbeatResponse:
		t.add("%s", errorText(r.ErrorCode))
	case *kmsg.LeaveGroupResponse:
		t.add("%s", errorText(r.ErrorCode))
		for _, m := range r.Members {
			t.add("%s:%s", short(m.MemberID), errorText(m.ErrorCode))
		}
	case *kmsg.OffsetCommitResponse:
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				t.add("%s/%d:%s", topic.Topic, p.Partition, errorText(p.ErrorCode))
			}
		}
	case *kmsg.OffsetFetchResponse:
		topics := r.Topics
		offsets := func(topic string, partition int32, offset int64, metadata *string, code int16) {
			t.add("%s/%d=%d", topic, partition, offset)
			switch {
			case metadata == nil:
				t.add("metadata=null")
			case *metadata != "":
				t.add("metadata=%q", *metadata)
			}
			if code != 0 {
				t.add("(%s)", errorText(code))
			}
		}
		for _, topic := range topics {
			for _, p := range topic.Partitions {
				offsets(topic.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode)
			}
		}
		for _, g := range r.Groups {
			t.add("%s", errorText(g.ErrorCode))
			for _, topic := range g.Topics {
				for _, p := range topic.Partitions {
					offsets(topic.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode)
				}
			}
		}
	case *kmsg.DescribeGroupsResponse:
		for _, g := range r.Groups {
			t.add("%s %s", errorText(g.ErrorCode), g.State)
			t.opt("protocol", g.Protocol)
			for _, m := range g.Members {
				t.add("%s:%q", short(m.MemberID), m.MemberAssignment)
			}
		}
	case *kmsg.OffsetDeleteResponse:
		t.add("%s", errorText(r.ErrorCode))
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				t.add("%s/%d:%s", topic.Topic, p.Partition, errorText(p.ErrorCode))
			}
		}
	case *kmsg.ListGroupsResponse:
		t.add("%s", errorText(r.ErrorCode))
		for _, g := range r.Groups {
			t.add("%s:%s", g.Group, g.GroupState)
		}
	case *kmsg.DeleteGroupsResponse:
		for _, g := range r.Groups {
			t.add("%s", errorText(g.ErrorCode))
		}
	default:
		return fmt.Sprintf("%T", resp)
	}
	return t.String()
}

// short cuts the random part of a member id to what tells it from others.
func short(id string) string {
	id = observe.ShowID(id)
	if len(id) > 36+1 && id[len(id)-37] == '-' { // client id, dash, UUID
		return id[:len(id)-37] + "-" + id[len(id)-36:len(id)-28]
	}
	return id
}
