package core_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
	"github.com/muster-kafka/muster/impl/sim"
)

// rig is a coordinator on virtual time whose invariants are checked after each step.
type rig struct {
	testing.TB
	sim      *sim.Sim
	last     core.Ticket
	answers  map[core.Ticket]kmsg.Response
	rejects  map[core.Ticket]string
	appends  []core.Append
	reported []error
}

// The timeouts of rig members, unless a test says otherwise.
const (
	session   = 10 * time.Second
	rebalance = 30 * time.Second
)

func newRig(t testing.TB, change ...func(*core.Settings)) *rig {
	t.Helper()
	r := &rig{TB: t, answers: map[core.Ticket]kmsg.Response{}, rejects: map[core.Ticket]string{}}
	ids := 0
	s := core.Settings{
		Node:        core.Node{ID: 7, Host: "h", Port: 9},
		TopicExists: func(topic string, p int32) bool { return (topic == "t" || topic == "u") && p >= 0 && p < 2 },
		NewMemberID: func(clientID string) string { ids++; return fmt.Sprint(clientID, "-", ids) },
		Report:      func(err error) { r.reported = append(r.reported, err) },
	}
	for _, c := range change {
		c(&s)
	}
	r.sim = sim.New(1, s)
	t.Cleanup(func() {
		if len(r.reported) > 0 {
			t.Errorf("reported and not looked at: %v", r.reported)
		}
	})
	return r
}

// takeReports returns what has been reported, and that it was expected.
func (r *rig) takeReports() []error {
	reported := r.reported
	r.reported = nil
	return reported
}

func (r *rig) send(req kmsg.Request, version int16) core.Ticket {
	r.Helper()
	return r.sendAs("c", req, version)
}

func (r *rig) sendAs(client string, req kmsg.Request, version int16) core.Ticket {
	r.Helper()
	r.last++
	r.sim.Step(core.Request{Ticket: r.last, Message: req, Version: version, ClientID: client, ClientHost: "/10.0.0.1"})
	r.look()
	return r.last
}

// look takes in what has come out, and checks the coordinator.
func (r *rig) look() {
	r.Helper()
	out := r.sim.Drain()
	for _, a := range out.Answers {
		if r.answers[a.Ticket] != nil {
			r.Errorf("ticket %d answered twice", a.Ticket)
		}
		r.answers[a.Ticket] = a.Message
	}
	for _, x := range out.Rejects {
		r.rejects[x.Ticket] = x.Reason
	}
	r.appends = append(r.appends, out.Appends...)
	if err := r.sim.Core().CheckInvariants(); err != nil {
		r.Errorf("after ticket %d: %v", r.last, err)
	}
}

func (r *rig) advance(d time.Duration) {
	r.Helper()
	r.sim.Advance(d)
	r.look()
}

func (r *rig) parked(t core.Ticket) bool { return r.answers[t] == nil }

// answer is the answer to a ticket, which must have come.
func answer[T kmsg.Response](r *rig, t core.Ticket) T {
	r.Helper()
	resp, ok := r.answers[t].(T)
	if !ok {
		r.Fatalf("ticket %d: answer is %T (%v), not of the kind wanted", t, r.answers[t], r.rejects[t])
	}
	return resp
}

func (r *rig) wantParked(what string, tickets ...core.Ticket) {
	r.Helper()
	for _, t := range tickets {
		if !r.parked(t) {
			r.Errorf("%s: ticket %d answered %+v, want it parked", what, t, r.answers[t])
		}
	}
}

// joinReq is a JoinGroup of protocol type "consumer". A protocol "range" has metadata "range", "range=x" has "x".
func joinReq(group, member string, protocols ...string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(session.Milliseconds()), int32(rebalance.Milliseconds())
	if protocols == nil {
		protocols = []string{"range"}
	}
	for _, p := range protocols {
		name, metadata, given := strings.Cut(p, "=")
		if !given {
			metadata = name
		}
		req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: []byte(metadata)})
	}
	return req
}

// id gets a member id for the group.
func (r *rig) id(group string) string {
	r.Helper()
	resp := answer[*kmsg.JoinGroupResponse](r, r.send(joinReq(group, ""), 9))
	if resp.ErrorCode != core.MemberIDRequired {
		r.Fatalf("first JoinGroup: error %d, want MEMBER_ID_REQUIRED", resp.ErrorCode)
	}
	return resp.MemberID
}

func (r *rig) join(group, member string, protocols ...string) core.Ticket {
	r.Helper()
	return r.send(joinReq(group, member, protocols...), 9)
}

func (r *rig) joined(t core.Ticket) *kmsg.JoinGroupResponse {
	r.Helper()
	return answer[*kmsg.JoinGroupResponse](r, t)
}

// syncReq assigns bytes to members: "m=x" gives x to m.
func syncReq(group, member string, generation int32, assignments ...string) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for _, a := range assignments {
		m, bytes, _ := strings.Cut(a, "=")
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m, MemberAssignment: []byte(bytes)})
	}
	return req
}

func (r *rig) sync(group, member string, generation int32, assignments ...string) core.Ticket {
	r.Helper()
	return r.send(syncReq(group, member, generation, assignments...), 5)
}

func (r *rig) synced(t core.Ticket) *kmsg.SyncGroupResponse {
	r.Helper()
	return answer[*kmsg.SyncGroupResponse](r, t)
}

func (r *rig) beat(group, member string, generation int32) int16 {
	r.Helper()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	return answer[*kmsg.HeartbeatResponse](r, r.send(req, 4)).ErrorCode
}

func (r *rig) leave(group string, members ...string) *kmsg.LeaveGroupResponse {
	r.Helper()
	return answer[*kmsg.LeaveGroupResponse](r, r.send(leaveReq(group, members...), 5))
}

func leaveReq(group string, members ...string) *kmsg.LeaveGroupRequest {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = group
	for _, m := range members {
		req.Members = append(req.Members, kmsg.LeaveGroupRequestMember{MemberID: m})
	}
	return req
}

func commitReq(group, member string, generation int32, topic string, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset = offset
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	return req
}

func (r *rig) commit(group, member string, generation int32, offset int64) int16 {
	r.Helper()
	return r.committed(r.send(commitReq(group, member, generation, "t", offset), 9))
}

func (r *rig) committed(t core.Ticket) int16 {
	r.Helper()
	return answer[*kmsg.OffsetCommitResponse](r, t).Topics[0].Partitions[0].ErrorCode
}

// fetch returns the offset of t/0.
func (r *rig) fetch(group string) int64 {
	r.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}}}
	p := answer[*kmsg.OffsetFetchResponse](r, r.send(req, 9)).Groups[0].Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		r.Errorf("OffsetFetch: error %d", p.ErrorCode)
	}
	return p.Offset
}

func (r *rig) describe(group string) kmsg.DescribeGroupsResponseGroup {
	r.Helper()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	return answer[*kmsg.DescribeGroupsResponse](r, r.send(req, 6)).Groups[0]
}

func (r *rig) wantState(group, state string) {
	r.Helper()
	if got := r.describe(group).State; got != state {
		r.Errorf("group is %s, want %s", got, state)
	}
}

func (r *rig) remove(groups ...string) []kmsg.DeleteGroupsResponseGroup {
	r.Helper()
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = groups
	return answer[*kmsg.DeleteGroupsResponse](r, r.send(req, 2)).Groups
}

// generation brings n members into one generation and returns their ids, the leader first, and the generation.
func (r *rig) generation(group string, n int) ([]string, int32) {
	r.Helper()
	var ids []string
	for range n {
		ids = append(ids, r.id(group))
	}
	tickets := []core.Ticket{r.join(group, ids[0])}
	for _, id := range ids[1:] { // the first is answered at once if it is alone, else when all ids have joined
		tickets = append(tickets, r.join(group, id))
	}
	if n > 1 && !r.parked(tickets[0]) {
		tickets = append(tickets, r.join(group, ids[0]))
	}
	last := r.joined(tickets[len(tickets)-1])
	if last.ErrorCode != 0 || last.LeaderID != ids[0] {
		r.Fatalf("joining: %+v", last)
	}
	return ids, last.Generation
}

// stable is generation, with "a0", "a1", ... assigned.
func (r *rig) stable(group string, n int) ([]string, int32) {
	r.Helper()
	ids, gen := r.generation(group, n)
	var all []string
	for i, id := range ids {
		all = append(all, fmt.Sprint(id, "=a", i))
	}
	for i, id := range ids {
		if s := r.synced(r.sync(group, id, gen, all...)); s.ErrorCode != 0 || string(s.MemberAssignment) != fmt.Sprint("a", i) {
			r.Fatalf("SyncGroup: %+v", s)
		}
		all = nil
	}
	return ids, gen
}

// records spells what has been written since the last call: "group gen=1 n=2", "group gone", "t/0=5", "t/0 gone".
func (r *rig) records() (lines []string) {
	for _, w := range r.appends {
		for _, rec := range w.Records {
			switch rec.Kind {
			case core.GroupRecord:
				lines = append(lines, fmt.Sprintf("%s gen=%d n=%d", rec.Group, rec.Metadata.Generation, len(rec.Metadata.Members)))
			case core.GroupTombstone:
				lines = append(lines, rec.Group+" gone")
			case core.OffsetRecord:
				lines = append(lines, fmt.Sprintf("%s %s/%d=%d", rec.Group, rec.Topic, rec.Partition, rec.Offset.Offset))
			case core.OffsetTombstone:
				lines = append(lines, fmt.Sprintf("%s %s/%d gone", rec.Group, rec.Topic, rec.Partition))
			}
		}
	}
	r.appends = nil
	return lines
}

// logged decodes what is in the log.
func (r *rig) logged() (entries []record.Entry) {
	r.Helper()
	for _, stored := range r.sim.Log().Records() {
		e, err := record.Decode(stored.Key, stored.Value)
		if err != nil {
			r.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func (r *rig) timers() (names []string) {
	for _, a := range r.sim.Timers() {
		names = append(names, fmt.Sprint(a.Timer.Kind, " ", a.Timer.Member, " ", a.Deadline.Sub(r.sim.Now())))
	}
	return names
}
