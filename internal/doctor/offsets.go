package doctor

import (
	"context"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetchBatch is how many groups go into one OffsetFetch, from Kafka 3.0 on.
const fetchBatch = 200

// committed asks for all committed offsets of groups. Before Kafka 3.0 a request is for one group, so only the first few that are
// urgent are asked for; skipped counts the others.
func (c *cluster) committed(ctx context.Context, groups map[string]int32, urgent func(string) bool) (map[string]map[topicPartition]int64, int, map[int32]error) {
	const single = 40 // two seconds' worth of requests
	work := map[int32][]string{}
	for g, broker := range groups {
		work[broker] = append(work[broker], g)
	}
	var mu sync.Mutex
	out := map[string]map[topicPartition]int64{}
	skipped := 0
	errs := each(work, func(broker int32, all []string) error {
		version, err := c.offers(ctx, broker, kmsg.OffsetFetch)
		if err != nil {
			return err
		}
		slices.Sort(all)
		size := fetchBatch
		if version < 8 {
			asked := slices.DeleteFunc(slices.Clone(all), func(g string) bool { return !urgent(g) })
			asked = asked[:min(len(asked), single)]
			mu.Lock()
			skipped += len(all) - len(asked)
			mu.Unlock()
			all, size = asked, 1
		}
		for part := range slices.Chunk(all, size) {
			answer, err := c.ask(ctx, broker, offsetFetchRequest(part))
			if err != nil {
				return err
			}
			mu.Lock()
			readOffsets(answer.(*kmsg.OffsetFetchResponse), part[0], out)
			mu.Unlock()
		}
		return nil
	})
	return out, skipped, errs
}

// offsetFetchRequest is filled in for both forms; the version decides which one is sent.
func offsetFetchRequest(groups []string) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = groups[0]
	for _, g := range groups {
		rg := kmsg.NewOffsetFetchRequestGroup()
		rg.Group = g
		req.Groups = append(req.Groups, rg)
	}
	return req
}

func readOffsets(resp *kmsg.OffsetFetchResponse, single string, out map[string]map[topicPartition]int64) {
	if len(resp.Groups) == 0 {
		if resp.ErrorCode != 0 {
			return
		}
		offsets := map[topicPartition]int64{}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 && p.Offset >= 0 {
					offsets[topicPartition{t.Topic, p.Partition}] = p.Offset
				}
			}
		}
		out[single] = offsets
		return
	}
	for _, g := range resp.Groups {
		if kerr.ErrorForCode(g.ErrorCode) != nil {
			continue
		}
		offsets := map[topicPartition]int64{}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 && p.Offset >= 0 {
					offsets[topicPartition{t.Topic, p.Partition}] = p.Offset
				}
			}
		}
		out[g.Group] = offsets
	}
}
