package record_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// Where a batch has what these tests change.
const (
	attributesAt = 22 // the lower byte
	countAt      = 60 // the lowest byte
	recordsAt    = 61
)

var some = []record.Raw{{Position: 7, Key: []byte("a"), Value: []byte("1")}, {Position: 8, Key: []byte("b")}, {Position: 9, Key: []byte("c"), Value: []byte{}}}

// sealed is a batch whose length and checksum are right again.
func sealed(b []byte) []byte {
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

func batchOf(t *testing.T, raws []record.Raw) []byte {
	t.Helper()
	b, err := record.AppendBatch(nil, raws, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(b []byte) (all []record.Raw, err error) {
	err = record.ReadBatches(b, func(r record.Raw) error { all = append(all, r); return nil })
	return all, err
}

// Brokers may have compressed what their producers sent, and the topic with the groups is no exception (offsets.topic.compression.codec).
func TestCompressed(t *testing.T) {
	plain := batchOf(t, some)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(plain[recordsAt:]); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b := append(bytes.Clone(plain[:recordsAt]), packed.Bytes()...)
	b[attributesAt] |= 1 // gzip
	got, err := read(sealed(b))
	if err != nil || !reflect.DeepEqual(got, some) {
		t.Errorf("read %v, %v", got, err)
	}
	if _, _, ok := record.Plain(b); ok {
		t.Error("a compressed batch is said to be plain")
	}
}

// What a batch says of itself has to be true.
func TestBatchUntrue(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(b []byte) []byte
	}{
		{"checksum", "crc", func(b []byte) []byte { b[len(b)-2] ^= 1; return b }},
		{"more records", "3 records, its header says 4", func(b []byte) []byte { b[countAt]++; return sealed(b) }},
		{"control without a producer", "without a producer", func(b []byte) []byte { b[attributesAt] |= 1 << 5; return sealed(b) }},
		{"control with a short key", "key of 1 bytes", func(b []byte) []byte { b[attributesAt] |= 1<<5 | 1<<4; return sealed(b) }},
		{"a record that is longer", "there are", func(b []byte) []byte { b[recordsAt] = 2 * 60; return sealed(b) }},
		{"an old format", "older than Kafka 0.11", func(b []byte) []byte { b[16] = 1; return b }},
		{"half a batch", "there are", func(b []byte) []byte { return b[:len(b)-1] }},
		{"half a head", "less than a batch", func(b []byte) []byte { return b[:recordsAt-1] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := read(c.change(batchOf(t, some))); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("read %v, %v; want an error with %q", got, err, c.want)
			}
		})
	}
}

// Plain is for batches of which the head says all.
func TestPlain(t *testing.T) {
	b := batchOf(t, some)
	if first, last, ok := record.Plain(b); first != 7 || last != 9 || !ok || record.Millis(b) != 1000 {
		t.Errorf("positions %d to %d, %v, at %d", first, last, ok, record.Millis(b))
	}
	for name, other := range map[string][]byte{
		"with a gap":     batchOf(t, []record.Raw{some[0], some[2]}),
		"transactional":  batchOf(t, []record.Raw{{Position: 7, Key: []byte("a"), Producer: &core.Producer{ID: 1}}}),
		"two batches":    append(batchOf(t, some[:1]), batchOf(t, some[1:])...),
		"half of one":    b[:len(b)-1],
		"nothing":        nil,
		"less than head": b[:20],
	} {
		if first, last, ok := record.Plain(other); ok {
			t.Errorf("%s: said to be plain, from %d to %d", name, first, last)
		}
	}
}
