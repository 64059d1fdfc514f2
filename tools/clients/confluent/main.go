// Command confluent is a member of a group with confluent-kafka-go, which is librdkafka.
package main

import (
	"errors"
	"strings"
	"sync"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/muster-kafka/muster/tools/clients/member"
)

type client struct {
	o        member.Options
	t        *member.Teller
	consumer *kafka.Consumer
	stop     chan struct{}
	ended    sync.WaitGroup
}

func main() { member.Main("github.com/confluentinc/confluent-kafka-go/v2", start) }

func start(o member.Options, t *member.Teller) (member.Client, error) {
	assignor := "range"
	if o.Assignor == "cooperative" {
		assignor = "cooperative-sticky"
	}
	consumer, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": strings.Join(o.Brokers, ","), "group.id": o.Group, "client.id": o.Name,
		"session.timeout.ms": int(o.Session.Milliseconds()), "heartbeat.interval.ms": int(o.Heartbeat.Milliseconds()),
		"partition.assignment.strategy": assignor, "enable.auto.commit": false, "auto.offset.reset": "earliest",
	})
	if err != nil {
		return nil, err
	}
	c := &client{o: o, t: t, consumer: consumer, stop: make(chan struct{})}
	if err := consumer.Subscribe(o.Topic, c.rebalance); err != nil {
		return nil, err
	}
	c.ended.Go(c.consume)
	return c, nil
}

func (c *client) rebalance(_ *kafka.Consumer, e kafka.Event) error {
	switch e := e.(type) {
	case kafka.AssignedPartitions:
		c.t.Assigned(numbers(e.Partitions))
	case kafka.RevokedPartitions:
		c.t.Revoked(numbers(e.Partitions))
	}
	return nil
}

func numbers(partitions []kafka.TopicPartition) []int32 {
	var n []int32
	for _, p := range partitions {
		n = append(n, p.Partition)
	}
	return n
}

func (c *client) consume() {
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		switch e := c.consumer.Poll(100).(type) {
		case *kafka.Message:
			c.t.Consumed(e.TopicPartition.Partition, int64(e.TopicPartition.Offset))
		case kafka.Error:
			c.t.Failed(e)
		}
	}
}

func (c *client) Commit() (map[int32]int64, error) {
	next := c.t.Next()
	var offsets []kafka.TopicPartition
	for p, o := range next {
		offsets = append(offsets, kafka.TopicPartition{Topic: &c.o.Topic, Partition: p, Offset: kafka.Offset(o)})
	}
	answer, err := c.consumer.CommitOffsets(offsets)
	for _, p := range answer {
		err = errors.Join(err, p.Error)
	}
	return next, err
}

func (c *client) Read() (map[int32]int64, error) {
	topics, err := c.consumer.GetMetadata(&c.o.Topic, false, 10_000)
	if err != nil {
		return nil, err
	}
	var all []kafka.TopicPartition
	for _, p := range topics.Topics[c.o.Topic].Partitions {
		all = append(all, kafka.TopicPartition{Topic: &c.o.Topic, Partition: p.ID})
	}
	answer, err := c.consumer.Committed(all, 10_000)
	read := map[int32]int64{}
	for _, p := range answer {
		err = errors.Join(err, p.Error)
		if p.Offset >= 0 {
			read[p.Partition] = int64(p.Offset)
		}
	}
	return read, err
}

func (c *client) Close() error {
	close(c.stop)
	c.ended.Wait()
	return c.consumer.Close()
}
