package record

import (
	"maps"
	"slices"

	"github.com/muster-kafka/muster/impl/core"
)

// Log is a compacted log in memory: the last record of each key, and what transactions have written that are still open. It must not be
// used from two goroutines at a time.
type Log struct {
	next int64
	last map[string]Stored
	open map[int64]map[string]Stored // by producer id, then by key
}

// Stored is a record in the log.
type Stored struct {
	Position   int64 // counts from 0 and never back, also over records that are gone
	Key, Value []byte
	Producer   *core.Producer // whose open transaction the record is part of, nil for none
}

// Append adds a record; a nil value is a tombstone, after which nothing of the key is left, nor of what is pending for it.
func (l *Log) Append(key, value []byte) {
	if l.last == nil {
		l.last = map[string]Stored{}
	}
	if value == nil {
		delete(l.last, string(key))
		for producer, pending := range l.open {
			if delete(pending, string(key)); len(pending) == 0 {
				delete(l.open, producer)
			}
		}
	} else {
		l.last[string(key)] = Stored{Position: l.next, Key: key, Value: value}
	}
	l.next++
}

// AppendPending adds a record of an open transaction: it counts once that is committed.
func (l *Log) AppendPending(p core.Producer, key, value []byte) {
	if l.open == nil {
		l.open = map[int64]map[string]Stored{}
	}
	if l.open[p.ID] == nil {
		l.open[p.ID] = map[string]Stored{}
	}
	l.open[p.ID][string(key)] = Stored{Position: l.next, Key: key, Value: value, Producer: &p}
	l.next++
}

// Mark ends a transaction. Its records keep their place in the log: one that another record of the key has come after is gone.
func (l *Log) Mark(p core.Producer, commit bool) {
	for key, s := range l.open[p.ID] {
		if last, ok := l.last[key]; commit && (!ok || last.Position < s.Position) {
			s.Producer = nil
			if l.last == nil {
				l.last = map[string]Stored{}
			}
			l.last[key] = s
		}
	}
	delete(l.open, p.ID)
	l.next++
}

// Appended is how many records have been appended since the beginning.
func (l *Log) Appended() int64 { return l.next }

// Records are those that are left, in the order in which they were appended.
func (l *Log) Records() []Stored {
	records := slices.Collect(maps.Values(l.last))
	for _, pending := range l.open {
		records = slices.AppendSeq(records, maps.Values(pending))
	}
	slices.SortFunc(records, func(a, b Stored) int { return int(a.Position - b.Position) })
	return records
}
