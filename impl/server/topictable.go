package server

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/semaphore"
)

// topicTable is what the coordinators of groups have to know of topics, which are kfake's. It is read anew after each request that may have
// changed them, before that is answered.
type topicTable struct {
	backing *backing
	mu      sync.Mutex // one that reads anew at a time, so that the last one has the last word
	known   atomic.Pointer[topicNames]
	going   *semaphore.Weighted // held as a whole by who deletes topics, and shared by those that need them to stay
}

func newTopicTable(b *backing) *topicTable {
	return &topicTable{backing: b, going: semaphore.NewWeighted(math.MaxInt64)}
}

// exclude waits until no topic can go while the request is done, if it is one that needs that, or until no such request is done, if it lets topics go. It returns what ends that.
func (t *topicTable) exclude(req kmsg.Request) (end func()) {
	var share int64
	switch req := req.(type) {
	case *kmsg.DeleteTopicsRequest:
		share = math.MaxInt64
	case *kmsg.ProduceRequest:
		if severalByID(req) {
			share = 1
		}
	}
	if share == 0 {
		return func() {}
	}
	_ = t.going.Acquire(context.Background(), share) // which cannot fail
	return func() { t.going.Release(share) }
}

type topicNames struct {
	byName map[string]topic
	byID   map[[16]byte]string

	partitions int   // of all topics together
	controller int32 // the node that makes topics
}

// refresh reads the topics and returns the names of those that are gone since the last time.
func (t *topicTable) refresh() (gone []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := kmsg.NewPtrMetadataRequest()
	req.Version, req.Topics = t.backing.offered[kmsg.Metadata].Max, nil
	resp, err := t.backing.ask(0, req)
	if err != nil {
		return nil, fmt.Errorf("reading the topics: %w", err)
	}
	m := resp.(*kmsg.MetadataResponse)
	now := &topicNames{byName: map[string]topic{}, byID: map[[16]byte]string{}, controller: m.ControllerID}
	for _, rt := range m.Topics {
		if rt.Topic != nil && rt.ErrorCode == 0 {
			now.byName[*rt.Topic] = topic{id: rt.TopicID, partitions: int32(len(rt.Partitions))}
			now.byID[rt.TopicID] = *rt.Topic
			now.partitions += len(rt.Partitions)
		}
	}
	if before := t.known.Swap(now); before != nil {
		for id, name := range before.byID {
			if _, still := now.byID[id]; !still {
				gone = append(gone, name)
			}
		}
	}
	return gone, nil
}

func (t *topicTable) exists(name string, partition int32) bool {
	known, ok := t.known.Load().byName[name]
	return ok && partition >= 0 && partition < known.partitions
}

func (t *topicTable) name(id [16]byte) (string, bool) {
	name, ok := t.known.Load().byID[id]
	return name, ok
}

func (t *topicTable) id(name string) ([16]byte, bool) {
	known, ok := t.known.Load().byName[name]
	return known.id, ok
}

// makeTopics makes those that are asked for by name and are not there, as a broker does that makes topics by itself. kfake does that too, but writes such a
// topic into its folder only when it ends in good order: after the end of the process there would be neither the topic nor its records. What it is told to make
// is written at once. With a topic that it does not make so it does what it likes when it is asked for it.
func (c *Cluster) makeTopics(asked []kmsg.MetadataRequestTopic) error {
	known := c.topics.known.Load()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = c.backing.offered[kmsg.CreateTopics].Max
	named := map[string]bool{}
	for _, t := range asked {
		if t.Topic == nil || illegal(t) || named[*t.Topic] {
			continue
		}
		if _, there := known.byName[*t.Topic]; there {
			continue
		}
		named[*t.Topic] = true
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = *t.Topic, -1, -1 // the defaults
		req.Topics = append(req.Topics, rt)
	}
	if len(req.Topics) == 0 {
		return nil
	}
	_, err := c.backing.ask(known.controller, req)
	return err
}
