package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/muster-kafka/muster/internal/kafka"
)

// cast is everybody who plays a part on a broker.
type cast struct {
	t    *testing.T
	ctx  context.Context
	addr string
	wg   sync.WaitGroup

	mu      sync.Mutex
	clients []*kgo.Client
}

func newCast(t *testing.T, b *kafka.Broker) *cast {
	ctx, cancel := context.WithCancel(context.Background())
	c := &cast{t: t, ctx: ctx, addr: b.Addr}
	t.Cleanup(func() {
		cancel()
		_ = b.Kill() // clients that wait for it would go on waiting
		for _, cl := range c.clients {
			cl.Close()
		}
		c.wg.Wait()
	})
	return c
}

// keep closes a client when the play is over.
func (c *cast) keep(cl *kgo.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients = append(c.clients, cl)
}

func (c *cast) play(f func()) { c.wg.Go(f) }

// raw is a member that sends what it is told to and nothing else. Its JoinGroup is of the last version that needs no member id first.
type raw struct {
	c          *cast
	cl         *kgo.Client
	group, id  string
	generation int32
	leads      bool
	all        []string
	session    time.Duration
	rebalance  time.Duration
	protocols  []string
}

func (c *cast) raw(group, client string) *raw {
	c.t.Helper()
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(kmsg.JoinGroup.Int16(), 3)
	versions.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), 9) // from 10 on topics are named by id
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.addr), kgo.ClientID(client), kgo.MaxVersions(versions), kgo.RequestTimeoutOverhead(14*time.Minute))
	if err != nil {
		c.t.Fatal(err)
	}
	c.keep(cl)
	return &raw{c: c, cl: cl, group: group, generation: -1, session: 10 * time.Minute, rebalance: 10 * time.Minute, protocols: []string{"range"}}
}

func (m *raw) ask(req kmsg.Request) (kmsg.Response, error) {
	return m.cl.SeedBrokers()[0].Request(m.c.ctx, req)
}

func (m *raw) join() error {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = m.group, m.id, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(m.session.Milliseconds()), int32(m.rebalance.Milliseconds())
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{"t"}
	for _, p := range m.protocols {
		rp := kmsg.NewJoinGroupRequestProtocol()
		rp.Name, rp.Metadata = p, meta.AppendTo(nil)
		req.Protocols = append(req.Protocols, rp)
	}
	answer, err := m.ask(req)
	if err != nil {
		return err
	}
	resp := answer.(*kmsg.JoinGroupResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	m.id, m.generation, m.leads = resp.MemberID, resp.Generation, resp.LeaderID == resp.MemberID
	m.all = nil
	for _, x := range resp.Members {
		m.all = append(m.all, x.MemberID)
	}
	return nil
}

func (m *raw) sync() error {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	kind, name := "consumer", m.protocols[0]
	req.ProtocolType, req.Protocol = &kind, &name
	if m.leads {
		given := kmsg.NewConsumerMemberAssignment() // of no partitions
		for _, id := range m.all {
			a := kmsg.NewSyncGroupRequestGroupAssignment()
			a.MemberID = id
			a.MemberAssignment = given.AppendTo(nil)
			req.GroupAssignment = append(req.GroupAssignment, a)
		}
	}
	answer, err := m.ask(req)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(answer.(*kmsg.SyncGroupResponse).ErrorCode)
}

func (m *raw) heartbeat() error {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	answer, err := m.ask(req)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(answer.(*kmsg.HeartbeatResponse).ErrorCode)
}

func (m *raw) leave() error {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = m.group, m.id
	one := kmsg.NewLeaveGroupRequestMember()
	one.MemberID = m.id
	req.Members = append(req.Members, one)
	_, err := m.ask(req)
	return err
}

// commit commits offsets of the partitions of topic t, beginning with the first; a member that has not joined commits from outside.
func (m *raw) commit(offsets ...int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = "t"
	for p, o := range offsets {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = int32(p), o
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	answer, err := m.ask(req)
	if err != nil {
		return err
	}
	for _, p := range answer.(*kmsg.OffsetCommitResponse).Topics[0].Partitions {
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			return err
		}
	}
	return nil
}

// must ends the test where a part was not played as written.
func (c *cast) must(err error) {
	c.t.Helper()
	if err != nil && c.ctx.Err() == nil {
		c.t.Fatal(err)
	}
}

// stable makes a group of one member that needs no heartbeat for ten minutes.
func (c *cast) stable(m *raw) *raw {
	c.t.Helper()
	c.must(m.join())
	c.must(m.sync())
	return m
}

// admin is a client that is no member.
func (c *cast) admin(opts ...kgo.Opt) *kgo.Client {
	c.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.addr)}, opts...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.keep(cl)
	return cl
}

// topic creates a topic and writes records to each partition, which are so old already.
func (c *cast) topic(name string, partitions int32, records int, age time.Duration) {
	c.t.Helper()
	cl := c.admin(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.UnknownTopicRetries(50))
	req := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, partitions, 1
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(c.ctx, cl)
	c.must(err)
	c.must(kerr.ErrorForCode(resp.Topics[0].ErrorCode))
	var all []*kgo.Record
	for p := range partitions {
		for i := range records {
			all = append(all, &kgo.Record{Topic: name, Partition: p, Value: fmt.Append(nil, i), Timestamp: time.Now().Add(-age)})
		}
	}
	c.must(cl.ProduceSync(c.ctx, all...).FirstErr())
}

// produces writes to a topic until the play is over.
func (c *cast) produces(topic string, every time.Duration) {
	cl := c.admin()
	c.play(func() {
		for ; c.ctx.Err() == nil; c.sleep(every) {
			cl.Produce(c.ctx, &kgo.Record{Topic: topic, Value: []byte("x")}, nil)
		}
	})
}

// consumer is a real client that polls, works, and commits by itself, until the test ends or its own stop is called.
func (c *cast) consumer(group, client, topic string, works time.Duration, opts ...kgo.Opt) (stop func()) {
	c.t.Helper()
	stop, _ = c.worker(group, client, topic, works, opts...)
	return stop
}

// worker is a consumer that says when it has begun to work.
func (c *cast) worker(group, client, topic string, works time.Duration, opts ...kgo.Opt) (stop func(), working <-chan struct{}) {
	c.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.addr), kgo.ClientID(client), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.FetchMaxWait(500 * time.Millisecond)}, opts...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	done, begun := make(chan struct{}), make(chan struct{})
	c.play(func() {
		defer close(done)
		var once sync.Once
		defer cl.CloseAllowingRebalance()
		for ctx.Err() == nil {
			fetches := cl.PollRecords(ctx, 10)
			if fetches.IsClientClosed() {
				return
			}
			once.Do(func() { close(begun) })
			if works > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(works):
				}
			}
			cl.AllowRebalance()
		}
	})
	return func() {
		cancel()
		<-done
	}, begun
}

// unwanted is what the flapping member of a test meets and goes on from.
func unwanted(err error) bool {
	return errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.RebalanceInProgress)
}
