// Package spoil makes one answer of a recorded history wrong, in a way in which a coordinator may be wrong, to see whether a judge notices.
package spoil

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// Change makes one answer wrong.
type Change struct {
	Name string

	// Silent changes calls without an answer, as Kafka leaves superseded requests.
	Silent bool

	apply func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool
}

// Changes are all of them.
var Changes = []Change{
	{Name: "heartbeat error swapped", apply: func(r *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		hb, ok := resp.(*kmsg.HeartbeatResponse)
		if ok {
			hb.ErrorCode = other(r, hb.ErrorCode)
		}
		return ok
	}},
	{Name: "commit error swapped", apply: func(r *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		oc, ok := resp.(*kmsg.OffsetCommitResponse)
		if ok {
			code := other(r, oc.Topics[0].Partitions[0].ErrorCode)
			for i := range oc.Topics[0].Partitions {
				oc.Topics[0].Partitions[i].ErrorCode = code
			}
		}
		return ok
	}},
	{Name: "join generation off by one", apply: func(r *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || j.ErrorCode != 0 {
			return false
		}
		j.Generation += int32(1 - 2*r.IntN(2))
		return true
	}},
	{Name: "another leader", apply: func(_ *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || j.ErrorCode != 0 || j.LeaderID == j.MemberID {
			return false
		}
		j.LeaderID = j.MemberID // two members lead
		return true
	}},
	{Name: "member dropped", apply: func(_ *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || len(j.Members) < 2 {
			return false
		}
		j.Members = slices.Delete(j.Members, len(j.Members)-1, len(j.Members))
		return true
	}},
	{Name: "join success for an error", apply: func(r *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || j.ErrorCode == 0 || j.ErrorCode == 79 {
			return false
		}
		j.ErrorCode = other(r, j.ErrorCode)
		return true
	}},
	{Name: "another assignment", apply: func(_ *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		s, ok := resp.(*kmsg.SyncGroupResponse)
		if !ok || s.ErrorCode != 0 {
			return false
		}
		s.MemberAssignment = append(s.MemberAssignment, '!')
		return true
	}},
	{Name: "older offset", apply: func(_ *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		f, ok := resp.(*kmsg.OffsetFetchResponse)
		if !ok || len(f.Groups) == 0 || len(f.Groups[0].Topics) == 0 {
			return false
		}
		p := &f.Groups[0].Topics[0].Partitions[0]
		if p.Offset <= 0 {
			return false
		}
		p.Offset--
		return true
	}},
	{Name: "described member dropped", apply: func(_ *rand.Rand, _ *history.Call, _ kmsg.Request, resp kmsg.Response) bool {
		d, ok := resp.(*kmsg.DescribeGroupsResponse)
		if !ok || len(d.Groups[0].Members) == 0 {
			return false
		}
		d.Groups[0].Members = d.Groups[0].Members[1:]
		return true
	}},
	{Name: "never answered", apply: func(_ *rand.Rand, c *history.Call, _ kmsg.Request, _ kmsg.Response) bool {
		c.Outcome, c.Response, c.Return = history.GivenUp, nil, c.Call+int64(4*time.Second)
		return true
	}},
	{Name: "answered though superseded", Silent: true, apply: func(_ *rand.Rand, c *history.Call, req kmsg.Request, _ kmsg.Response) bool {
		switch m := req.(type) {
		case *kmsg.JoinGroupRequest:
			resp := kmsg.NewPtrJoinGroupResponse()
			resp.ErrorCode, resp.MemberID, resp.Generation = rebalanceInProgress, m.MemberID, -1
			if c.Version < 7 {
				resp.Protocol = new(string)
			}
			c.Response = history.EncodeResponse(resp, c.Version)
		case *kmsg.SyncGroupRequest:
			resp := kmsg.NewPtrSyncGroupResponse()
			resp.ErrorCode = rebalanceInProgress
			c.Response = history.EncodeResponse(resp, c.Version)
		default:
			return false
		}
		c.Outcome = history.Answered
		return true
	}},
	{Name: "never answered join", apply: func(_ *rand.Rand, c *history.Call, req kmsg.Request, _ kmsg.Response) bool {
		if join, ok := req.(*kmsg.JoinGroupRequest); !ok || join.MemberID == "" { // else the client goes on with an id that it cannot know
			return false
		}
		c.Outcome, c.Response, c.Return = history.GivenUp, nil, c.Call+int64(4*time.Second)
		return true
	}},
}

const rebalanceInProgress = 27

// other is another of the errors that members are answered.
func other(r *rand.Rand, code int16) int16 {
	for {
		if c := []int16{0, 22, 25, rebalanceInProgress}[r.IntN(4)]; c != code {
			return c
		}
	}
}

// History is the history with its call i changed, or nil where that call cannot be.
func (m Change) History(r *rand.Rand, h *history.History, i int) (*history.History, error) {
	c := h.Calls[i]
	if m.Silent != (c.Outcome == history.GivenUp) || !m.Silent && c.Outcome != history.Answered {
		return nil, nil
	}
	req, err := c.DecodeRequest()
	if err != nil {
		return nil, err
	}
	var resp kmsg.Response
	if !m.Silent {
		if resp, err = c.DecodeResponse(); err != nil {
			return nil, err
		}
	}
	if !m.apply(r, &c, req, resp) {
		return nil, nil
	}
	if resp != nil && c.Outcome == history.Answered {
		c.Response = history.EncodeResponse(resp, c.Version)
	}
	changed := &history.History{Header: h.Header, Calls: slices.Clone(h.Calls), Faults: h.Faults}
	changed.Calls[i] = c
	return changed, nil
}
