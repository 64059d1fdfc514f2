package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// offsetsTopic is where a broker writes its groups.
const offsetsTopic = "__consumer_offsets"

// largest is its setting that makes it refuse records.
const largest = "max.message.bytes"

// faultTimeout bounds how long a fault takes to show.
const faultTimeout = 30 * time.Second

// inject makes something happen to the broker, and returns when it shows.
func (t *Target) inject(ctx context.Context, f target.Fault) error {
	ctx, cancel := context.WithTimeout(ctx, faultTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(t.broker.Addr))
	if err != nil {
		return err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	switch f {
	case target.RefuseWrites:
		one := "1"
		return errors.Join(configure(ctx, admin, kadm.AlterConfig{Op: kadm.SetConfig, Name: largest, Value: &one}), t.until(ctx, t.commits, false))
	case target.AcceptWrites:
		return errors.Join(configure(ctx, admin, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: largest}), t.until(ctx, t.commits, true))
	case target.Resign:
		return errors.Join(deleteTopic(ctx, admin, offsetsTopic), t.until(ctx, t.serves, false))
	case target.Serve:
		return t.until(ctx, t.coordinates, true)
	case target.DeleteTopic:
		return t.renewTopic(ctx, admin, t.Target.Capabilities().Topics["u"])
	}
	return fmt.Errorf("%s cannot be made to have %q", t.Name(), f)
}

func configure(ctx context.Context, admin *kadm.Client, c kadm.AlterConfig) error {
	all, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{c}, offsetsTopic)
	for _, r := range all {
		err = errors.Join(err, r.Err)
	}
	return err
}

func deleteTopic(ctx context.Context, admin *kadm.Client, name string) error {
	all, err := admin.DeleteTopics(ctx, name)
	for _, r := range all {
		err = errors.Join(err, r.Err)
	}
	return err
}

// renewTopic deletes a topic, sees that its offsets go, and creates it again.
func (t *Target) renewTopic(ctx context.Context, admin *kadm.Client, name string) error {
	commits := func(ctx context.Context) (bool, error) { return t.commit(ctx, name) }
	if err := t.until(ctx, commits, true); err != nil {
		return err
	}
	if err := deleteTopic(ctx, admin, name); err != nil {
		return err
	}
	if err := t.until(ctx, func(ctx context.Context) (bool, error) { return t.committed(ctx, name) }, false); err != nil {
		return err
	}
	for {
		resp, err := admin.CreateTopic(ctx, 2, 1, nil, name)
		if err == nil {
			err = resp.Err
		}
		if err == nil {
			return t.until(ctx, commits, true)
		}
		if !errors.Is(err, kerr.TopicAlreadyExists) { // it is on its way out
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// until asks until the answer is the wanted one.
func (t *Target) until(ctx context.Context, ask func(context.Context) (bool, error), want bool) error {
	for {
		got, err := ask(ctx)
		if err != nil || got == want {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("the broker did not show it: %w", ctx.Err())
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}

// ask sends a request of the harness's own.
func (t *Target) ask(ctx context.Context, req kmsg.Request, most int16) (kmsg.Response, error) {
	c, err := t.Dial(ctx, "muster-fault")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	call := c.Send(req, min(t.Target.Capabilities().Versions[req.Key()].Max, most))
	select {
	case <-call.Done():
		return call.Answer()
	case <-ctx.Done():
		return nil, fmt.Errorf("no answer to %s: %w", kmsg.NameForKey(req.Key()), ctx.Err())
	}
}

// probeGroup is where the harness commits for itself.
func (t *Target) probeGroup() string { return t.Target.Capabilities().Prefix + "fault" }

// commits says whether an offset can be committed.
func (t *Target) commits(ctx context.Context) (bool, error) {
	return t.commit(ctx, t.Target.Capabilities().Topics["t"])
}

func (t *Target) commit(ctx context.Context, topic string) (bool, error) {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = t.probeGroup(), -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.LeaderEpoch = -1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := t.ask(ctx, req, 9)
	if err != nil {
		return false, err
	}
	return resp.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode == 0, nil
}

// committed says whether an offset is committed.
func (t *Target) committed(ctx context.Context, topic string) (bool, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = t.probeGroup()
	rt := kmsg.NewOffsetFetchRequestTopic()
	rt.Topic, rt.Partitions = topic, []int32{0}
	req.Topics = append(req.Topics, rt)
	resp, err := t.ask(ctx, req, 7)
	if err != nil {
		return false, err
	}
	for _, rt := range resp.(*kmsg.OffsetFetchResponse).Topics {
		for _, p := range rt.Partitions {
			if p.Offset >= 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

// serves says whether the broker is the coordinator of groups, without asking who is: that question would make it one.
func (t *Target) serves(ctx context.Context) (bool, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{t.probeGroup()}
	resp, err := t.ask(ctx, req, 5)
	if err != nil {
		return false, err
	}
	code := resp.(*kmsg.DescribeGroupsResponse).Groups[0].ErrorCode
	return code != kerr.NotCoordinator.Code && code != kerr.CoordinatorNotAvailable.Code && code != kerr.CoordinatorLoadInProgress.Code, nil
}

// coordinates makes the broker the coordinator and says whether it serves.
func (t *Target) coordinates(ctx context.Context) (bool, error) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey = t.probeGroup()
	if _, err := t.ask(ctx, req, 3); err != nil {
		return false, err
	}
	return t.serves(ctx)
}
