package embedded

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
)

// Plays plays, step by step, what walks do not come to, or not in a way that they could judge, and returns what is not as it is in Kafka: mostly what coordinators do while a write is
// open. Walks on a slow log (Slow) only look at what becomes of it in the end; here it is judged who waits, who does not, and who is told which error. All of it is played a second
// time with heartbeats that go by core.Beat.
func Plays() error {
	for _, play := range plays {
		for _, beats := range []bool{false, true} {
			w := newPlayed(play.options)
			if beats {
				w.sim.Beat()
			}
			play.play(w)
			w.advance(10 * time.Minute) // and nothing is left of what is gone
			for _, err := range w.reported {
				var inconsistent *core.InconsistencyError
				if errors.As(err, &inconsistent) {
					w.blame("reports %v", err)
				}
			}
			if w.fault != nil {
				return fmt.Errorf("%s: %w", play.name, w.fault)
			}
		}
	}
	return nil
}

// play is one of them.
type play struct {
	name    string
	options Options
	play    func(w *played)
}

var plays = slices.Concat(waitingCommits, waitingGroups, waitingDeletions, waitingCleanups, oddRequests, unusualValues)

// played is a coordinator whose writes end when they are told to, from slow on.
type played struct {
	sim      *sim.Sim
	asked    core.Ticket
	answers  map[core.Ticket]kmsg.Response
	writes   []core.Append
	marked   []int16
	reported []error
	fault    error // the first
}

func newPlayed(o Options) *played {
	w := &played{answers: map[core.Ticket]kmsg.Response{}}
	o.OffsetsRetention = 10 * time.Second
	o.Report = func(err error) { w.reported = append(w.reported, err) }
	settings := o.settings()
	settings.TopicExists, settings.TopicName, settings.TopicID = playedTopic, machineTopicName, machineTopicID
	w.sim = sim.New(1, settings)
	return w
}

func (w *played) blame(format string, args ...any) {
	if w.fault == nil {
		w.fault = fmt.Errorf(format, args...)
	}
}

// slow holds all writes from here on, and forgets those before.
func (w *played) slow() {
	w.sim.HoldWrites(true)
	w.writes = nil
}

func (w *played) event(ev core.Event) {
	w.sim.Step(ev)
	w.take()
}

func (w *played) take() {
	out := w.sim.Drain()
	for _, a := range out.Answers {
		if w.answers[a.Ticket] != nil {
			w.blame("request %d is answered twice", a.Ticket)
		}
		w.answers[a.Ticket] = a.Message
	}
	for _, m := range out.Marked {
		w.marked = append(w.marked, m.Code)
	}
	w.writes = append(w.writes, out.Appends...)
}

// ends ends the nth write since slow, or says that it takes too long.
func (w *played) ends(n int, code int16) {
	if n < 0 || n >= len(w.writes) {
		w.blame("there is no write %d", n)
		return
	}
	w.event(core.Appended{ID: w.writes[n].ID, Code: code})
}

// wrote wants so many writes since slow.
func (w *played) wrote(n int) {
	if len(w.writes) != n {
		w.blame("%d writes, not %d", len(w.writes), n)
	}
}

func (w *played) advance(d time.Duration) {
	if !slices.IsSortedFunc(w.sim.Timers(), func(a, b core.Arm) int { return a.Deadline.Compare(b.Deadline) }) {
		w.blame("the timers are not in order")
	}
	w.sim.Advance(d)
	w.take()
}

// ask sends a request of the newest version that is spoken here, or of a given one.
func (w *played) ask(req kmsg.Request, version ...int16) core.Ticket {
	w.asked++
	v := map[kmsg.Key]int16{
		kmsg.JoinGroup: 9, kmsg.SyncGroup: 5, kmsg.Heartbeat: 4, kmsg.LeaveGroup: 5, kmsg.OffsetCommit: 9, kmsg.OffsetFetch: 9, kmsg.DescribeGroups: 5, kmsg.DeleteGroups: 2,
		kmsg.TxnOffsetCommit: 4, kmsg.OffsetDelete: 0,
	}[kmsg.Key(req.Key())]
	if len(version) > 0 {
		v = version[0]
	}
	w.event(core.Request{Ticket: w.asked, Message: req, Version: v, ClientID: "c", ClientHost: "/127.0.0.1"})
	return w.asked
}

// open wants requests that wait.
func (w *played) open(all ...core.Ticket) {
	for _, t := range all {
		if w.answers[t] != nil {
			w.blame("request %d does not wait: %s", t, said(w.answers[t]))
		}
	}
}

// says wants a request that has been answered so: the error codes in order, or for one without errors what was asked for.
func (w *played) says(t core.Ticket, want string) {
	if got := said(w.answers[t]); got != want {
		w.blame("request %d: %q, not %q", t, got, want)
	}
}

// at once asks and wants an answer.
func (w *played) atOnce(req kmsg.Request, want string) { w.says(w.ask(req), want) }

// said is an answer in short.
func said(resp kmsg.Response) string {
	var all []string
	add := func(code int16, more ...any) { all = append(all, fmt.Sprint(append([]any{code}, more...)...)) }
	switch m := resp.(type) {
	case nil:
		return "no answer"
	case *kmsg.JoinGroupResponse:
		if add(m.ErrorCode); m.ErrorCode == core.None {
			all = append(all, fmt.Sprintf("gen=%d of %d", m.Generation, len(m.Members)))
		}
	case *kmsg.SyncGroupResponse:
		add(m.ErrorCode, string(m.MemberAssignment))
	case *kmsg.HeartbeatResponse:
		add(m.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		add(m.ErrorCode)
		for _, one := range m.Members {
			add(one.ErrorCode)
		}
	case *kmsg.OffsetCommitResponse:
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				add(p.ErrorCode)
			}
		}
	case *kmsg.TxnOffsetCommitResponse:
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				add(p.ErrorCode)
			}
		}
	case *kmsg.OffsetFetchResponse:
		for _, g := range m.Groups {
			add(g.ErrorCode)
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					add(p.ErrorCode, "@", p.Offset)
				}
			}
		}
	case *kmsg.DescribeGroupsResponse:
		for _, g := range m.Groups {
			all = append(all, fmt.Sprint(g.State, len(g.Members)))
		}
	case *kmsg.DeleteGroupsResponse:
		for _, g := range m.Groups {
			add(g.ErrorCode)
		}
	case *kmsg.OffsetDeleteResponse:
		add(m.ErrorCode)
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				add(p.ErrorCode)
			}
		}
	}
	return strings.Join(all, " ")
}

// Requests.

func join(group, id string) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = group, id, "consumer", 30_000, 60_000
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	return r
}

func joinAs(group, id, instance string) *kmsg.JoinGroupRequest {
	r := join(group, id)
	r.InstanceID = &instance
	return r
}

func syncs(group, id string, gen int32, given ...string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.MemberID, r.Generation, r.ProtocolType, r.Protocol = group, id, gen, kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for _, to := range given {
		r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: to, MemberAssignment: []byte("x")})
	}
	return r
}

func beats(group, id string, gen int32) *kmsg.HeartbeatRequest {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Group, r.MemberID, r.Generation = group, id, gen
	return r
}

func leaves(group, id string) *kmsg.LeaveGroupRequest {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group, r.Members = group, []kmsg.LeaveGroupRequestMember{{MemberID: id}}
	return r
}

func commits(group string, at int64) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.Generation = group, -1
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topicName, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: at, LeaderEpoch: -1}}}}
	return r
}

func commitsAs(group, id string, gen int32, at int64) *kmsg.OffsetCommitRequest {
	r := commits(group, at)
	r.MemberID, r.Generation = id, gen
	return r
}

func txnCommits(group string, producer, at int64) *kmsg.TxnOffsetCommitRequest {
	r := kmsg.NewPtrTxnOffsetCommitRequest()
	r.Group, r.Generation, r.ProducerID = group, -1, producer
	r.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: topicName, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: at, LeaderEpoch: -1}}}}
	return r
}

func fetches(group string, stable bool) *kmsg.OffsetFetchRequest {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.RequireStable = stable
	r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: topicName, Partitions: []int32{0}}}}}
	return r
}

func describes(group string) *kmsg.DescribeGroupsRequest {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups = []string{group}
	return r
}

func deletes(groups ...string) *kmsg.DeleteGroupsRequest {
	r := kmsg.NewPtrDeleteGroupsRequest()
	r.Groups = groups
	return r
}

func deletesOffset(group string) *kmsg.OffsetDeleteRequest {
	r := kmsg.NewPtrOffsetDeleteRequest()
	r.Group = group
	r.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: topicName, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}
	return r
}

// member joins a group by version 3 and returns its id.
func (w *played) id(t core.Ticket) string {
	m, ok := w.answers[t].(*kmsg.JoinGroupResponse)
	if !ok {
		w.blame("request %d is no JoinGroup that has been answered", t)
		return ""
	}
	return m.MemberID
}

// stable makes a group of one member Stable, in generation 1, and returns its id.
func (w *played) stable(group string) string {
	id := w.id(w.ask(join(group, ""), 3))
	w.atOnce(syncs(group, id, 1, id), "0x")
	return id
}

// pair makes a group of two members, in generation 2, in which nobody has sent SyncGroup; the first one leads.
func (w *played) pair(group string) (leader, follower string) {
	leader = w.id(w.ask(join(group, ""), 3))
	second := w.ask(join(group, ""), 3)
	again := w.ask(join(group, leader), 3)
	w.says(again, "0 gen=2 of 2")
	return leader, w.id(second)
}
