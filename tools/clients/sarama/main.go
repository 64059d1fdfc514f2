// Command sarama is a member of a group with IBM's sarama.
package main

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/IBM/sarama"

	"github.com/muster-kafka/muster/tools/clients/member"
)

type client struct {
	o      member.Options
	t      *member.Teller
	config *sarama.Config
	group  sarama.ConsumerGroup
	stop   context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	session sarama.ConsumerGroupSession
}

func main() { member.Main("github.com/IBM/sarama", start) }

func start(o member.Options, t *member.Teller) (member.Client, error) {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.ClientID = o.Name
	config.Consumer.Group.Session.Timeout = o.Session
	config.Consumer.Group.Heartbeat.Interval = o.Heartbeat
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	group, err := sarama.NewConsumerGroup(o.Brokers, o.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &client{o: o, t: t, config: config, group: group, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		for ctx.Err() == nil { // a call lasts for one generation
			if err := group.Consume(ctx, []string{o.Topic}, c); err != nil && ctx.Err() == nil {
				t.Failed(err)
			}
		}
	}()
	return c, nil
}

// Setup is called when a generation begins.
func (c *client) Setup(s sarama.ConsumerGroupSession) error {
	c.mu.Lock()
	c.session = s
	c.mu.Unlock()
	c.t.Assigned(slices.Clone(s.Claims()[c.o.Topic]))
	return nil
}

// Cleanup is called when a generation ends.
func (c *client) Cleanup(s sarama.ConsumerGroupSession) error {
	c.t.Revoked(slices.Clone(s.Claims()[c.o.Topic]))
	return nil
}

// ConsumeClaim consumes a partition for one generation.
func (c *client) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for m := range claim.Messages() {
		s.MarkMessage(m, "")
		c.t.Consumed(m.Partition, m.Offset)
	}
	return nil
}

func (c *client) Commit() (map[int32]int64, error) {
	next := c.t.Next()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.Commit()
	select {
	case err := <-c.group.Errors():
		return nil, err
	default:
		return next, nil
	}
}

func (c *client) Read() (map[int32]int64, error) {
	admin, err := sarama.NewClusterAdmin(c.o.Brokers, c.config)
	if err != nil {
		return nil, err
	}
	answer, err := admin.ListConsumerGroupOffsets(c.o.Group, nil)
	if err = errors.Join(err, admin.Close()); err != nil {
		return nil, err
	}
	read := map[int32]int64{}
	for p, b := range answer.Blocks[c.o.Topic] {
		if b.Offset >= 0 {
			read[p] = b.Offset
		}
	}
	return read, nil
}

func (c *client) Close() error {
	c.stop()
	<-c.ended
	return c.group.Close()
}
