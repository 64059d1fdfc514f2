package linearize

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// TestToldOfAnotherReplacement changes a history of 4.3.1 in which the answer to a leader's replacement tells of another replacement, which was asked for while it was open. It is
// right there only, and only so.
func TestToldOfAnotherReplacement(t *testing.T) {
	const leader, other = 11, 12 // indexes of the two calls
	told := func(h *history.History, change func(*kmsg.JoinGroupResponse)) {
		resp, err := h.Calls[leader].DecodeResponse()
		if err != nil {
			t.Fatal(err)
		}
		change(resp.(*kmsg.JoinGroupResponse))
		h.Calls[leader].Response = history.EncodeResponse(resp, h.Calls[leader].Version)
	}
	for _, test := range []struct {
		name   string
		change func(*history.History)
		want   Result
	}{
		{"as it was", func(*history.History) {}, Legal},
		{"under the contract", func(h *history.History) { h.Header.Profile = "reference" }, Illegal},
		{"before the other one began", func(h *history.History) {
			h.Calls[other].Call, h.Calls[other].Return = h.Calls[leader].Return+1, h.Calls[leader].Return+2
		}, Illegal},
		{"without the other one", func(h *history.History) {
			told(h, func(r *kmsg.JoinGroupResponse) { r.Members = append(r.Members[:1], r.Members[2:]...) })
		}, Illegal},
		{"with other metadata of the other one", func(h *history.History) {
			told(h, func(r *kmsg.JoinGroupResponse) { r.Members[1].ProtocolMetadata = []byte("y") })
		}, Illegal},
		{"with the other one for a leader", func(h *history.History) {
			told(h, func(r *kmsg.JoinGroupResponse) { r.LeaderID = r.Members[1].MemberID })
		}, Illegal},
		{"as one that has to assign", func(h *history.History) {
			told(h, func(r *kmsg.JoinGroupResponse) { r.SkipAssignment = false })
		}, Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, _, err := history.ReadFile(t.Context(), filepath.Join("testdata/kafka", "4.3.1-told-of-another-replacement.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			test.change(h)
			v, err := Check(t.Context(), h, Limits{Timeout: 10 * time.Second})
			if err != nil || v.Result != test.want {
				t.Errorf("%v %s (%v), want %v", v.Result, v.Reason, err, test.want)
			}
		})
	}
}
