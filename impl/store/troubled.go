package store

import (
	"fmt"
	"sync"

	"github.com/muster-kafka/muster/impl/core"
)

// RefusedError ends a write that the log has not kept, by Kafka's error code for the reason. The log is whole and goes on: other than after any other
// error, the writes that follow may succeed.
type RefusedError struct{ Code int16 }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the log refuses to write, error code %d", e.Code)
}

// Troubled is a log that can be told to fail, or to take its time. Without trouble it is the log below it.
type Troubled struct {
	log Log

	mu      sync.RWMutex // an Append that goes through holds it for reading, so that trouble begins and ends between two of them
	refuses int16        // how appends fail; 0: they do not
	hangs   bool
	hung    []func() // the appends that wait, in their order
}

// NewTroubled returns a log on top of another one.
func NewTroubled(log Log) *Troubled { return &Troubled{log: log} }

// Refuse lets all appends fail by an error code from now on, until that is 0.
func (t *Troubled) Refuse(code int16) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuses = code
}

// Hang lets all appends wait from now on. Where it ends those that wait are made, in their order, before any other.
func (t *Troubled) Hang(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hangs = on; on {
		return
	}
	for _, write := range t.hung {
		write()
	}
	t.hung = nil
}

// Append implements Log.
func (t *Troubled) Append(partition int32, w core.Append, done func(error)) {
	t.mu.RLock()
	if !t.hangs {
		defer t.mu.RUnlock()
		if t.refuses != core.None {
			done(&RefusedError{t.refuses})
			return
		}
		t.log.Append(partition, w, done)
		return
	}
	t.mu.RUnlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hangs { // no more
		t.log.Append(partition, w, done)
		return
	}
	t.hung = append(t.hung, func() { t.log.Append(partition, w, done) })
}

// Load implements Log.
func (t *Troubled) Load(partition int32, take func([]core.Record) error) (Loaded, error) {
	return t.log.Load(partition, take)
}

// Close implements Log. What waits is made first.
func (t *Troubled) Close() error {
	t.Hang(false)
	return t.log.Close()
}

// InMemory says whether a log is gone with its process, and read at once.
func InMemory(l Log) bool {
	switch l := l.(type) {
	case *Memory:
		return true
	case *Troubled:
		return InMemory(l.log)
	}
	return false
}
