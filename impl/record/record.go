// Package record has the records of __consumer_offsets in Kafka's own encoding (§4.1), and a log that holds them in memory.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The versions that keys and values are written in by Kafka 4.4. Values of other versions are read too.
const (
	offsetKeyVersion  = 1
	groupKeyVersion   = 2
	maxOffsetValue    = 4
	maxGroupValue     = 4
	versionPrefixSize = 2
)

// ErrUnknownKey is returned for a key of a version that says neither offset nor group; Kafka skips such records when it loads.
var ErrUnknownKey = errors.New("key is neither of an offset nor of a group")

// GroupKey is the key of a group's record.
func GroupKey(group string) []byte { return appendGroupKey(nil, group) }

func appendGroupKey(dst []byte, group string) []byte {
	k := kmsg.NewGroupMetadataKey()
	k.Version, k.Group = groupKeyVersion, group
	return k.AppendTo(dst)
}

// GroupValue is the value of a group's record, in the version that it names.
func GroupValue(v *kmsg.GroupMetadataValue) []byte { return v.AppendTo(nil) }

// OffsetKey is the key of a committed offset.
func OffsetKey(group, topic string, partition int32) []byte {
	return appendOffsetKey(nil, group, topic, partition)
}

func appendOffsetKey(dst []byte, group, topic string, partition int32) []byte {
	k := kmsg.NewOffsetCommitKey()
	k.Version, k.Group, k.Topic, k.Partition = offsetKeyVersion, group, topic, partition
	return k.AppendTo(dst)
}

// OffsetValue is the value of a committed offset, in the version that it names.
func OffsetValue(v *kmsg.OffsetCommitValue) []byte { return v.AppendTo(nil) }

// Entry is a record that has been read: of a group or of an offset. Its value is nil where the record is a tombstone.
type Entry struct {
	Group *kmsg.GroupMetadataKey
	State *kmsg.GroupMetadataValue

	OffsetKey *kmsg.OffsetCommitKey
	Offset    *kmsg.OffsetCommitValue
}

// Tombstone reports whether the record says that its key is gone.
func (e Entry) Tombstone() bool { return e.State == nil && e.Offset == nil }

// Decode reads a record. A nil value is a tombstone.
func Decode(key, value []byte) (Entry, error) {
	version, err := prefix(key, "key")
	if err != nil {
		return Entry{}, err
	}
	switch version {
	case 0, offsetKeyVersion:
		return decodeOffset(key, value)
	case groupKeyVersion:
		return decodeGroup(key, value)
	}
	return Entry{}, fmt.Errorf("record with key version %d: %w", version, ErrUnknownKey)
}

func decodeOffset(key, value []byte) (Entry, error) {
	k := kmsg.NewOffsetCommitKey()
	if err := k.ReadFrom(key); err != nil {
		return Entry{}, fmt.Errorf("offset key of %d bytes: %w", len(key), err)
	}
	e := Entry{OffsetKey: &k}
	if value == nil {
		return e, nil
	}
	if err := checkVersion(value, maxOffsetValue, "offset value"); err != nil {
		return Entry{}, err
	}
	v := kmsg.NewOffsetCommitValue()
	if err := v.ReadFrom(value); err != nil {
		return Entry{}, fmt.Errorf("offset value of %d bytes: %w", len(value), err)
	}
	e.Offset = &v
	return e, nil
}

func decodeGroup(key, value []byte) (Entry, error) {
	k := kmsg.NewGroupMetadataKey()
	if err := k.ReadFrom(key); err != nil {
		return Entry{}, fmt.Errorf("group key of %d bytes: %w", len(key), err)
	}
	e := Entry{Group: &k}
	if value == nil {
		return e, nil
	}
	if err := checkVersion(value, maxGroupValue, "group value"); err != nil {
		return Entry{}, err
	}
	v := kmsg.NewGroupMetadataValue()
	if err := v.ReadFrom(value); err != nil {
		return Entry{}, fmt.Errorf("group value of %d bytes: %w", len(value), err)
	}
	e.State = &v
	return e, nil
}

func prefix(b []byte, what string) (int16, error) {
	if len(b) < versionPrefixSize {
		return 0, fmt.Errorf("%s of %d bytes has no version", what, len(b))
	}
	return int16(binary.BigEndian.Uint16(b)), nil
}

func checkVersion(value []byte, highest int16, what string) error {
	version, err := prefix(value, what)
	if err == nil && (version < 0 || version > highest) {
		err = fmt.Errorf("%s has version %d, known are 0 to %d", what, version, highest)
	}
	return err
}
