package store

import (
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

// deletedTogether bounds the batches in which compaction removes what is gone.
const deletedTogether = 1 << 20

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
		log.Take(r)
		return nil
	})
	if err != nil {
		return 0, err
	}
	kept := map[int64]record.Stored{}
	for _, s := range log.Records() {
		kept[s.Position] = s
	}
	b := d.db.NewBatch()
	// First, so that it is there once the records are gone that tell it.
	if err := b.Set(partitionKey(nextKey, id), binary.BigEndian.AppendUint64(nil, uint64(next)), nil); err != nil {
		return 0, err
	}
	flush := func() error {
		err := b.Commit(pebble.NoSync) // one that is lost is made again
		b = d.db.NewBatch()
		return err
	}
	err = d.rewrite(id, next, kept, func(key, value []byte) error {
		if value == nil {
			err = b.Delete(key, nil)
		} else {
			err = b.Set(key, value, nil)
		}
		if err != nil || b.Len() < deletedTogether {
			return err
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return len(kept), err
}

// rewrite tells what becomes of each batch before a position: nothing where no record of it is kept.
func (d *Disk) rewrite(id int32, until int64, kept map[int64]record.Stored, put func(key, value []byte) error) error {
	bounds := d.bounds(id)
	bounds.UpperBound = positionKey(id, until)
	it, err := d.db.NewIter(bounds)
	if err != nil {
		return err
	}
	defer it.Close()
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		var left []record.Raw
		changed := false
		if err := record.ReadBatches(value, func(r record.Raw) error {
			s, ok := kept[r.Position]
			if changed = changed || !ok || r.Producer != nil && s.Producer == nil; ok {
				r.Producer = s.Producer // nil once its transaction is committed
				left = append(left, r)
			}
			return nil
		}); err != nil {
			return err
		}
		key := append([]byte(nil), it.Key()...)
		switch {
		case len(left) == 0:
			err = put(key, nil)
		case changed:
			if value, err = record.AppendBatch(nil, left, int64(binary.BigEndian.Uint64(value[27:]))); err == nil {
				err = put(key, value)
			}
		}
		if err != nil {
			return err
		}
	}
	return it.Error()
}
