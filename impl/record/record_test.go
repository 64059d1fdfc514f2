package record_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// unexported lets cmp look into the tags of kmsg.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

func group() *kmsg.GroupMetadataValue {
	v := kmsg.NewGroupMetadataValue()
	v.Version, v.ProtocolType, v.Generation = 3, "consumer", 7
	v.Protocol, v.Leader, v.CurrentStateTimestamp = kmsg.StringPtr("range"), kmsg.StringPtr("c-1"), 1234
	m := kmsg.NewGroupMetadataValueMember()
	m.MemberID, m.ClientID, m.ClientHost = "c-1", "c", "/127.0.0.1"
	m.RebalanceTimeoutMillis, m.SessionTimeoutMillis = 60_000, 10_000
	m.Subscription, m.Assignment = []byte("sub"), []byte{}
	v.Members = []kmsg.GroupMetadataValueMember{m}
	return &v
}

func offset(version int16) *kmsg.OffsetCommitValue {
	v := kmsg.NewOffsetCommitValue()
	v.Version, v.Offset, v.Metadata, v.CommitTimestamp = version, 42, "note", 99
	switch version {
	case 1:
		v.ExpireTimestamp = 100
	case 3, 4:
		v.LeaderEpoch = 5
	}
	return &v
}

// What is written is read again, whatever its version.
func TestRoundTrip(t *testing.T) {
	for version := int16(0); version <= 4; version++ {
		want := offset(version)
		e, err := record.Decode(record.OffsetKey("g", "t", 3), record.OffsetValue(want))
		if err != nil {
			t.Fatalf("offset value %d: %v", version, err)
		}
		if diff := cmp.Diff(want, e.Offset, unexported); diff != "" {
			t.Errorf("offset value %d (-written +read):\n%s", version, diff)
		}
		if k := e.OffsetKey; k.Group != "g" || k.Topic != "t" || k.Partition != 3 || k.Version != 1 {
			t.Errorf("offset key: %+v", k)
		}
	}
	want := group()
	e, err := record.Decode(record.GroupKey("g"), record.GroupValue(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, e.State, unexported); diff != "" {
		t.Errorf("group value (-written +read):\n%s", diff)
	}
	if e.Group.Group != "g" || e.Group.Version != 2 || e.Tombstone() {
		t.Errorf("group key: %+v", e.Group)
	}
}

// The bytes are Kafka's: two bytes of version, then strings and numbers as its schema has them (§4.1).
func TestBytes(t *testing.T) {
	for _, test := range []struct {
		name string
		got  []byte
		want string
	}{
		{"group key", record.GroupKey("g"), "0002" + "000167"},
		{"offset key", record.OffsetKey("g", "t", 3), "0001" + "000167" + "000174" + "00000003"},
		{"offset value 1", record.OffsetValue(offset(1)), "0001" + "000000000000002a" + "00046e6f7465" + "0000000000000063" + "0000000000000064"},
		{"offset value 3", record.OffsetValue(offset(3)), "0003" + "000000000000002a" + "00000005" + "00046e6f7465" + "0000000000000063"},
		{"offset value 4", record.OffsetValue(offset(4)), "0004" + "000000000000002a" + "00000005" + "056e6f7465" + "0000000000000063" + "00"},
	} {
		if got := hex.EncodeToString(test.got); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestTombstones(t *testing.T) {
	for _, key := range [][]byte{record.GroupKey("g"), record.OffsetKey("g", "t", 0)} {
		e, err := record.Decode(key, nil)
		if err != nil || !e.Tombstone() {
			t.Errorf("key %x without value: %+v, %v; want a tombstone", key, e, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	goodKey := record.OffsetKey("g", "t", 0)
	for _, test := range []struct {
		name       string
		key, value []byte
	}{
		{"no key", nil, nil},
		{"short key", []byte{0}, nil},
		{"key cut off", goodKey[:5], nil},
		{"group key cut off", record.GroupKey("group")[:4], nil},
		{"empty value", goodKey, []byte{}},
		{"value cut off", goodKey, record.OffsetValue(offset(3))[:7]},
		{"value of the future", goodKey, []byte{0, 9, 0, 0}},
		{"negative value version", goodKey, []byte{255, 255, 0, 0}},
		{"group value cut off", record.GroupKey("g"), record.GroupValue(group())[:9]},
	} {
		if e, err := record.Decode(test.key, test.value); err == nil {
			t.Errorf("%s: read as %+v", test.name, e)
		}
	}
	if _, err := record.Decode([]byte{0, 77}, nil); !errors.Is(err, record.ErrUnknownKey) {
		t.Errorf("unknown key version: %v, want ErrUnknownKey", err)
	}
}

func TestLogKeepsTheLastOfEachKey(t *testing.T) {
	var l record.Log
	l.Append([]byte("a"), []byte("1"))
	l.Append([]byte("b"), []byte("1"))
	l.Append([]byte("a"), []byte("2"))
	l.Append([]byte("b"), nil)
	l.Append([]byte("c"), []byte{})
	got := l.Records()
	if l.Appended() != 5 || len(got) != 2 || got[0].Position != 2 || !bytes.Equal(got[0].Value, []byte("2")) || string(got[1].Key) != "c" {
		t.Errorf("appended %d, left %+v", l.Appended(), got)
	}
}

// A transaction's records are pending until its marker, and keep their place (§2.9.2); a tombstone takes them along (§4.4-9).
func TestLogTransactions(t *testing.T) {
	one, two := core.Producer{ID: 1}, core.Producer{ID: 2}
	key := []byte("k")
	for _, test := range []struct {
		name string
		do   func(*record.Log)
		want string // value, and the producer that it waits for
	}{
		{"open", func(l *record.Log) { l.AppendPending(one, key, []byte("a")) }, "a?1 "},
		{"again", func(l *record.Log) { l.AppendPending(one, key, []byte("a")); l.AppendPending(one, key, []byte("b")) }, "b?1 "},
		{"two", func(l *record.Log) { l.AppendPending(two, key, []byte("a")); l.AppendPending(one, key, []byte("b")) }, "a?2 b?1 "},
		{"committed", func(l *record.Log) { l.AppendPending(one, key, []byte("a")); l.Mark(one, true) }, "a "},
		{"aborted", func(l *record.Log) {
			l.Append(key, []byte("x"))
			l.AppendPending(one, key, []byte("a"))
			l.Mark(one, false)
		}, "x "},
		{"another's marker", func(l *record.Log) { l.AppendPending(one, key, []byte("a")); l.Mark(two, true) }, "a?1 "},
		{"overtaken", func(l *record.Log) {
			l.AppendPending(one, key, []byte("a"))
			l.Append(key, []byte("x"))
			l.Mark(one, true)
		}, "x "},
		{"the later", func(l *record.Log) {
			l.Append(key, []byte("x"))
			l.AppendPending(one, key, []byte("a"))
			l.Mark(one, true)
		}, "a "},
		{"tombstone", func(l *record.Log) { l.AppendPending(one, key, []byte("a")); l.Append(key, nil); l.Mark(one, true) }, ""},
	} {
		var l record.Log
		test.do(&l)
		got := ""
		for _, s := range l.Records() {
			got += string(s.Value)
			if s.Producer != nil {
				got += fmt.Sprint("?", s.Producer.ID)
			}
			got += " "
		}
		if got != test.want {
			t.Errorf("%s: left %q, want %q", test.name, got, test.want)
		}
	}
}

// What is written is replayed as it was.
func TestReplay(t *testing.T) {
	written := []core.Record{
		{Kind: core.GroupRecord, Group: "g", Metadata: group()},
		{Kind: core.OffsetRecord, Group: "g", Topic: "t", Partition: 3, Offset: offset(4)},
		{Kind: core.OffsetRecord, Group: "g", Topic: "t", Partition: 4, Offset: offset(1), Producer: &core.Producer{ID: 7, Epoch: 2}},
	}
	var l record.Log
	l.Write(core.Append{Records: written})
	l.Append([]byte{0, 77}, []byte("unknown"))
	got, err := record.Replay(l.Records())
	if diff := cmp.Diff(written, got, unexported); err != nil || diff != "" {
		t.Errorf("%v (-written +replayed):\n%s", err, diff)
	}
	raw := []record.Stored{{Key: record.GroupKey("g")}, {Key: record.OffsetKey("g", "t", 3)}}
	got, err = record.Replay(raw)
	if err != nil || len(got) != 2 || got[0].Kind != core.GroupTombstone || got[1].Kind != core.OffsetTombstone || got[1].Partition != 3 {
		t.Errorf("tombstones: %+v, %v", got, err)
	}
	for _, kind := range []core.RecordKind{core.OffsetTombstone, core.GroupTombstone} {
		l.Write(core.Append{Records: []core.Record{{Kind: kind, Group: "g", Topic: "t", Partition: 4}}})
	}
	l.Write(core.Append{Records: []core.Record{{Kind: core.CommitMarker, Producer: &core.Producer{ID: 7}}}})
	if got, err := record.Replay(l.Records()); err != nil || len(got) != 1 || got[0].Partition != 3 {
		t.Errorf("after tombstones: %+v, %v", got, err)
	}
	if _, err := record.Replay([]record.Stored{{Position: 5, Key: record.GroupKey("g"), Value: []byte{0, 99}}}); err == nil || !strings.Contains(err.Error(), "position 5") {
		t.Errorf("a record that cannot be read: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(record.GroupKey("g"), record.GroupValue(group()))
	f.Add(record.OffsetKey("g", "t", 1), record.OffsetValue(offset(4)))
	f.Add([]byte{0, 2}, []byte{0, 3, 255})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		e, err := record.Decode(key, value)
		if err == nil && (e.Group == nil) == (e.OffsetKey == nil) {
			t.Fatalf("read without error, but not as one of a group or an offset: %+v", e)
		}
	})
}
