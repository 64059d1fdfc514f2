package consumers

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// TopicsOf changes topics on a target of one broker that may be written to.
func TopicsOf(t target.Target) Topics { return &topics{t} }

type topics struct{ target target.Target }

// asking is how long a change of topics may take.
const asking = 10 * time.Second

// ask sends one request, in the newest version that both sides know.
func (a *topics) ask(ctx context.Context, req kmsg.Request, most int16) (kmsg.Response, error) {
	r, ok := a.target.Capabilities().Versions[req.Key()]
	if !ok {
		return nil, fmt.Errorf("%s offers no %s", a.target.Name(), kmsg.NameForKey(req.Key()))
	}
	conn, err := a.target.Dial(ctx, "muster-topics")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	call := conn.Send(req, max(r.Min, min(r.Max, most)))
	if !a.target.Clock().Await(ctx, call, asking) {
		return nil, fmt.Errorf("%s of %s was not answered within %v", kmsg.NameForKey(req.Key()), a.target.Name(), asking)
	}
	return call.Answer()
}

func (a *topics) Create(ctx context.Context, name string, partitions int32) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(asking.Milliseconds())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
	req.Topics = append(req.Topics, t)
	resp, err := a.ask(ctx, req, 5)
	var codes []int16
	if err == nil {
		for _, t := range resp.(*kmsg.CreateTopicsResponse).Topics {
			codes = append(codes, t.ErrorCode)
		}
	}
	return done(err, codes, "create topic "+name)
}

func (a *topics) Grow(ctx context.Context, name string, partitions int32) error {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = int32(asking.Milliseconds())
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = name, partitions
	req.Topics = append(req.Topics, t)
	resp, err := a.ask(ctx, req, 3)
	var codes []int16
	if err == nil {
		for _, t := range resp.(*kmsg.CreatePartitionsResponse).Topics {
			codes = append(codes, t.ErrorCode)
		}
	}
	return done(err, codes, "add partitions to "+name)
}

func (a *topics) Delete(ctx context.Context, names ...string) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = int32(asking.Milliseconds())
	req.TopicNames = names
	_, err := a.ask(ctx, req, 5) // later ones name topics otherwise
	return done(err, []int16{0}, "delete topics")
}

// done says what became of a request about one topic: an error on the way, or the code in the answer.
func done(err error, codes []int16, what string) error {
	switch {
	case err != nil:
	case len(codes) != 1:
		err = fmt.Errorf("an answer about %d topics, want one", len(codes))
	default:
		err = kerr.ErrorForCode(codes[0])
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("consumers: %s: %w", what, err)
}
