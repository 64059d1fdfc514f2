package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// Load implements Log.
func (d *Disk) Load(id int32, take func([]core.Record) error) (loaded Loaded, err error) {
	var refused error
	hand := func(records []core.Record) error {
		loaded.Records += len(records)
		refused = take(records)
		return refused
	}
	var records []core.Record
	_, err = d.read(id, func(r record.Raw) error {
		r.Value = bytes.Clone(r.Value) // what becomes of it points into it
		known, ok, err := r.Record()
		if err != nil {
			return err
		}
		if !ok {
			loaded.Unknown++
			return nil
		}
		if records = append(records, known); len(records) < loadTogether {
			return nil
		}
		full := records
		records = nil
		return hand(full)
	})
	if err == nil && len(records) > 0 {
		err = hand(records)
	}
	if refused != nil {
		return loaded, refused
	}
	return loaded, err
}

// read goes through a partition, and returns the position after its last record. What cannot be read is named. The bytes of a record are good until
// each returns.
func (d *Disk) read(id int32, each func(record.Raw) error) (next int64, err error) {
	if err := d.settle(); err != nil {
		return 0, err
	}
	it, err := d.db.NewIter(d.bounds(id))
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := it.Close(); err == nil { // it says the same again
			err = closed
		}
	}()
	damaged := func(position int64, err error) error {
		return mended(fmt.Errorf("%s: %w: __consumer_offsets-%d at position %d: %s", d.options.Dir, ErrDamaged, id, position, firstLine(err)))
	}
	for it.First(); it.Valid(); it.Next() {
		at := int64(binary.BigEndian.Uint64(it.Key()[len(it.Key())-8:]))
		value, err := it.ValueAndErr()
		if err != nil {
			return next, damaged(at, err)
		}
		if err := record.ReadBatches(value, func(r record.Raw) error {
			if r.Position < max(at, next) {
				return fmt.Errorf("a record says that its position is %d", r.Position)
			}
			next = r.Position + 1
			return each(r)
		}); err != nil {
			return next, damaged(at, err)
		}
	}
	if err := it.Error(); err != nil {
		return next, damaged(next, err)
	}
	return next, nil
}
