package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// Where in a batch, as Kafka writes it since 0.11, its fields are.
const (
	lengthAt     = 8  // of its length, which counts from lengthEnd
	lengthEnd    = 12 //
	magicAt      = 16
	crcAt        = 17 // of its checksum, which is that of what comes from crcFrom on
	crcFrom      = 21
	attributesAt = 21
	lastAt       = 23 // how far behind the first position the last one is
	millisAt     = 27
	producerAt   = 43 // id and epoch
	countAt      = 57
	headerEnd    = 61
)

const (
	compressed    = 1<<3 - 1 // attribute bits
	transactional = 1 << 4
	control       = 1 << 5

	noProducer = -1
	noSequence = 0 // what Kafka writes where there is no producer
)

// Raw is a record as a batch has it.
type Raw struct {
	Position   int64
	Key, Value []byte         // a nil value is a tombstone
	Producer   *core.Producer // of a transaction's record, and of a marker
	Marker     bool           // ends the producer's transaction
	Commit     bool           // how, if it does
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Raws are the records of a write, the first of them at the given position.
func Raws(w core.Append, position int64) []Raw { return new(Writer).Raws(w, position) }

// Writer makes the records of one write after the other in the same memory. The zero value is ready.
type Writer struct {
	raws  []Raw
	bytes []byte // of all keys and values
}

// writerKeeps is how much memory a Writer keeps at most, in bytes.
const writerKeeps = 1 << 20

// Raws is the function Raws. What it returns is good until it is called again.
func (x *Writer) Raws(w core.Append, position int64) []Raw {
	if cap(x.bytes) > writerKeeps {
		*x = Writer{}
	}
	x.bytes = x.bytes[:0]
	clear(x.raws)
	raws := slices.Grow(x.raws[:0], len(w.Records))
	for i, r := range w.Records {
		raw := Raw{Position: position + int64(i), Producer: r.Producer}
		switch r.Kind {
		case core.GroupRecord:
			raw.Key = x.took(appendGroupKey(x.bytes, r.Group))
			raw.Value = x.took(r.Metadata.AppendTo(x.bytes))
		case core.GroupTombstone:
			raw.Key = x.took(appendGroupKey(x.bytes, r.Group))
		case core.OffsetRecord:
			raw.Key = x.took(appendOffsetKey(x.bytes, r.Group, r.Topic, r.Partition))
			raw.Value = x.took(r.Offset.AppendTo(x.bytes))
		case core.OffsetTombstone:
			raw.Key = x.took(appendOffsetKey(x.bytes, r.Group, r.Topic, r.Partition))
		case core.CommitMarker, core.AbortMarker:
			raw.Marker, raw.Commit = true, r.Kind == core.CommitMarker
		}
		raws = append(raws, raw)
	}
	x.raws = raws
	return raws
}

// took is what has been appended to bytes.
func (x *Writer) took(bytes []byte) []byte {
	from := len(x.bytes)
	x.bytes = bytes
	return bytes[from:len(bytes):len(bytes)]
}

// AppendBatch appends records of one producer, or of none, as a batch in Kafka's encoding, written at a time in milliseconds since 1970. Positions
// grow, and may have gaps where records are gone.
func AppendBatch(dst []byte, raws []Raw, millis int64) ([]byte, error) {
	if len(raws) == 0 {
		return nil, errors.New("a batch has records")
	}
	first, last := &raws[0], &raws[len(raws)-1]
	b := kmsg.RecordBatch{
		FirstOffset: first.Position, PartitionLeaderEpoch: 0, Magic: 2, LastOffsetDelta: int32(last.Position - first.Position),
		FirstTimestamp: millis, MaxTimestamp: millis, ProducerID: noProducer, ProducerEpoch: -1, FirstSequence: noSequence, NumRecords: int32(len(raws)),
	}
	if first.Producer != nil {
		b.Attributes, b.ProducerID, b.ProducerEpoch = transactional, first.Producer.ID, first.Producer.Epoch
	}
	if first.Marker {
		b.Attributes |= control
	}
	start := len(dst)
	dst = b.AppendTo(dst)
	for i := range raws {
		raw := &raws[i]
		if raw.Marker != first.Marker || (raw.Producer == nil) != (first.Producer == nil) || raw.Producer != nil && *raw.Producer != *first.Producer {
			return nil, errors.New("records of several producers, or a marker among records, are not one batch")
		}
		key, value := raw.Key, raw.Value
		if raw.Marker {
			key, value = markerBytes(raw.Commit)
		}
		dst = appendRecord(dst, raw.Position-first.Position, key, value)
	}
	binary.BigEndian.PutUint32(dst[start+lengthAt:], uint32(len(dst)-start-lengthEnd))
	binary.BigEndian.PutUint32(dst[start+crcAt:], crc32.Checksum(dst[start+crcFrom:], castagnoli))
	return dst, nil
}

// appendRecord appends a record of a batch: its length; attributes, of which there are none; how much later than the batch it was made; its place in it;
// key and value; headers, of which there are none.
func appendRecord(dst []byte, delta int64, key, value []byte) []byte {
	var place [binary.MaxVarintLen64]byte
	n := binary.PutVarint(place[:], delta)
	dst = binary.AppendVarint(dst, int64(3+n+sizeOf(key)+sizeOf(value)))
	dst = append(dst, 0, 0)
	dst = append(dst, place[:n]...)
	dst = appendBytes(appendBytes(dst, key), value)
	return append(dst, 0)
}

// appendBytes appends bytes behind their length, -1 where they are nil.
func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return binary.AppendVarint(dst, -1)
	}
	return append(binary.AppendVarint(dst, int64(len(b))), b...)
}

// sizeOf is how much appendBytes appends.
func sizeOf(b []byte) int {
	size := len(b) + 1
	for n := uint(len(b)) << 1; n >= 0x80; n >>= 7 { // zigzag, seven bits a byte; -1 takes one
		size++
	}
	return size
}

// markerBytes are key (version and type) and value (version and the epoch of the coordinator) of a control record.
func markerBytes(commit bool) (key, value []byte) {
	key = []byte{0, 0, 0, 0}
	if commit {
		key[3] = 1
	}
	return key, make([]byte, 6)
}

// ReadBatches reads whole batches, one after the other, as a log has them or Fetch answers them, compressed ones too. What is
// wrong with them it says with their position.
func ReadBatches(b []byte, each func(Raw) error) error {
	for len(b) > 0 {
		if len(b) < headerEnd {
			return fmt.Errorf("%d bytes are less than a batch", len(b))
		}
		position := int64(binary.BigEndian.Uint64(b))
		length := int64(int32(binary.BigEndian.Uint32(b[lengthAt:]))) + lengthEnd
		if length < headerEnd || length > int64(len(b)) {
			return fmt.Errorf("batch at position %d: length %d, there are %d bytes", position, length, len(b))
		}
		if err := readBatch(b[:length], each); err != nil {
			return fmt.Errorf("batch at position %d: %w", position, err)
		}
		b = b[length:]
	}
	return nil
}

func readBatch(b []byte, each func(Raw) error) error {
	if b[magicAt] != 2 {
		return fmt.Errorf("format %d of messages is older than Kafka 0.11 and is not read", b[magicAt])
	}
	if told, is := binary.BigEndian.Uint32(b[crcAt:]), crc32.Checksum(b[crcFrom:], castagnoli); told != is {
		return fmt.Errorf("its crc is %x, and that of what it has is %x", told, is)
	}
	h := headOf(b)
	raw := Raw{Marker: h.attributes&control != 0}
	if h.attributes&transactional != 0 {
		producer := h.producer
		raw.Producer = &producer
	}
	if raw.Marker && raw.Producer == nil {
		return errors.New("control records without a producer")
	}
	read := readPlain
	if h.attributes&compressed != 0 {
		read = readCompressed
	}
	count, err := read(b, raw, each)
	if err == nil && count != h.count {
		err = fmt.Errorf("%d records, its header says %d", count, h.count)
	}
	return err
}

// readPlain reads the records of a batch where they lie, and returns how many they are. A load and a compaction read all that there is, and nearly
// all of that is such.
func readPlain(b []byte, raw Raw, each func(Raw) error) (count int, err error) {
	first := int64(binary.BigEndian.Uint64(b))
	var r kmsg.Record
	for rest := b[headerEnd:]; len(rest) > 0; count++ {
		length, n := binary.Varint(rest)
		if n <= 0 || length < 0 || length > int64(len(rest)-n) {
			return count, fmt.Errorf("a record says that its length is %d, and there are %d bytes", length, len(rest))
		}
		size := n + int(length)
		if err := r.UnsafeReadFrom(rest[:size]); err != nil {
			return count, fmt.Errorf("a record of %d bytes: %w", size, err)
		}
		if err := tell(raw, first+int64(r.OffsetDelta), r.Key, r.Value, each); err != nil {
			return count, err
		}
		rest = rest[size:]
	}
	return count, nil
}

// readCompressed is readPlain for a batch that is compressed, as those of a broker may be.
func readCompressed(b []byte, raw Raw, each func(Raw) error) (count int, err error) {
	fetched := kmsg.NewFetchResponseTopicPartition()
	fetched.RecordBatches = b
	read, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{KeepControlRecords: true}, &fetched, kgo.DefaultDecompressor(), nil)
	for _, r := range read.Records {
		if err := tell(raw, r.Offset, r.Key, r.Value, each); err != nil {
			return count, err
		}
		count++
	}
	return count, read.Err
}

// tell hands a record over; raw is what it has in common with the others of its batch.
func tell(raw Raw, position int64, key, value []byte, each func(Raw) error) error {
	raw.Position, raw.Key, raw.Value = position, key, value
	if raw.Marker {
		if len(key) < 4 {
			return fmt.Errorf("control record with a key of %d bytes", len(key))
		}
		raw.Commit = binary.BigEndian.Uint16(key[2:]) == 1
	}
	return each(raw)
}

// head is what a batch says of itself before its records.
type head struct {
	attributes uint16
	producer   core.Producer
	count      int
}

func headOf(b []byte) head {
	return head{
		attributes: binary.BigEndian.Uint16(b[attributesAt:]),
		producer:   core.Producer{ID: int64(binary.BigEndian.Uint64(b[producerAt:])), Epoch: int16(binary.BigEndian.Uint16(b[producerAt+8:]))},
		count:      int(int32(binary.BigEndian.Uint32(b[countAt:]))),
	}
}

// Plain says which positions the records of a batch have, if it is a whole one that AppendBatch has made of records without gaps, and of none of a transaction.
func Plain(b []byte) (first, last int64, ok bool) {
	if len(b) < headerEnd || b[magicAt] != 2 || int64(binary.BigEndian.Uint32(b[lengthAt:]))+lengthEnd != int64(len(b)) {
		return 0, 0, false
	}
	first = int64(binary.BigEndian.Uint64(b))
	last = first + int64(binary.BigEndian.Uint32(b[lastAt:]))
	h := headOf(b)
	return first, last, h.attributes == 0 && int64(h.count) == last-first+1
}

// Millis is when a batch was written, in milliseconds since 1970.
func Millis(b []byte) int64 { return int64(binary.BigEndian.Uint64(b[millisAt:])) }

// Record is what core.Replay is to be told of it; false where the key is of a kind that is passed over (§4.1).
func (r Raw) Record() (core.Record, bool, error) {
	if r.Marker {
		kind := core.AbortMarker
		if r.Commit {
			kind = core.CommitMarker
		}
		return core.Record{Kind: kind, Producer: r.Producer}, true, nil
	}
	e, err := Decode(r.Key, r.Value)
	if errors.Is(err, ErrUnknownKey) {
		return core.Record{}, false, nil
	}
	if err != nil {
		return core.Record{}, false, fmt.Errorf("record at position %d: %w; the log is damaged", r.Position, err)
	}
	return e.record(r.Producer), true, nil
}
