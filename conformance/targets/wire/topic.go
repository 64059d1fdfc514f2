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

// scenarioTopic is the name that scenarios use for the topic of the run; it has partitions 0 and 1. secondTopic is another one, which
// targets of our own have, for what depends on whether a group subscribes to a topic.
const (
	scenarioTopic = "t"
	secondTopic   = "u"
)

const topicPartitions = 2

// prepareTopic creates the run's topic, or takes the one that was given, and waits until the coordinator knows it. Where none can be created
// the run has no topic, and scenarios that need one are skipped.
func (t *Target) prepareTopic(ctx context.Context) error {
	name := t.opts.Topic
	if name == "" {
		name = t.caps.Prefix + scenarioTopic
		err := t.createTopic(ctx, name)
		switch {
		case err != nil && (ctx.Err() != nil || !t.reachable(ctx)):
			return err
		case err != nil:
			t.doubt("%v", err)
			return nil
		}
	}
	t.caps.Topics = map[string]string{scenarioTopic: name}
	if t.opts.Own {
		second := t.opts.Second
		if second == "" {
			second = t.caps.Prefix + secondTopic
			if err := t.createTopic(ctx, second); err != nil {
				return err
			}
		}
		if err := t.awaitTopic(ctx, second); err != nil {
			return err
		}
		t.caps.Topics[secondTopic] = second
	}
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
	t.topics = append(t.topics, name)
	return nil
}

// awaitTopic commits an offset to both partitions until that is answered NONE: the coordinator learns of a topic some 250 ms after
// Metadata shows it, and a scenario that commits before would see UNKNOWN_TOPIC_OR_PARTITION. A wrong answer does not end the run: the
// topic is there, and the scenarios judge what OffsetCommit does with it.
func (t *Target) awaitTopic(ctx context.Context, name string) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	if _, ok := t.caps.Versions[req.Key()]; !ok {
		return nil // no scenario can commit either
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, t.opts.Timeout)
	defer cancel()
	c, err := t.Dial(ctx, "muster-probe")
	if err != nil {
		return err
	}
	defer c.Close()
	if req.Group, err = t.caps.Named(ctx, t.caps.Prefix+probeGroup); err != nil {
		return err
	}
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
	var last error // that waiting may cure
	for {
		call := c.Send(req, t.pick(req, 9)) // version 10 names topics by id
		select {
		case <-call.Done():
		case <-ctx.Done():
			return t.commitTimedOut(parent, name, last)
		}
		resp, err := call.Answer()
		if err != nil {
			if !t.reachable(ctx) {
				return fmt.Errorf("committing an offset for the topic of the run: %w", err)
			}
			t.doubt("OffsetCommit for the topic of the run: %v", err)
			return nil
		}
		err = worst(resp.(*kmsg.OffsetCommitResponse))
		if err == nil {
			if err := t.removeGroups(ctx, []string{req.Group}); err != nil {
				t.doubt("%v", err) // Close tries again
			}
			return nil
		}
		if !kerr.IsRetriable(err) {
			if hopeless(ctx, err) {
				return fmt.Errorf("%w (OffsetCommit for %s answers %w)", ErrNoTopic, name, err)
			}
			t.doubt("OffsetCommit for the topic of the run: %v", err)
			return nil
		}
		last = err
		select {
		case <-ctx.Done():
			return t.commitTimedOut(parent, name, last)
		case <-tick.C:
		}
	}
}

// commitTimedOut decides what becomes of a run whose topic the coordinator has not taken an offset for in time; last is its last answer.
// That it does not know a topic which is there is its own fault; a topic that was named on the command line may not be there.
func (t *Target) commitTimedOut(ctx context.Context, name string, last error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case last == nil:
		t.doubt("OffsetCommit for the topic of the run is not answered within %v", t.opts.Timeout)
	case errors.Is(last, kerr.UnknownTopicOrPartition) && t.opts.Topic == "":
		t.doubt("OffsetCommit for the topic of the run still answers %v after %v", last, t.opts.Timeout)
	default:
		return fmt.Errorf("%w (OffsetCommit for %s still answers %w after %v)", ErrNoTopic, name, last, t.opts.Timeout)
	}
	return nil
}

// reachable says whether the target still takes connections.
func (t *Target) reachable(ctx context.Context) bool {
	c, err := t.Dial(ctx, "muster-probe")
	if err != nil {
		return false
	}
	return c.Close() == nil
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
