package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/internal/anomaly"
)

const offsetsTopic = "__consumer_offsets"

// Bounds of one Fetch. What is decoded at a time stays a small multiple of them.
const (
	fetchBytes          = 6 << 20
	fetchPartitionBytes = 1 << 20
	tailFetches         = 4 // a look: who writes faster than that is read later, and known to be behind
)

// errUntold is a partition of which not even the offsets are known.
var errUntold = errors.New("its offsets are not told")

// history is what the log says of a group.
type history struct {
	generations []anomaly.Generation // not yet handed to the watch
	assigned    map[string][]byte    // of the last generation
	known       bool                 // a record of the group itself was read
	lastCommit  time.Time
	recent      map[topicPartition]struct{} // committed since the last look
	removed     bool                        // the group was deleted; what is older is another group's
}

// logPartition is a partition of __consumer_offsets.
type logPartition struct {
	leader         int32
	earliest, next int64     // next: where the tail is read on
	lo             int64     // everything from here on has been read
	oldest         time.Time // of what has been read
	caughtUp       bool
	err            error
}

// groupLog reads __consumer_offsets by plain Fetch.
type groupLog struct {
	c          *cluster
	partitions map[int32]*logPartition
	count      int32 // of partitions, led or not
	groups     map[string]*history
	brokerNow  time.Time // the latest time in the log

	bytes   int64
	whole   bool // everything down to the beginning has been read, or all that is wanted
	refused error
}

// openLog finds the partitions and their ends. An error says why the log cannot be read.
func openLog(ctx context.Context, c *cluster) (*groupLog, error) {
	l := &groupLog{c: c, partitions: map[int32]*logPartition{}, groups: map[string]*history{}}
	led, bad, err := c.leaders(ctx, []string{offsetsTopic})
	if err == nil {
		err = bad[offsetsTopic]
	}
	if err != nil {
		return nil, err
	}
	wanted := map[topicPartition]struct{}{}
	for p, leader := range led[offsetsTopic] {
		l.partitions[p] = &logPartition{leader: leader}
		l.count = max(l.count, p+1)
		wanted[topicPartition{offsetsTopic, p}] = struct{}{}
	}
	if l.count == 0 {
		return nil, errors.New("it has no partition with a leader")
	}
	begins, err := c.offsetsAt(ctx, led, wanted, earliest)
	if err != nil {
		return nil, err
	}
	ends, err := c.offsetsAt(ctx, led, wanted, latest)
	if err != nil {
		return nil, err
	}
	for p, lp := range l.partitions {
		tp := topicPartition{offsetsTopic, p}
		end, ok := ends[tp]
		begin, ok2 := begins[tp]
		if !ok || !ok2 {
			lp.err = errUntold
			continue
		}
		lp.earliest, lp.next, lp.lo = begin, end, end
	}
	return l, nil
}

// readBack reads from the ends backwards, in chunks that grow, until a record of every group itself is found and a while of the recent past
// is covered, or the bounds are reached.
func (l *groupLog) readBack(ctx context.Context, wanted map[string]struct{}, recent time.Duration, limit int64, until time.Time) error {
	byPartition := map[int32][]string{}
	for g := range wanted {
		p := partitionOf(g, l.count)
		byPartition[p] = append(byPartition[p], g)
	}
	satisfied := func(p int32) bool {
		lp := l.partitions[p]
		if lp.err != nil || lp.lo <= lp.earliest {
			return true
		}
		if lp.oldest.IsZero() || l.brokerNow.Sub(lp.oldest) < recent && len(byPartition[p]) > 0 {
			return false
		}
		for _, g := range byPartition[p] {
			if h := l.groups[g]; h == nil || !h.known {
				return false
			}
		}
		return true
	}
	for chunk := int64(2000); ; chunk *= 4 {
		ranges := map[int32]*fetchRange{}
		for p, lp := range l.partitions {
			if !satisfied(p) {
				ranges[p] = &fetchRange{from: max(lp.earliest, lp.lo-chunk), to: lp.lo}
			}
		}
		if len(ranges) == 0 {
			l.whole = true
			return nil
		}
		if l.bytes >= limit || time.Now().After(until) {
			return nil
		}
		if err := l.readChunk(ctx, ranges, limit, until); err != nil {
			return err
		}
	}
}

// readChunk reads ranges that lie before all that has been read. One that a bound cuts short is given up whole, because its newer part
// is missing.
func (l *groupLog) readChunk(ctx context.Context, ranges map[int32]*fetchRange, limit int64, until time.Time) error {
	begin := map[int32]int64{}
	older := map[int32]map[string]*history{}
	for p, r := range ranges {
		begin[p], older[p] = r.from, map[string]*history{}
	}
	err := l.fetch(ctx, ranges, func(p int32, e entry) { take(older[p], e) }, func() bool { return l.bytes < limit && time.Now().Before(until) })
	for p, r := range ranges {
		if r.err != nil {
			l.partitions[p].err = r.err
			l.refused = r.err
		}
		if r.from < r.to {
			continue
		}
		l.partitions[p].lo = begin[p]
		if !r.first.IsZero() {
			l.partitions[p].oldest = r.first
		}
		for name, h := range older[p] {
			l.prepend(name, h)
		}
	}
	return err
}

// prepend puts what was read of a group before what is known of it.
func (l *groupLog) prepend(name string, older *history) {
	newer := l.groups[name]
	if newer != nil && newer.removed {
		return
	}
	if newer == nil {
		older.recent = nil
		l.groups[name] = older
		return
	}
	if !newer.known {
		newer.assigned, newer.known = older.assigned, older.known
	}
	newer.generations = append(older.generations, newer.generations...)
	newer.removed = older.removed
	if newer.lastCommit.IsZero() {
		newer.lastCommit = older.lastCommit
	}
}

// readTail reads on from where the log ended at the last look.
func (l *groupLog) readTail(ctx context.Context) error {
	if err := l.relocate(ctx); err != nil {
		return err
	}
	ranges := map[int32]*fetchRange{}
	for p, lp := range l.partitions {
		if lp.err == nil {
			ranges[p] = &fetchRange{from: lp.next, to: endless}
			lp.caughtUp = false
		}
	}
	fetches := 0
	err := l.fetch(ctx, ranges, func(_ int32, e entry) { take(l.groups, e) }, func() bool { fetches++; return fetches <= tailFetches })
	for p, r := range ranges {
		lp := l.partitions[p]
		lp.next, lp.caughtUp = r.from, r.caughtUp
		if r.err != nil {
			lp.err, l.refused = r.err, r.err
		}
	}
	return err
}

// relocate finds partitions again that could not be read at the last look: leaders move, and brokers restart. Whatever was forbidden
// stays so.
func (l *groupLog) relocate(ctx context.Context) error {
	lost := func(lp *logPartition) bool {
		return lp.err != nil && !errors.Is(lp.err, kerr.TopicAuthorizationFailed) && !errors.Is(lp.err, errUntold)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(l.partitions)), lost) {
		return nil
	}
	led, _, err := l.c.leaders(ctx, []string{offsetsTopic})
	if err != nil {
		return err
	}
	for p, leader := range led[offsetsTopic] {
		if lp := l.partitions[p]; lp != nil && lost(lp) {
			lp.leader, lp.err = leader, nil
		}
	}
	return nil
}

// covers reports whether all that a group wrote since the first look has been read.
func (l *groupLog) covers(group string) bool {
	if l == nil {
		return false
	}
	lp := l.partitions[partitionOf(group, l.count)]
	return lp != nil && lp.err == nil && lp.caughtUp
}

// take adds what a record says to the group's history; the record is newer than all before it.
func take(groups map[string]*history, e entry) {
	h := groups[e.group]
	if h == nil {
		h = &history{recent: map[topicPartition]struct{}{}}
		groups[e.group] = h
	}
	switch {
	case e.removed:
		groups[e.group] = &history{known: true, removed: true, recent: map[topicPartition]struct{}{}}
	case e.generation != nil:
		h.generations = append(h.generations, *e.generation)
		const kept = 32
		if n := len(h.generations); n > kept {
			h.generations = append([]anomaly.Generation(nil), h.generations[n-kept:]...)
		}
		h.assigned, h.known = e.assigned, true
	case e.commit:
		if e.at.After(h.lastCommit) {
			h.lastCommit = e.at
		}
		if h.recent == nil {
			h.recent = map[topicPartition]struct{}{}
		}
		h.recent[e.topicPartition] = struct{}{}
	}
}

// endless is the end of a range that goes on to the end of the log.
const endless = int64(1) << 62

// fetchRange is what is to be read of a partition; from moves on.
type fetchRange struct {
	from, to int64
	caughtUp bool      // from has reached the end of the log
	first    time.Time // of the first record read
	err      error
}

func (r *fetchRange) done() bool { return r.err != nil || r.caughtUp || r.from >= r.to }

// fetch reads ranges, in rounds of one request for each leader, for as long as it may.
func (l *groupLog) fetch(ctx context.Context, ranges map[int32]*fetchRange, take func(int32, entry), may func() bool) error {
	for {
		work := map[int32]map[int32]*fetchRange{}
		for p, r := range ranges {
			if !r.done() {
				leader := l.partitions[p].leader
				if work[leader] == nil {
					work[leader] = map[int32]*fetchRange{}
				}
				work[leader][p] = r
			}
		}
		if len(work) == 0 || !may() {
			return nil
		}
		for leader, part := range work { // one after the other: an answer may be large
			if err := l.fetchOnce(ctx, leader, part, take); err != nil {
				for _, r := range part {
					r.err = fmt.Errorf("broker %d: %w", leader, err)
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
	}
}

func (l *groupLog) fetchOnce(ctx context.Context, leader int32, ranges map[int32]*fetchRange, take func(int32, entry)) error {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = -1, 0, 0, fetchBytes
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic = offsetsTopic
	for p, r := range ranges { // in any order: a large answer leaves the last ones out, and not always the same
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = p, r.from, fetchPartitionBytes
		topic.Partitions = append(topic.Partitions, rp)
	}
	req.Topics = append(req.Topics, topic)
	answer, err := l.c.ask(ctx, leader, req)
	if err != nil {
		return err
	}
	resp := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			rp := &resp.Topics[i].Partitions[j]
			if r := ranges[rp.Partition]; r != nil {
				l.readPartition(rp, r, take)
			}
		}
	}
	return nil
}

func (l *groupLog) readPartition(rp *kmsg.FetchResponseTopicPartition, r *fetchRange, take func(int32, entry)) {
	if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
		r.err = err
		return
	}
	l.bytes += int64(len(rp.RecordBatches))
	fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: r.from, Topic: offsetsTopic, Partition: rp.Partition}, rp, kgo.DefaultDecompressor(), nil)
	for _, record := range fetched.Records {
		if record.Offset >= r.to {
			break
		}
		if r.first.IsZero() {
			r.first = record.Timestamp
		}
		if record.Timestamp.After(l.brokerNow) {
			l.brokerNow = record.Timestamp
		}
		if e, ok := readRecord(record); ok {
			take(rp.Partition, e)
		}
	}
	switch {
	case next > r.from:
		r.from = next
	case fetched.Err != nil:
		r.err = fetched.Err
	case r.from >= rp.HighWatermark:
		r.caughtUp = true
	case len(rp.RecordBatches) > 0:
		r.err = fmt.Errorf("a batch at offset %d cannot be read", r.from)
	}
	if r.from >= rp.HighWatermark {
		r.caughtUp = true
	}
}
