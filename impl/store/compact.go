package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/muster-kafka/muster/impl/record"
)

// compactAfter starts the compaction of what has grown: once as much has come in as was left, and no less than Options.CompactAfter. So
// a log has at most about twice as many records as are needed, and compaction takes a fixed part of the time that writing takes.
func (d *Disk) compactAfter(written []pending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range written {
		p := d.partitions[w.partition]
		p.dirty += len(w.write.Records)
		if p.compacting || p.dirty < max(d.options.CompactAfter, p.left) {
			continue
		}
		p.compacting, p.dirty = true, 0
		d.work.Go(func() {
			left, err := d.compact(w.partition)
			d.mu.Lock()
			p.compacting, p.left = false, left
			d.mu.Unlock()
			if err != nil {
				d.options.Report(fmt.Errorf("%s: __consumer_offsets-%d was not compacted: %w; it grows until it is", d.options.Dir, w.partition, err))
			}
		})
	}
}

// changedTogether bounds the batches that changes are made in, in bytes.
const changedTogether = 1 << 20

// compact keeps the last record of each key, without what transactions have dropped: after it, a load gives what it gave before. It
// may be interrupted anywhere, since a record goes after those that it replaces, and a marker after the records that it is about.
func (d *Disk) compact(id int32) (left int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	var log record.Log
	present := []byte{}
	next, err := d.read(id, func(r record.Raw) error {
		if r.Value != nil {
			r.Value = present // its place is enough
		}
		log.Take(r) // of whose bytes it keeps none that are looked at
		return nil
	})
	if err != nil {
		return 0, err
	}
	kept := map[int64]record.Stored{}
	for _, s := range log.Records() {
		kept[s.Position] = s
	}
	c := &changes{d.db, d.db.NewBatch()}
	// First, so that it is there once the records are gone that tell it.
	if err := c.set(partitionKey(nextKey, id), binary.BigEndian.AppendUint64(nil, uint64(next))); err != nil {
		return 0, err
	}
	if err := d.rewrite(id, next, kept, c); err != nil {
		return 0, err
	}
	return len(kept), c.commit()
}

// rewrite changes the batches before a position, in their order.
func (d *Disk) rewrite(id int32, until int64, kept map[int64]record.Stored, c *changes) error {
	bounds := d.bounds(id)
	bounds.UpperBound = positionKey(id, until)
	it, err := d.db.NewIter(bounds)
	if err != nil {
		return err
	}
	defer it.Close()
	var gone run
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		left, changed, err := remains(value, kept)
		if err != nil {
			return err
		}
		if changed && len(left) == 0 {
			gone.take(it.Key())
			continue
		}
		if err := gone.end(it.Key(), c); err != nil {
			return err
		}
		if !changed {
			continue
		}
		key := bytes.Clone(it.Key())
		if value, err = record.AppendBatch(nil, left, record.Millis(value)); err != nil {
			return err
		}
		if err := c.set(key, value); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return err
	}
	return gone.end(bounds.UpperBound, c)
}

// remains is what is kept of a batch, if that is not all of it as it is. Most are gone, or stay, as a whole, and are not read for it.
func remains(batch []byte, kept map[int64]record.Stored) (left []record.Raw, changed bool, err error) {
	if first, last, ok := record.Plain(batch); ok {
		n := int64(0)
		for at := first; at <= last; at++ {
			if _, stays := kept[at]; stays {
				n++
			}
		}
		if n == 0 || n == last-first+1 {
			return nil, n == 0, nil
		}
	}
	err = record.ReadBatches(batch, func(r record.Raw) error {
		s, ok := kept[r.Position]
		if changed = changed || !ok || r.Producer != nil && s.Producer == nil; ok {
			r.Producer = s.Producer // nil once its transaction is committed
			left = append(left, r)
		}
		return nil
	})
	return left, changed, err
}

// run is batches that follow each other and are gone.
type run struct {
	first []byte
	keys  int
}

func (r *run) take(key []byte) {
	if r.keys++; r.keys == 1 {
		r.first = bytes.Clone(key)
	}
}

// end removes them, all in one go: they end before a key.
func (r *run) end(key []byte, c *changes) error {
	first, keys := r.first, r.keys
	switch *r = (run{}); keys {
	case 0:
		return nil
	case 1:
		return c.made(c.batch.Delete(first, nil))
	default:
		return c.made(c.batch.DeleteRange(first, key, nil))
	}
}

// changes are what a compaction changes, in batches of changedTogether.
type changes struct {
	db    *pebble.DB
	batch *pebble.Batch
}

func (c *changes) set(key, value []byte) error { return c.made(c.batch.Set(key, value, nil)) }

// made goes on after a change.
func (c *changes) made(err error) error {
	if err != nil || c.batch.Len() < changedTogether {
		return err
	}
	return c.commit()
}

// commit need not be synced: what is lost of a compaction is made again.
func (c *changes) commit() error {
	err := c.batch.Commit(pebble.NoSync)
	c.batch = c.db.NewBatch()
	return err
}
