// Command franzgo is a member of a group with franz-go.
package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/tools/clients/member"
)

type client struct {
	kgo   *kgo.Client
	o     member.Options
	t     *member.Teller
	ended chan struct{}
}

func main() { member.Main("github.com/twmb/franz-go", start) }

func start(o member.Options, t *member.Teller) (member.Client, error) {
	balancer := kgo.RangeBalancer()
	if o.Assignor == "cooperative" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	gone := func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
		t.Revoked(slices.Clone(parts[o.Topic]))
	}
	c, err := kgo.NewClient(
		kgo.SeedBrokers(o.Brokers...), kgo.ClientID(o.Name), kgo.ConsumerGroup(o.Group), kgo.ConsumeTopics(o.Topic),
		kgo.SessionTimeout(o.Session), kgo.HeartbeatInterval(o.Heartbeat), kgo.Balancers(balancer), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
			t.Assigned(slices.Clone(parts[o.Topic]))
		}),
		kgo.OnPartitionsRevoked(gone), kgo.OnPartitionsLost(gone),
	)
	if err != nil {
		return nil, err
	}
	m := &client{kgo: c, o: o, t: t, ended: make(chan struct{})}
	go m.consume()
	return m, nil
}

func (c *client) consume() {
	defer close(c.ended)
	for {
		fetches := c.kgo.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachError(func(_ string, _ int32, err error) { c.t.Failed(err) })
		fetches.EachRecord(func(r *kgo.Record) { c.t.Consumed(r.Partition, r.Offset) })
	}
}

func (c *client) Commit() (map[int32]int64, error) {
	next := c.t.Next()
	var answer error
	c.kgo.CommitOffsetsSync(context.Background(), map[string]map[int32]kgo.EpochOffset{c.o.Topic: epochs(next)}, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answered *kmsg.OffsetCommitResponse, err error) {
		answer = errors.Join(err, committed(answered))
	})
	return next, answer
}

func committed(answer *kmsg.OffsetCommitResponse) (err error) {
	if answer == nil {
		return nil
	}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			err = errors.Join(err, kerr.ErrorForCode(p.ErrorCode))
		}
	}
	return err
}

func epochs(next map[int32]int64) map[int32]kgo.EpochOffset {
	m := map[int32]kgo.EpochOffset{}
	for p, o := range next {
		m[p] = kgo.EpochOffset{Epoch: -1, Offset: o}
	}
	return m
}

func (c *client) Read() (map[int32]int64, error) {
	fetched, err := kadm.NewClient(c.kgo).FetchOffsets(context.Background(), c.o.Group)
	if err != nil {
		return nil, err
	}
	read := map[int32]int64{}
	for p, o := range fetched[c.o.Topic] {
		err = errors.Join(err, o.Err)
		read[p] = o.At
	}
	maps.DeleteFunc(read, func(_ int32, at int64) bool { return at < 0 })
	return read, err
}

func (c *client) Close() error {
	c.kgo.CloseAllowingRebalance()
	<-c.ended
	return nil
}
