package consumers

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/ownership"
)

// Result is what has happened. All has ended by then.
func (r *Runner) Result() *Result {
	h, err := r.group.recorded()
	log := r.group.log(h)
	result := &Result{Log: log, History: h, Happened: happened(log), Held: r.group.held}
	if err != nil {
		result.History = nil // calls are missing in it
	}
	return result
}

// recorded is what was said on connections. The error says that one of them could not be read.
func (g *group) recorded() (*history.History, error) {
	h, err := g.tap.History(history.Header{Target: g.plan.Target, Seed: g.plan.Seed, Groups: []string{g.plan.Group}, Topics: maps.Clone(g.topics)})
	g.excuse(h)
	return h, err
}

func (g *group) history() *history.History {
	h, _ := g.recorded()
	return h
}

// log puts together what consumers were told and what they said.
func (g *group) log(h *history.History) *ownership.Log {
	g.mu.Lock()
	told := slices.Clone(g.events)
	g.mu.Unlock()
	l := &ownership.Log{
		Header: ownership.Header{Format: ownership.Format, Target: g.plan.Target, Seed: g.plan.Seed, Group: g.plan.Group, Session: g.plan.Session, Calm: g.calm()},
		Events: append(told, Events(h)...),
	}
	l.Sort()
	return l
}

// excuse notes that calls were open while their client stood still or was killed, or while the target was, or were sent on a connection of a former life of the target's: that
// they have no answer says nothing about the target then.
func (g *group) excuse(h *history.History) {
	g.mu.Lock()
	defer g.mu.Unlock()
	opened := map[int64]int64{} // when connections had been
	for i := range h.Calls {
		c := &h.Calls[i]
		if at, known := opened[c.Conn]; !known || c.Call < at {
			opened[c.Conn] = c.Call
		}
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		if !c.Outcome.Unknown() {
			continue
		}
		for _, s := range g.blind {
			if s.client == c.Client && (s.everything || s.from <= c.Return && s.to >= c.Call) {
				c.Outcome = history.Lost
			}
		}
		for _, f := range h.Faults {
			if f.Restarts() && f.At <= c.Return && f.End() >= opened[c.Conn] {
				c.Outcome = history.Lost
			}
		}
	}
}

// Events are those events of ownership that the calls of a history of one group tell.
func Events(h *history.History) (all []ownership.Event) {
	for i := range h.Faults {
		if f := &h.Faults[i]; f.Restarts() {
			all = append(all, ownership.Event{Kind: ownership.Restart, Began: f.At, At: f.End()})
		}
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		req, err := c.DecodeRequest()
		if err != nil {
			continue
		}
		if sync, ok := req.(*kmsg.SyncGroupRequest); ok && len(sync.GroupAssignment) > 0 {
			all = append(all, planned(c, sync))
		}
		if c.Outcome != history.Answered {
			continue
		}
		resp, err := c.DecodeResponse()
		if err != nil {
			continue
		}
		for _, e := range told(req, resp) {
			e.Client, e.Began, e.At = c.Client, c.Call, c.Return
			all = append(all, e)
		}
	}
	return all
}

// planned is what a leader sends. It counts from when it is sent.
func planned(c *history.Call, req *kmsg.SyncGroupRequest) ownership.Event {
	e := ownership.Event{Kind: ownership.Planned, At: c.Call, Client: c.Client, Member: req.MemberID, Generation: req.Generation, Plan: map[string][]ownership.Partition{}}
	for _, a := range req.GroupAssignment {
		if some, ok := assignment(a.MemberAssignment); ok {
			e.Plan[a.MemberID] = some
		}
	}
	return e
}

func assignment(bytes []byte) ([]ownership.Partition, bool) {
	var a kmsg.ConsumerMemberAssignment
	if len(bytes) == 0 {
		return nil, true
	}
	if a.ReadFrom(bytes) != nil {
		return nil, false
	}
	some := map[string][]int32{}
	for _, t := range a.Topics {
		some[t.Topic] = append(some[t.Topic], t.Partitions...)
	}
	return ownership.Partitions(some), true
}

// told are the events that an answer tells.
func told(req kmsg.Request, resp kmsg.Response) []ownership.Event {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		if resp.ErrorCode == 0 {
			return []ownership.Event{joined(req.(*kmsg.JoinGroupRequest), resp)}
		}
	case *kmsg.SyncGroupResponse:
		r := req.(*kmsg.SyncGroupRequest)
		if some, ok := assignment(resp.MemberAssignment); ok && resp.ErrorCode == 0 {
			return []ownership.Event{{Kind: ownership.Synced, Member: r.MemberID, Generation: r.Generation, Partitions: some}}
		}
	case *kmsg.HeartbeatResponse:
		if r := req.(*kmsg.HeartbeatRequest); resp.ErrorCode == 0 {
			return []ownership.Event{{Kind: ownership.Beat, Member: r.MemberID, Generation: r.Generation}}
		}
	case *kmsg.OffsetCommitResponse:
		r := req.(*kmsg.OffsetCommitRequest)
		some := map[string][]int32{}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					some[t.Topic] = append(some[t.Topic], p.Partition)
				}
			}
		}
		if len(some) > 0 && r.MemberID != "" {
			return []ownership.Event{{Kind: ownership.Commit, Member: r.MemberID, Generation: r.Generation, Partitions: ownership.Partitions(some)}}
		}
	case *kmsg.LeaveGroupResponse:
		return left(req.(*kmsg.LeaveGroupRequest), resp)
	}
	return nil
}

func joined(req *kmsg.JoinGroupRequest, resp *kmsg.JoinGroupResponse) ownership.Event {
	e := ownership.Event{Kind: ownership.Joined, Member: resp.MemberID, Generation: resp.Generation, Leader: resp.LeaderID}
	if req.InstanceID != nil {
		e.Instance = *req.InstanceID
	}
	if resp.Protocol != nil {
		e.Protocol = *resp.Protocol
	}
	e.Cooperative = e.Protocol == kgo.CooperativeStickyBalancer().ProtocolName()
	for _, p := range req.Protocols {
		var meta kmsg.ConsumerMemberMetadata
		if p.Name != e.Protocol || meta.ReadFrom(p.Metadata) != nil {
			continue
		}
		e.Topics = meta.Topics
		owned := map[string][]int32{}
		for _, t := range meta.OwnedPartitions {
			owned[t.Topic] = append(owned[t.Topic], t.Partitions...)
		}
		e.Owned = ownership.Partitions(owned)
	}
	for _, m := range resp.Members {
		e.Members = append(e.Members, m.MemberID)
	}
	return e
}

func left(req *kmsg.LeaveGroupRequest, resp *kmsg.LeaveGroupResponse) (all []ownership.Event) {
	if resp.ErrorCode != 0 {
		return nil
	}
	if req.Version < 3 {
		return []ownership.Event{{Kind: ownership.Left, Member: req.MemberID}}
	}
	for _, m := range resp.Members {
		if m.ErrorCode == 0 && m.MemberID != "" {
			all = append(all, ownership.Event{Kind: ownership.Left, Member: m.MemberID})
		}
	}
	return all
}
