package embedded

import (
	"sync/atomic"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// writer is the log of a coordinator over TCP whose groups are in memory, as a campaign troubles it.
type writer struct {
	log   *store.Troubled
	times atomic.Int64 // that appends were made to fail
}

func newWriter() *writer { return &writer{log: store.NewTroubled(store.NewMemory())} }

// FailAppends makes all that is written fail, or ends that: for want of replicas, or as if it were too large, in turn. Both are errors that a Kafka log gives, and are
// answered differently.
func (w *writer) FailAppends(on bool) {
	switch {
	case !on:
		w.log.Refuse(core.None)
	case w.times.Add(1)%2 == 1:
		w.log.Refuse(core.NotEnoughReplicas)
	default:
		w.log.Refuse(core.MessageTooLarge)
	}
}

// HangAppends makes all that is written wait, or ends that: what has waited is written then.
func (w *writer) HangAppends(on bool) { w.log.Hang(on) }
