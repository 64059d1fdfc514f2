package record

import (
	"maps"
	"slices"
)

// Log is a compacted log in memory: the last record of each key. It must not be used from two goroutines at a time.
type Log struct {
	next int64
	last map[string]Stored
}

// Stored is a record in the log.
type Stored struct {
	Position   int64 // counts from 0 and never back, also over records that are gone
	Key, Value []byte
}

// Append adds a record; a nil value is a tombstone, after which nothing of the key is left.
func (l *Log) Append(key, value []byte) {
	if l.last == nil {
		l.last = map[string]Stored{}
	}
	if value == nil {
		delete(l.last, string(key))
	} else {
		l.last[string(key)] = Stored{l.next, key, value}
	}
	l.next++
}

// Appended is how many records have been appended since the beginning.
func (l *Log) Appended() int64 { return l.next }

// Records are those that are left, in the order in which they were appended.
func (l *Log) Records() []Stored {
	return slices.SortedFunc(maps.Values(l.last), func(a, b Stored) int { return int(a.Position - b.Position) })
}
