package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// What keys in pebble begin with.
const (
	recordKey  = 'r' // and partition and position: a batch
	nextKey    = 'n' // and partition: the position after the last record that compaction has met
	commitsKey = 'c' // how many commits there have been
)

// maxTogether bounds what becomes one commit, in bytes.
const maxTogether = 4 << 20

type pending struct {
	partition int32
	write     core.Append
	done      func(error)
}

// partition is what is known of a partition that has been written to since the log was opened.
type partition struct {
	next       int64 // position
	dirty      int   // records since the last compaction
	left       int   // records that it left
	compacting bool
}

func partitionKey(kind byte, id int32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, uint32(id))
}

func positionKey(id int32, position int64) []byte { return appendPositionKey(nil, id, position) }

func appendPositionKey(dst []byte, id int32, position int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(append(dst, recordKey), uint32(id)), uint64(position))
}

// Append implements Log. Where nobody else commits under OS it does so itself; else it does not wait.
func (d *Disk) Append(id int32, w core.Append, done func(error)) {
	d.mu.Lock()
	err := d.failed
	if d.closed {
		err = errClosed
	}
	if err != nil {
		d.mu.Unlock()
		done(err)
		return
	}
	if d.journal != nil && len(d.queue) == 0 && d.committing.TryLock() {
		d.inline = true
		d.work.Add(1)
		d.mu.Unlock()
		d.commitInline(pending{id, w, done})
		return
	}
	d.queue = append(d.queue, pending{id, w, done})
	if !d.inline {
		d.wake.Signal()
	}
	d.mu.Unlock()
}

// commitInline commits in the goroutine that brings the write, without a change of goroutines, and then, once, what others have brought meanwhile.
func (d *Disk) commitInline(p pending) {
	defer d.work.Done()
	d.own[0] = p
	d.commitAll(d.own[:], nil)
	d.own[0] = pending{}
	d.mu.Lock()
	together, err := d.take()
	d.mu.Unlock()
	d.commitAll(together, err)
	d.committing.Unlock()
	d.mu.Lock()
	d.inline = false
	if len(d.queue) > 0 {
		d.wake.Signal()
	}
	d.mu.Unlock()
}

// write commits what has come in since its last commit, together.
func (d *Disk) write() {
	for {
		d.mu.Lock()
		for len(d.queue) == 0 && !d.closed {
			d.wake.Wait()
		}
		d.mu.Unlock()
		d.committing.Lock()
		d.mu.Lock()
		d.gather()
		together, err := d.take()
		last := d.closed && len(together) == 0
		d.mu.Unlock()
		d.commitAll(together, err)
		d.committing.Unlock()
		if last {
			return
		}
	}
}

// take is what waits to be written, and why it cannot be.
func (d *Disk) take() ([]pending, error) {
	together := d.queue
	d.queue = nil
	return together, d.failed
}

// commitAll commits what has come together, and tells its end: in its order, so before anything else is committed.
func (d *Disk) commitAll(together []pending, err error) {
	for len(together) > 0 {
		n := len(together)
		if err == nil {
			n, err = d.commit(together)
		}
		for _, p := range together[:n] {
			p.done(err)
		}
		together = together[n:]
	}
}

// gather lets those who are about to write as well do so, for as long as there are some: a commit costs about the same for many as for one.
func (d *Disk) gather() {
	for n := 0; len(d.queue) > n; {
		n = len(d.queue)
		d.mu.Unlock()
		runtime.Gosched()
		d.mu.Lock()
	}
}

// commit writes the first of what has come in, as many as may be together, in one commit: each is whole, since it is one value.
func (d *Disk) commit(together []pending) (n int, err error) {
	defer func() {
		if p := recover(); p != nil { // so pebble reports some failures of the disk
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			d.fail(err)
			err = d.failure()
			n = len(together)
		}
	}()
	now := time.Now().UnixMilli()
	b := d.db.NewBatch()
	for ; n < len(together) && (n == 0 || b.Len() < maxTogether); n++ {
		if err := d.put(b, together[n], now); err != nil {
			return n, err
		}
	}
	d.mu.Lock()
	commits := d.commits + 1
	d.mu.Unlock()
	if d.journal != nil {
		err = d.journaled(b, commits)
	} else {
		err = d.inPebble(b, commits)
	}
	if err != nil {
		return n, err
	}
	d.compactAfter(together[:n])
	return n, b.Close()
}

// inPebble makes a batch a commit of Pebble, synced.
func (d *Disk) inPebble(b *pebble.Batch, commit uint64) error {
	if err := d.count(b, commit); err != nil {
		return err
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return err
	}
	if err := d.failure(); err != nil { // which pebble has not been told of, or has only told its logger
		return err
	}
	d.mu.Lock()
	d.commits = commit
	d.mu.Unlock()
	return nil
}

func (d *Disk) put(b *pebble.Batch, p pending, now int64) error {
	part, err := d.partition(p.partition)
	if err != nil {
		return err
	}
	raws := d.records.Raws(p.write, part.next)
	if d.value, err = record.AppendBatch(d.value[:0], raws, now); err != nil {
		return err
	}
	part.next += int64(len(raws))
	d.key = appendPositionKey(d.key[:0], p.partition, raws[0].Position)
	err = b.Set(d.key, d.value, nil)
	if cap(d.value) > maxTogether/4 {
		d.value = nil
	}
	return err
}

// partition finds out where a partition ends, once. Only the writer asks.
func (d *Disk) partition(id int32) (*partition, error) {
	d.mu.Lock()
	p := d.partitions[id]
	d.mu.Unlock()
	if p != nil {
		return p, nil
	}
	next, err := d.number(partitionKey(nextKey, id))
	if err != nil {
		return nil, err
	}
	p = &partition{next: int64(next)}
	it, err := d.db.NewIter(d.bounds(id))
	if err != nil {
		return nil, err
	}
	if it.Last() {
		value, err := it.ValueAndErr()
		if err == nil {
			err = record.ReadBatches(value, func(r record.Raw) error { p.next = max(p.next, r.Position+1); return nil })
		}
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
	}
	if err := it.Close(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.partitions[id] = p
	d.mu.Unlock()
	return p, nil
}

func (d *Disk) bounds(id int32) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: positionKey(id, 0), UpperBound: partitionKey(recordKey, id+1)}
}

func (d *Disk) number(key []byte) (uint64, error) { return number(d.db, key) }

// number reads a number, 0 where there is none.
func number(db *pebble.DB, key []byte) (uint64, error) {
	value, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	if len(value) != 8 {
		return 0, fmt.Errorf("%w: key %q has %d bytes, 8 are a number", ErrDamaged, key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}
