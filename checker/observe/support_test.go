package observe

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// bench drives a Machine by hand.
type bench struct {
	t       *testing.T
	m       *Machine
	tickets checker.Ticket
	answers map[checker.Ticket]kmsg.Response
	dropped map[checker.Ticket]bool
	records []classic.RecordKind
}

func newBench(t *testing.T, c Config) *bench {
	return &bench{t: t, m: NewMachine(NewWorld(c), nil), answers: map[checker.Ticket]kmsg.Response{}, dropped: map[checker.Ticket]bool{}}
}

func (b *bench) send(client string, req kmsg.Request, version int16) checker.Ticket {
	b.t.Helper()
	b.tickets++
	if err := b.m.Do(checker.Request{Ticket: b.tickets, Message: req, Version: version, ClientID: client}); err != nil {
		b.t.Fatalf("%T: %v", req, err)
	}
	b.drain()
	return b.tickets
}

func (b *bench) drain() {
	e := b.m.Drain()
	for _, a := range e.Answers {
		b.answers[a.Ticket] = a.Message
	}
	for _, d := range e.Dropped {
		b.dropped[d] = true
	}
	for _, r := range e.Records {
		b.records = append(b.records, r.Kind)
	}
}

// sleep fires what falls due.
func (b *bench) sleep(d time.Duration) {
	end := b.m.Now().Add(d)
	for ts := b.m.Timers(); len(ts) > 0 && !ts[0].Deadline.After(end); ts = b.m.Timers() {
		b.m.Fire(ts[0])
		b.drain()
	}
	b.m.Advance(end.Sub(b.m.Now()))
}

func answer[T kmsg.Response](b *bench, ticket checker.Ticket) T {
	b.t.Helper()
	a, ok := b.answers[ticket].(T)
	if !ok {
		b.t.Fatalf("request %d: no answer, or not the expected kind: %T", ticket, b.answers[ticket])
	}
	return a
}

func (b *bench) parked(ticket checker.Ticket) {
	b.t.Helper()
	if a, ok := b.answers[ticket]; ok {
		b.t.Fatalf("request %d should be parked, was answered %+v", ticket, a)
	}
}

const group = "g"

func join(id string, names ...string) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType = group, id, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 10_000, 30_000
	for _, n := range names {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = n, []byte("of "+n)
		r.Protocols = append(r.Protocols, p)
	}
	return r
}

// sync builds a SyncGroup; assignments are pairs of member id and bytes.
func sync5(id string, gen int32, protocol string, assign ...string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.MemberID, r.Generation = group, id, gen
	r.ProtocolType, r.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr(protocol)
	for i := 0; i < len(assign); i += 2 {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = assign[i], []byte(assign[i+1])
		r.GroupAssignment = append(r.GroupAssignment, a)
	}
	return r
}

func heartbeat(id string, gen int32) *kmsg.HeartbeatRequest {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Group, r.MemberID, r.Generation = group, id, gen
	return r
}

func commit(id string, gen int32, topic string, p int32, at int64, metadata string) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.MemberID, r.Generation = group, id, gen
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	one := kmsg.NewOffsetCommitRequestTopicPartition()
	one.Partition, one.Offset, one.Metadata = p, at, &metadata
	t.Partitions = append(t.Partitions, one)
	r.Topics = append(r.Topics, t)
	return r
}

// enter makes a member id out of the MEMBER_ID_REQUIRED round and parks its JoinGroup.
func (b *bench) enter(client string, names ...string) (string, checker.Ticket) {
	b.t.Helper()
	id := answer[*kmsg.JoinGroupResponse](b, b.send(client, join("", names...), 9)).MemberID
	return id, b.send(client, join(id, names...), 9)
}

// stable brings two members into a Stable group of generation 2 and returns their ids, the leader's first.
func (b *bench) stable() (string, string) {
	b.t.Helper()
	a, first := b.enter("a", "range")
	if got := answer[*kmsg.JoinGroupResponse](b, first); got.Generation != 1 || got.LeaderID != a {
		b.t.Fatalf("first join: %+v", got)
	}
	f, second := b.enter("f", "range", "sticky")
	b.parked(second)
	again := answer[*kmsg.JoinGroupResponse](b, b.send("a", join(a, "range"), 9))
	if again.Generation != 2 || len(again.Members) != 2 {
		b.t.Fatalf("second join: %+v", again)
	}
	waits := b.send("f", sync5(f, 2, "range"), 5)
	b.parked(waits)
	b.send("a", sync5(a, 2, "range", a, "p0", f, "p1"), 5)
	if got := answer[*kmsg.SyncGroupResponse](b, waits); string(got.MemberAssignment) != "p1" {
		b.t.Fatalf("sync: %+v", got)
	}
	return a, f
}
