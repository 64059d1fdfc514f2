package server

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicTable is what the coordinators of groups have to know of topics, which are kfake's. It is read anew after each request that may have
// changed them, before that is answered.
type topicTable struct {
	backing *backing
	mu      sync.Mutex // one that reads anew at a time, so that the last one has the last word
	known   atomic.Pointer[topicNames]
}

type topicNames struct {
	byName map[string]topic
	byID   map[[16]byte]string

	partitions int // of all topics together
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
	now := &topicNames{byName: map[string]topic{}, byID: map[[16]byte]string{}}
	for _, rt := range resp.(*kmsg.MetadataResponse).Topics {
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
