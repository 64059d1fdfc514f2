package store_test

import (
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

func count(t *testing.T, l store.Log) int {
	t.Helper()
	n, err := l.Load(0, func([]core.Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n.Records
}

// However much is written, a log has little more than what is left of it, and positions go on where nothing is left.
func TestCompaction(t *testing.T) {
	fs := vfs.NewMem()
	every := func(o *store.Options) { o.CompactAfter = 50 }
	l := open(t, fs, every)
	for n := range 1000 {
		if err := put(l, committed(n%10)); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, l) // waits for compactions
	l = open(t, fs, every)
	if n := count(t, l); n < 10 || n >= 1000 { // what came while one went on waits for the next
		t.Errorf("of ten offsets that were written 1000 times %d records are left", n)
	}
	for n := range 50 { // one more compaction
		if err := put(l, committed(n%10)); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, l)
	l = open(t, fs, every)
	if n := count(t, l); n != 10 {
		t.Errorf("of ten offsets %d records are left by a compaction after which nothing was written", n)
	}
	tombstones := func(times int) {
		t.Helper()
		for n := range times {
			w := committed(n % 10)
			w.Records[0].Kind, w.Records[0].Offset = core.OffsetTombstone, nil
			if err := put(l, w); err != nil {
				t.Fatal(err)
			}
		}
	}
	tombstones(100) // the last that is left is no record
	shut(t, l)
	l = open(t, fs, every)
	tombstones(50) // one more compaction: it takes them all
	shut(t, l)
	l = open(t, fs, every)
	if n := count(t, l); n > 0 {
		t.Errorf("of ten offsets that are gone %d records are left", n)
	}
	if err := put(l, committed(1)); err != nil {
		t.Fatal(err)
	}
	shut(t, l)
	db, err := pebble.Open(dir, &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{'r'}, UpperBound: []byte{'s'}})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if !it.First() || binary.BigEndian.Uint64(it.Key()[5:]) != 1200 {
		t.Errorf("the record after 1200 others is at key %x", it.Key())
	}
}

// quiet keeps pebble from telling what it does.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}
