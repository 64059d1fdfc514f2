package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// A Writer that has written before, more or less, makes the bytes of one that has not, and each length of key and value is written as it is read.
func TestWriterAgain(t *testing.T) {
	var w record.Writer
	for _, size := range []int{1, 5000, 2, 63, 64, 127, 128, 8191, 8192, 3, 1 << 20, 4} {
		value := kmsg.NewOffsetCommitValue()
		value.Version, value.Metadata = 4, strings.Repeat("m", size)
		write := core.Append{Records: []core.Record{
			{Kind: core.OffsetRecord, Group: strings.Repeat("g", size%20_000), Topic: "t", Offset: &value},
			{Kind: core.OffsetTombstone, Group: "g", Topic: "t", Partition: int32(size)},
			{Kind: core.GroupTombstone, Group: "g"},
		}}
		again, err := record.AppendBatch([]byte("before"), w.Raws(write, 7), 42)
		if err != nil {
			t.Fatal(err)
		}
		once, err := record.AppendBatch(nil, record.Raws(write, 7), 42)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again, append([]byte("before"), once...)) {
			t.Fatalf("metadata of %d bytes: a used Writer makes other bytes", size)
		}
		n := 0
		if err := record.ReadBatches(once, func(r record.Raw) error {
			got, known, err := r.Record()
			want := write.Records[n]
			if n++; err != nil || !known || got.Kind != want.Kind || got.Group != want.Group || got.Topic != want.Topic || got.Partition != want.Partition || r.Position != int64(6+n) {
				t.Errorf("metadata of %d bytes: record %d is read as %+v (%v)", size, n, got, err)
			}
			if got.Offset != nil && got.Offset.Metadata != value.Metadata {
				t.Errorf("metadata of %d bytes is read as %d bytes", size, len(got.Offset.Metadata))
			}
			return nil
		}); err != nil || n != 3 {
			t.Fatalf("metadata of %d bytes: %d records are read: %v", size, n, err)
		}
	}
}
