package record_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// recordedReleases are those whose log is in testdata: both coordinators, each version of a value that they write, and the newest.
var recordedReleases = []string{"2.4.1", "2.8.2", "3.9.2", "4.3.1", "4.4.0"}

func vector(release, ext string) string { return filepath.Join("testdata", "kafka-"+release+ext) }

// What real brokers have written is loaded, and answers are those that the broker gave when it had loaded it: TestKafkaRecord records both.
func TestLoadsWhatKafkaWrote(t *testing.T) {
	for _, release := range recordedReleases {
		t.Run(release, func(t *testing.T) {
			raw, err := os.ReadFile(vector(release, ".bin"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(vector(release, ".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var records []core.Record
			unknown := 0
			if err := record.ReadBatches(raw, func(r record.Raw) error {
				known, ok, err := r.Record()
				if ok {
					records = append(records, known)
				} else if err == nil {
					unknown++
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			got := tell(groupsOfCast, ours(t, records))
			if release < "2.5" { // which does not know of stable offsets
				got = strings.Replace(got, "open: error 0, Empty, protocol \"\" \"\"\n  stable:\n  t/1: -1, epoch -1, \"\", error 88\n", "open: nothing\n", 1)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("beside what the broker answered (-broker +ours):\n%s", diff)
			}
			if newer := release >= "4"; newer != (unknown > 0) {
				t.Errorf("%d records of other kinds of groups were passed over", unknown)
			}
			seen := map[core.RecordKind]int{}
			for _, r := range records {
				seen[r.Kind]++
			}
			if len(seen) != 6 {
				t.Errorf("of the six kinds of records there are: %v", seen)
			}
		})
	}
}

// Our encodings are Kafka's, byte by byte: each batch, key and value of the newest release is what we write of what we have read. (Older
// ones wrote older versions of values, which we read only.)
func TestWritesAsKafkaWrote(t *testing.T) {
	raw, err := os.ReadFile(vector("4.4.0", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for len(raw) > 0 {
		size := 12 + binary.BigEndian.Uint32(raw[8:])
		batch := slices.Clone(raw[:size])
		raw = raw[size:]
		var all []record.Raw
		if err := record.ReadBatches(batch, func(r record.Raw) error { all = append(all, r); return nil }); err != nil {
			t.Fatal(err)
		}
		plain := true
		for _, r := range all {
			known, ok, err := r.Record()
			if err != nil {
				t.Fatal(err)
			}
			if plain = plain && ok && r.Producer == nil; !ok || r.Marker {
				continue
			}
			again := record.Raws(core.Append{Records: []core.Record{known}}, r.Position)[0]
			if !bytes.Equal(again.Key, r.Key) || !bytes.Equal(again.Value, r.Value) || (again.Value == nil) != (r.Value == nil) {
				t.Errorf("record at %d:\n ours %x %x\nKafka %x %x", r.Position, again.Key, again.Value, r.Key, r.Value)
			}
		}
		if !plain { // a producer's batch has its sequence
			continue
		}
		copy(batch[12:16], []byte{0, 0, 0, 0}) // the epoch of the partition's leader is not part of the checksum
		again, err := record.AppendBatch(nil, all, int64(binary.BigEndian.Uint64(batch[27:])))
		if err != nil || !bytes.Equal(again, batch) {
			t.Errorf("batch at %d, %v:\n ours %x\nKafka %x", all[0].Position, err, again, batch)
		}
		same++
	}
	if same < 8 {
		t.Errorf("only %d batches were compared", same)
	}
}
