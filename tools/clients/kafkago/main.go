// Command kafkago is a member of a group with segmentio's kafka-go.
package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/muster-kafka/muster/tools/clients/member"
)

type client struct {
	o     member.Options
	t     *member.Teller
	group *kafka.ConsumerGroup
	ended chan struct{}

	mu         sync.Mutex
	generation *kafka.Generation
}

func main() { member.Main("github.com/segmentio/kafka-go", start) }

func start(o member.Options, t *member.Teller) (member.Client, error) {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: o.Group, Brokers: o.Brokers, Topics: []string{o.Topic}, Dialer: &kafka.Dialer{ClientID: o.Name, Timeout: 10 * time.Second},
		GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}, StartOffset: kafka.FirstOffset,
		SessionTimeout: o.Session, HeartbeatInterval: o.Heartbeat, RebalanceTimeout: o.Session,
	})
	if err != nil {
		return nil, err
	}
	c := &client{o: o, t: t, group: group, ended: make(chan struct{})}
	go c.generations()
	return c, nil
}

// generations works for one generation after the other.
func (c *client) generations() {
	defer close(c.ended)
	for {
		g, err := c.group.Next(context.Background())
		if errors.Is(err, kafka.ErrGroupClosed) {
			return
		}
		if err != nil {
			c.t.Failed(err)
			continue
		}
		c.mu.Lock()
		c.generation = g
		c.mu.Unlock()
		var owned []int32
		for _, a := range g.Assignments[c.o.Topic] {
			owned = append(owned, int32(a.ID))
		}
		c.t.Assigned(owned)
		for _, a := range g.Assignments[c.o.Topic] {
			g.Start(func(ctx context.Context) { c.consume(ctx, a) })
		}
		g.Start(func(ctx context.Context) {
			<-ctx.Done()
			c.t.Revoked(owned)
		})
	}
}

// consume reads a partition for as long as the generation lasts.
func (c *client) consume(ctx context.Context, a kafka.PartitionAssignment) {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: c.o.Brokers, Topic: c.o.Topic, Partition: a.ID, MaxWait: 100 * time.Millisecond, Dialer: &kafka.Dialer{ClientID: c.o.Name}})
	defer r.Close()
	if err := r.SetOffset(a.Offset); err != nil {
		c.t.Failed(err)
	}
	for {
		m, err := r.ReadMessage(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			c.t.Failed(err)
			return
		}
		c.t.Consumed(int32(m.Partition), m.Offset)
	}
}

func (c *client) Commit() (map[int32]int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.t.Next()
	offsets := map[int]int64{}
	for p, o := range next {
		offsets[int(p)] = o
	}
	return next, c.generation.CommitOffsets(map[string]map[int]int64{c.o.Topic: offsets})
}

func (c *client) Read() (map[int32]int64, error) {
	admin := &kafka.Client{Addr: kafka.TCP(c.o.Brokers...)}
	topics, err := admin.Metadata(context.Background(), &kafka.MetadataRequest{Topics: []string{c.o.Topic}})
	if err != nil {
		return nil, err
	}
	var all []int
	for _, p := range topics.Topics[0].Partitions {
		all = append(all, p.ID)
	}
	answer, err := admin.OffsetFetch(context.Background(), &kafka.OffsetFetchRequest{GroupID: c.o.Group, Topics: map[string][]int{c.o.Topic: all}})
	if err != nil {
		return nil, err
	}
	err = answer.Error
	read := map[int32]int64{}
	for _, p := range answer.Topics[c.o.Topic] {
		err = errors.Join(err, p.Error)
		if p.CommittedOffset >= 0 {
			read[int32(p.Partition)] = p.CommittedOffset
		}
	}
	return read, err
}

func (c *client) Close() error {
	err := c.group.Close()
	<-c.ended
	return err
}
