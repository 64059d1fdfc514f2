package linearize

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// mutation changes one answer into one that the specification would not have given, mostly. It says whether it could.
type mutation struct {
	name  string
	floor float64 // the share that must be caught; measured, then rounded down
	apply func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool

	silent bool // changes calls without an answer, as Kafka leaves superseded requests
}

var mutations = []mutation{
	{name: "heartbeat error swapped", floor: 0.85, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		hb, ok := resp.(*kmsg.HeartbeatResponse)
		if ok {
			hb.ErrorCode = other(r, hb.ErrorCode)
		}
		return ok
	}},
	{name: "commit error swapped", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		oc, ok := resp.(*kmsg.OffsetCommitResponse)
		if ok {
			code := other(r, oc.Topics[0].Partitions[0].ErrorCode)
			for i := range oc.Topics[0].Partitions {
				oc.Topics[0].Partitions[i].ErrorCode = code
			}
		}
		return ok
	}},
	{name: "join generation off by one", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || j.ErrorCode != 0 {
			return false
		}
		j.Generation += int32(1 - 2*r.IntN(2))
		return true
	}},
	{name: "another leader", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || j.ErrorCode != 0 || j.LeaderID == j.MemberID {
			return false
		}
		j.LeaderID = j.MemberID // two members lead
		return true
	}},
	{name: "member dropped", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || len(j.Members) < 2 {
			return false
		}
		j.Members = slices.Delete(j.Members, len(j.Members)-1, len(j.Members))
		return true
	}},
	{name: "join success for an error", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		j, ok := resp.(*kmsg.JoinGroupResponse)
		if !ok || j.ErrorCode == 0 || j.ErrorCode == 79 {
			return false
		}
		j.ErrorCode = other(r, j.ErrorCode)
		return true
	}},
	{name: "another assignment", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		s, ok := resp.(*kmsg.SyncGroupResponse)
		if !ok || s.ErrorCode != 0 {
			return false
		}
		s.MemberAssignment = append(s.MemberAssignment, '!')
		return true
	}},
	{name: "older offset", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
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
	{name: "described member dropped", floor: 0.8, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		d, ok := resp.(*kmsg.DescribeGroupsResponse)
		if !ok || len(d.Groups[0].Members) == 0 {
			return false
		}
		d.Groups[0].Members = d.Groups[0].Members[1:]
		return true
	}},
	{name: "never answered", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		c.Outcome, c.Response, c.Return = history.GivenUp, nil, c.Call+int64(4*time.Second)
		return true
	}},
	{name: "answered though superseded", floor: 0.8, silent: true, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, _ kmsg.Response) bool {
		c.Outcome = history.Answered
		switch m := req.(type) {
		case *kmsg.JoinGroupRequest:
			resp := refusedJoin(27, m.MemberID)
			if c.Version >= 7 {
				resp.Protocol = nil
			}
			c.Response = history.EncodeResponse(resp, c.Version)
		case *kmsg.SyncGroupRequest:
			resp := kmsg.NewPtrSyncGroupResponse()
			resp.ErrorCode = 27
			c.Response = history.EncodeResponse(resp, c.Version)
		default:
			return false
		}
		return true
	}},
	{name: "never answered join", floor: 0.9, apply: func(r *rand.Rand, c *history.Call, req kmsg.Request, resp kmsg.Response) bool {
		if join, ok := req.(*kmsg.JoinGroupRequest); !ok || join.MemberID == "" { // else the client goes on with an id that it cannot know
			return false
		}
		c.Outcome, c.Response, c.Return = history.GivenUp, nil, c.Call+int64(4*time.Second)
		return true
	}},
}

// other is another of the errors that members are answered.
func other(r *rand.Rand, code int16) int16 {
	for {
		if c := []int16{0, 22, 25, 27}[r.IntN(4)]; c != code {
			return c
		}
	}
}

// mutate changes one call of the history, or returns nil where none can be.
func mutate(t *testing.T, r *rand.Rand, h *history.History, m mutation) *history.History {
	t.Helper()
	for range 400 {
		i := r.IntN(len(h.Calls))
		c := h.Calls[i]
		if m.silent != (c.Outcome == history.GivenUp) || !m.silent && c.Outcome != history.Answered {
			continue
		}
		req, err := c.DecodeRequest()
		if err != nil {
			t.Fatal(err)
		}
		var resp kmsg.Response
		if !m.silent {
			if resp, err = c.DecodeResponse(); err != nil {
				t.Fatal(err)
			}
		}
		if !m.apply(r, &c, req, resp) {
			continue
		}
		if resp != nil && c.Outcome == history.Answered {
			c.Response = history.EncodeResponse(resp, c.Version)
		}
		mutated := &history.History{Header: h.Header, Calls: slices.Clone(h.Calls), Faults: h.Faults}
		mutated.Calls[i] = c
		return mutated
	}
	return nil
}

// TestMutatedHistoriesAreIllegal shows that the judge is not too loose: one wrong answer in a legal history is noticed, mostly.
func TestMutatedHistoriesAreIllegal(t *testing.T) {
	t.Parallel()
	runs := 40
	if testing.Short() {
		runs = 30
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			var tried, caught, unknown int
			began := time.Now()
			for seed := range uint64(runs) {
				o := simOptions{seed: 10_000 + seed, groups: 2, clients: 6, calls: 120, static: seed%2 == 0, restarts: seed%4 == 3}
				if m.silent {
					o.profile = "java" // which drops superseded requests
				}
				h := simulate(t, o)
				mutated := mutate(t, r, h, m)
				if mutated == nil {
					continue
				}
				v, err := Check(t.Context(), mutated, Limits{Timeout: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				tried++
				switch v.Result {
				case Illegal:
					caught++
				case Unknown:
					unknown++
				}
			}
			t.Logf("%d of %d caught, %d unknown, in %v", caught, tried, unknown, time.Since(began).Round(time.Millisecond))
			if tried < runs/4 {
				t.Errorf("only %d of %d histories could be changed", tried, runs)
			}
			if float64(caught) < m.floor*float64(tried) {
				t.Errorf("caught %d of %d, below the floor of %.2f", caught, tried, m.floor)
			}
		})
	}
}
