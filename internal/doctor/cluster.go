package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"golang.org/x/time/rate"
)

// cluster asks brokers, no faster than allowed.
type cluster struct {
	client  *kgo.Client
	limiter *rate.Limiter
	paid    atomic.Int64 // requests that the limiter has let pass
	sent    *counter

	id      string
	brokers []int32
	speaks  *kversion.Versions

	mu       sync.Mutex
	versions map[int32]map[int16]int16 // highest version by broker and API key
}

// counter counts every request that is written, those that the client library sends of itself too.
type counter struct{ n atomic.Int64 }

func (c *counter) OnBrokerWrite(_ kgo.BrokerMetadata, _ int16, _ int, _, _ time.Duration, err error) {
	if err == nil {
		c.n.Add(1)
	}
}

// connect makes first contact.
func connect(ctx context.Context, o Options) (*cluster, error) {
	// Newer versions of these name topics by id.
	for key, highest := range map[kmsg.Key]int16{kmsg.OffsetFetch: 9, kmsg.Fetch: 12, kmsg.ListOffsets: 7} {
		if v, ok := o.versions.LookupMaxKeyVersion(key.Int16()); ok && v > highest {
			o.versions.SetMaxKeyVersion(key.Int16(), highest)
		}
	}
	c := &cluster{speaks: o.versions, limiter: rate.NewLimiter(rate.Limit(o.Rate), 1), sent: &counter{}, versions: map[int32]map[int16]int16{}}
	opts := append([]kgo.Opt{
		kgo.SeedBrokers(o.Addr), kgo.ClientID("muster-doctor"), kgo.MaxVersions(o.versions), kgo.WithHooks(c.sent),
		kgo.DialTimeout(5 * time.Second), kgo.RequestTimeoutOverhead(10 * time.Second), kgo.RequestRetries(3), kgo.RetryTimeout(10 * time.Second),
	}, o.Client...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, &SettingsError{err}
	}
	c.client = client
	first, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	err = c.metadata(first)
	for errors.Is(err, errNoBroker) && first.Err() == nil {
		select { // one that has just started, or has lost its controller for a moment
		case <-first.Done():
		case <-time.After(500 * time.Millisecond):
			err = c.metadata(first)
		}
	}
	if err != nil {
		client.Close()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("no answer within %v", firstContact)
		}
		return nil, &UnreachableError{o.Addr, err}
	}
	return c, nil
}

func (c *cluster) close() { c.client.Close() }

// pace waits until a request may be sent. What the client library has sent of itself, as on every new connection, is made up for.
func (c *cluster) pace(ctx context.Context) error {
	for {
		if err := c.limiter.Wait(ctx); err != nil {
			return err
		}
		if c.paid.Add(1) > c.sent.n.Load() {
			return nil
		}
	}
}

var errNoBroker = errors.New("it knows no broker, not even itself")

// metadata learns the brokers.
func (c *cluster) metadata(ctx context.Context) error {
	if err := c.pace(ctx); err != nil {
		return err
	}
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return err
	}
	if len(resp.Brokers) == 0 {
		return errNoBroker
	}
	c.brokers = c.brokers[:0]
	for _, b := range resp.Brokers {
		c.brokers = append(c.brokers, b.NodeID)
	}
	slices.Sort(c.brokers)
	if resp.ClusterID != nil {
		c.id = *resp.ClusterID
	}
	return nil
}

// ask sends a request to one broker.
func (c *cluster) ask(ctx context.Context, broker int32, req kmsg.Request) (kmsg.Response, error) {
	if err := c.pace(ctx); err != nil {
		return nil, err
	}
	return c.client.Broker(int(broker)).RetriableRequest(ctx, req)
}

// askAny sends a request to whichever broker the client library picks for it.
func (c *cluster) askAny(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	if err := c.pace(ctx); err != nil {
		return nil, err
	}
	return c.client.Request(ctx, req)
}

// offers is the highest version of an API that a broker and this client both speak; -1: none.
func (c *cluster) offers(ctx context.Context, broker int32, key kmsg.Key) (int16, error) {
	c.mu.Lock()
	known, ok := c.versions[broker]
	c.mu.Unlock()
	if !ok {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "muster-doctor", "1" // refused where empty
		answer, err := c.ask(ctx, broker, req)
		if err != nil {
			return 0, err
		}
		resp := answer.(*kmsg.ApiVersionsResponse)
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return 0, err
		}
		known = map[int16]int16{}
		for _, k := range resp.ApiKeys {
			known[k.ApiKey] = k.MaxVersion
		}
		c.mu.Lock()
		c.versions[broker] = known
		c.mu.Unlock()
	}
	v, ok := known[key.Int16()]
	ours, spoken := c.speaks.LookupMaxKeyVersion(key.Int16())
	if !ok || !spoken {
		return -1, nil
	}
	return min(v, ours), nil
}

// each runs a function for several brokers at once and returns the errors by broker.
func each[T any](work map[int32]T, do func(broker int32, work T) error) map[int32]error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := map[int32]error{}
	for broker, w := range work {
		wg.Go(func() {
			if err := do(broker, w); err != nil {
				mu.Lock()
				errs[broker] = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errs
}

// leaders finds who leads the partitions of topics. Topics that are gone or forbidden are left out; forbidden says of which the
// latter is true.
func (c *cluster) leaders(ctx context.Context, topics []string) (map[string]map[int32]int32, map[string]error, error) {
	const batch = 500
	out, bad := map[string]map[int32]int32{}, map[string]error{}
	for part := range slices.Chunk(topics, batch) {
		req := kmsg.NewPtrMetadataRequest()
		req.AllowAutoTopicCreation = false
		for _, t := range part {
			rt := kmsg.NewMetadataRequestTopic()
			rt.Topic = kmsg.StringPtr(t)
			req.Topics = append(req.Topics, rt)
		}
		answer, err := c.askAny(ctx, req)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range answer.(*kmsg.MetadataResponse).Topics {
			if t.Topic == nil {
				continue
			}
			if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
				bad[*t.Topic] = err
				continue
			}
			led := map[int32]int32{}
			for _, p := range t.Partitions {
				if p.Leader >= 0 {
					led[p.Partition] = p.Leader
				}
			}
			out[*t.Topic] = led
		}
	}
	return out, bad, nil
}

// topicPartition names a partition.
type topicPartition struct {
	topic     string
	partition int32
}

// offsetsAt asks for the offsets of partitions at a time in Unix milliseconds, or at one of Kafka's special times.
func (c *cluster) offsetsAt(ctx context.Context, led map[string]map[int32]int32, wanted map[topicPartition]struct{}, at int64) (map[topicPartition]int64, error) {
	work := map[int32][]topicPartition{}
	for tp := range wanted {
		if leader, ok := led[tp.topic][tp.partition]; ok {
			work[leader] = append(work[leader], tp)
		}
	}
	var mu sync.Mutex
	out := map[topicPartition]int64{}
	errs := each(work, func(broker int32, all []topicPartition) error {
		slices.SortFunc(all, compareTopicPartitions)
		for part := range slices.Chunk(all, 5000) {
			answer, err := c.ask(ctx, broker, listOffsetsRequest(part, at))
			if err != nil {
				return err
			}
			mu.Lock()
			for _, t := range answer.(*kmsg.ListOffsetsResponse).Topics {
				for _, p := range t.Partitions {
					if p.ErrorCode == 0 {
						out[topicPartition{t.Topic, p.Partition}] = p.Offset
					}
				}
			}
			mu.Unlock()
		}
		return nil
	})
	for _, err := range errs {
		return out, err
	}
	return out, nil
}

// Kafka's special times of ListOffsets.
const (
	latest   = -1
	earliest = -2
)

func listOffsetsRequest(sorted []topicPartition, at int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	for _, tp := range sorted {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != tp.topic {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = tp.topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = tp.partition, at
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	return req
}

func compareTopicPartitions(a, b topicPartition) int {
	switch {
	case a.topic < b.topic:
		return -1
	case a.topic > b.topic:
		return 1
	default:
		return int(a.partition) - int(b.partition)
	}
}
