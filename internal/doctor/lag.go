package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/muster-kafka/muster/internal/anomaly"
)

// lookAtOffsets finds how far the groups are behind: all of them where requests can be batched, else those that have no member.
func (e *examination) lookAtOffsets(ctx context.Context) {
	ask := map[string]int32{}
	for name, p := range e.groups {
		if p.notJudged == "" && e.refused[name] == "" {
			ask[name] = p.listed.coordinator
		}
	}
	e.offsetsAt = time.Now()
	again := func() { e.offsetsAt = time.Time{} } // at the next look
	committed, skipped, failed := e.c.committed(ctx, ask, func(name string) bool {
		p := e.groups[name]
		return p.listed.state == string(anomaly.Empty) || p.listed.state == ""
	})
	for broker, err := range failed {
		again()
		if ctx.Err() == nil {
			e.note(fmt.Sprintf("broker %d did not tell the offsets of its groups: %v", broker, err))
		}
	}
	if skipped > 0 {
		e.note(fmt.Sprintf("the offsets of %d groups were not asked for: before Kafka 3.0 each takes a request of its own, and groups without members come first", skipped))
	}
	wanted, topics := map[topicPartition]struct{}{}, map[string]struct{}{}
	for _, offsets := range committed {
		for tp := range offsets {
			wanted[tp] = struct{}{}
			topics[tp.topic] = struct{}{}
		}
	}
	if len(wanted) == 0 {
		return
	}
	led, _, err := e.c.leaders(ctx, slices.Sorted(maps.Keys(topics)))
	if err != nil {
		again()
		e.note(fmt.Sprintf("the ends of the partitions are not known: %v", err))
		return
	}
	ends, err := e.c.offsetsAt(ctx, led, wanted, latest)
	if err != nil {
		again()
		e.note(fmt.Sprintf("the ends of some partitions are not known: %v", err))
	}
	for tp := range wanted {
		if _, ok := ends[tp]; !ok && led[tp.topic] != nil {
			again() // it has no leader at the moment
			break
		}
	}
	e.led, e.ends = led, ends
	for name, offsets := range committed {
		e.groups[name].lag = lagOf(offsets, ends)
	}
	e.askAges(ctx, committed)
}

func lagOf(committed, ends map[topicPartition]int64) *anomaly.Lag {
	lag := &anomaly.Lag{}
	for tp, offset := range committed {
		end, ok := ends[tp]
		if !ok {
			continue // the topic is gone, or may not be seen
		}
		lag.Partitions = append(lag.Partitions, anomaly.PartitionLag{Topic: tp.topic, Partition: tp.partition, Committed: offset, End: end})
		lag.Total += max(0, end-offset)
	}
	slices.SortFunc(lag.Partitions, func(a, b anomaly.PartitionLag) int {
		return compareTopicPartitions(topicPartition{a.Topic, a.Partition}, topicPartition{b.Topic, b.Partition})
	})
	return lag
}

// askAges finds out, for groups without members of which the log tells nothing, whether unread records are old. The records' own times
// say so: at the offset of the first record that is younger, everything before it is older.
func (e *examination) askAges(ctx context.Context, committed map[string]map[topicPartition]int64) {
	wanted := map[topicPartition]struct{}{}
	var groups []string
	for name, offsets := range committed {
		p := e.groups[name]
		if p.lag.Total < e.o.Settings.MinLag || p.listed.state != string(anomaly.Empty) && p.listed.state != "" {
			continue
		}
		if h := e.history(name); h != nil && (h.known || !h.lastCommit.IsZero()) {
			continue
		}
		groups = append(groups, name)
		for tp := range offsets {
			wanted[tp] = struct{}{}
		}
	}
	if len(wanted) == 0 {
		return
	}
	limit := e.o.Settings.Abandoned
	first, err := e.c.offsetsAt(ctx, e.led, wanted, time.Now().Add(-limit).UnixMilli())
	if err != nil {
		e.note(fmt.Sprintf("the ages of unread records are not known: %v", err))
		return
	}
	for _, name := range groups {
		for _, lag := range e.groups[name].lag.Partitions {
			younger, ok := first[topicPartition{lag.Topic, lag.Partition}]
			if ok && lag.End > lag.Committed && (younger < 0 || younger > lag.Committed) {
				e.groups[name].lag.Unread = limit
			}
		}
	}
}
