// Package store keeps what a group coordinator writes: __consumer_offsets, partition by partition, as a log of Kafka's own record batches.
package store

import (
	"sync"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// Log is such a log. A partition is used by one goroutine at a time.
type Log interface {
	// Append keeps what is written, all of it or nothing, and then calls done, with the reason if it is not kept. Writes to a partition are
	// kept, and their ends told, in their order. done must not block; it may be called before Append returns, or from another goroutine.
	// After a write that failed none succeeds before the log is opened again, but for one that was refused (RefusedError).
	Append(partition int32, w core.Append, done func(error))

	// Load hands over what is left of a partition, oldest first, a part at a time, as core.Replay wants it. No write to the
	// partition may be open. An error that is not take's says what cannot be read, and where.
	Load(partition int32, take func([]core.Record) error) (Loaded, error)

	// Close waits for the writes that are open.
	Close() error
}

// Loaded says what Load has met.
type Loaded struct {
	Records int // that were handed over
	Unknown int // that were passed over: of groups of other protocols, which are not coordinated here (§4.1)
}

// loadTogether is how many records Load hands over at a time.
const loadTogether = 1000

// Memory is a Log that is gone with its process. It tells the end of a write at once.
type Memory struct {
	mu         sync.Mutex
	partitions map[int32]*record.Log
}

// NewMemory returns an empty one.
func NewMemory() *Memory { return &Memory{partitions: map[int32]*record.Log{}} }

func (m *Memory) partition(id int32) *record.Log {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.partitions[id] == nil {
		m.partitions[id] = &record.Log{}
	}
	return m.partitions[id]
}

// Append implements Log.
func (m *Memory) Append(partition int32, w core.Append, done func(error)) {
	m.partition(partition).Write(w)
	done(nil)
}

// Load implements Log.
func (m *Memory) Load(partition int32, take func([]core.Record) error) (Loaded, error) {
	stored := m.partition(partition).Records()
	records, err := record.Replay(stored)
	if err != nil {
		return Loaded{}, err
	}
	return Loaded{Records: len(records), Unknown: len(stored) - len(records)}, take(records)
}

// Close implements Log.
func (m *Memory) Close() error { return nil }
