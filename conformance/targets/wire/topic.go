package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// scenarioTopic is the name that scenarios use for the topic of the run; it has partitions 0 and 1.
const scenarioTopic = "t"

const topicPartitions = 2

// prepareTopic creates the run's topic, or takes the one that was given, and waits until the coordinator knows it.
func (t *Target) prepareTopic(ctx context.Context) error {
	name := t.opts.Topic
	if name == "" {
		name = t.caps.Prefix + scenarioTopic
		if err := t.createTopic(ctx, name); err != nil {
			return err
		}
	}
	t.caps.Topics = map[string]string{scenarioTopic: name}
	return t.awaitTopic(ctx, name)
}

func (t *Target) createTopic(ctx context.Context, name string) error {
	r, ok := t.caps.Versions[kmsg.CreateTopics.Int16()]
	if !ok {
		return fmt.Errorf("%w (%s has no CreateTopics)", ErrNoTopic, t.opts.Addr)
	}
	ctx, cancel := context.WithTimeout(ctx, t.opts.Timeout)
	defer cancel()
	var replicas int16 = 1
	if r.Max >= 4 {
		replicas = -1 // the broker's own default
	}
	resp, err := kadm.NewClient(t.admin).CreateTopic(ctx, topicPartitions, replicas, nil, name)
	if err == nil {
		err = resp.Err
	}
	if err != nil {
		return fmt.Errorf("%w (creating %s: %w)", ErrNoTopic, name, err)
	}
	t.topic = name
	return nil
}

// awaitTopic commits an offset to both partitions until that is answered NONE: the coordinator learns of a topic some 250 ms after
// Metadata shows it, and a scenario that commits before would see UNKNOWN_TOPIC_OR_PARTITION.
func (t *Target) awaitTopic(ctx context.Context, name string) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	if _, ok := t.caps.Versions[req.Key()]; !ok {
		return nil // no scenario can commit either
	}
	ctx, cancel := context.WithTimeout(ctx, t.opts.Timeout)
	defer cancel()
	c, err := t.Dial(ctx, "muster-probe")
	if err != nil {
		return err
	}
	defer c.Close()
	req.Group = t.caps.Prefix + "probe"
	req.Generation = -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = name
	for p := range int32(topicPartitions) {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.LeaderEpoch = p, -1
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		call := c.Send(req, t.pick(req, 9)) // version 10 names topics by id
		select {
		case <-call.Done():
		case <-ctx.Done():
			return fmt.Errorf("%w (no answer to OffsetCommit for it within %v)", ErrNoTopic, t.opts.Timeout)
		}
		resp, err := call.Answer()
		if err != nil {
			return fmt.Errorf("committing an offset for the topic of the run: %w", err)
		}
		err = worst(resp.(*kmsg.OffsetCommitResponse))
		if err == nil {
			return t.removeGroups(ctx, []string{req.Group})
		}
		if !kerr.IsRetriable(err) {
			return fmt.Errorf("%w (OffsetCommit for %s answers %w)", ErrNoTopic, name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (OffsetCommit for %s still answers %w after %v)", ErrNoTopic, name, err, t.opts.Timeout)
		case <-tick.C:
		}
	}
}

// worst is an error of the answer, one that waiting does not cure before others.
func worst(r *kmsg.OffsetCommitResponse) error {
	var found error
	answers := 0
	for _, rt := range r.Topics {
		for _, rp := range rt.Partitions {
			answers++
			if err := kerr.ErrorForCode(rp.ErrorCode); err != nil && (found == nil || !kerr.IsRetriable(err)) {
				found = err
			}
		}
	}
	if found == nil && answers != topicPartitions {
		return errors.New("an answer without the partitions asked for")
	}
	return found
}
