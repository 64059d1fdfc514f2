package linearize

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestAnswersTellApart holds that answers which differ in null and empty are printed differently.
func TestAnswersTellApart(t *testing.T) {
	empty, some := "", "x"
	texts := map[string]bool{}
	for _, s := range []*string{nil, &empty, &some} {
		p := kmsg.NewOffsetFetchResponseTopicPartition()
		p.Offset, p.Metadata = -1, s
		fetched := kmsg.NewPtrOffsetFetchResponse()
		fetched.Topics = []kmsg.OffsetFetchResponseTopic{{Topic: "t", Partitions: []kmsg.OffsetFetchResponseTopicPartition{p}}}
		grouped := kmsg.NewPtrOffsetFetchResponse()
		grouped.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "g", Topics: []kmsg.OffsetFetchResponseGroupTopic{{Topic: "t", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{{Offset: -1, Metadata: s}}}}}}
		joined, refused := kmsg.NewPtrJoinGroupResponse(), kmsg.NewPtrJoinGroupResponse()
		joined.Version, joined.Protocol = 9, s
		refused.Version, refused.Protocol, refused.ErrorCode = 9, s, 25
		for _, resp := range []kmsg.Response{fetched, grouped, joined, refused} {
			if text := answerText(resp); texts[text] {
				t.Errorf("%q is said of two answers", text)
			} else {
				texts[text] = true
			}
		}
	}
}

// TestGhostIsTold holds that the mark of an id that nobody has seen is shown to nobody.
func TestGhostIsTold(t *testing.T) {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID = "\x00ghost:21"
	if got := answerText(resp); strings.Contains(got, "\x00") || strings.Contains(got, "ghost") || !strings.Contains(got, "member=an id that nobody has seen") {
		t.Errorf("%q", got)
	}
}

// TestAlikeIsNotRepeated holds that what must be and what was are not printed where they read alike: the reason says what differs.
func TestAlikeIsNotRepeated(t *testing.T) {
	beat := kmsg.NewPtrHeartbeatRequest()
	was, must := kmsg.NewPtrHeartbeatResponse(), kmsg.NewPtrHeartbeatResponse()
	r := refusal{call: &call{id: 1, message: beat, actual: was}, predicted: must, reason: "a field: expected 1, got 2"}
	r.call.outcome = "answered"
	if got := r.String(); strings.Contains(got, "must be") || !strings.Contains(got, r.reason) {
		t.Errorf("%q", got)
	}
	must.ErrorCode = 25
	if got := r.String(); !strings.Contains(got, "must be: UNKNOWN_MEMBER_ID\n  was:     NONE") {
		t.Errorf("%q", got)
	}
}
