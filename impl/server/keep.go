package server

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// keeper brings what a coordinator writes to the log, and the log's word back, in order.
type keeper struct {
	log       store.Log
	partition int32
	open      []openWrite // that the coordinator waits for, oldest first
	room      []openWrite // where open begins when there is none: nearly always there is one at a time
	instant   []instant   // timers that are due as soon as writes have ended
	awaited   []awaited   // who is told then

	keeping atomic.Bool // something is being handed to the log, by one who hears its word afterwards
	hear    func() bool // hears the log's word, if that can be now; may be nil

	mu    sync.Mutex
	ended []endedWrite // what the log has said, and nobody has heard yet
	heard []endedWrite // what has been heard, for its memory
	bell  chan struct{}
}

type openWrite struct {
	id     core.AppendID
	code   int16 // how it ends, unless the log says otherwise
	ended  bool
	failed error
}

type endedWrite struct {
	id  core.AppendID
	err error
}

// instant is a timer of no length, and the write that comes first.
type instant struct {
	arm   core.Arm
	after core.AppendID
}

// awaited is told once a write has ended and all before it, and whether these have been kept.
type awaited struct {
	last   core.AppendID
	failed error
	told   func(error)
}

func newKeeper(log store.Log, partition int32) *keeper {
	k := &keeper{log: log, partition: partition, room: make([]openWrite, 0, 4), bell: make(chan struct{}, 1)}
	k.open = k.room
	return k
}

// keep writes something. If that works, the coordinator is told the code.
func (k *keeper) keep(w core.Append, code int16) {
	id := w.ID
	k.open = append(k.open, openWrite{id: id, code: code})
	k.keeping.Store(true)
	defer k.keeping.Store(false)
	k.log.Append(k.partition, w, func(err error) {
		k.mu.Lock()
		k.ended = append(k.ended, endedWrite{id, err})
		k.mu.Unlock()
		if k.keeping.Load() || k.hear != nil && k.hear() {
			return
		}
		select {
		case k.bell <- struct{}{}:
		default: // it has been rung
		}
	})
}

// refuse lets a write fail that never comes to the log.
func (k *keeper) refuse(id core.AppendID, code int16) {
	k.open = append(k.open, openWrite{id: id, code: code, ended: true})
}

// next is the oldest write, if it has ended: a write that is kept before another one is told of before it.
func (k *keeper) next() (openWrite, bool) {
	k.mu.Lock()
	ended := k.ended
	k.ended = k.heard[:0]
	k.mu.Unlock()
	k.heard = ended
	for _, e := range ended {
		for i := range k.open {
			if w := &k.open[i]; w.id == e.id {
				w.ended, w.failed = true, e.err
				break
			}
		}
	}
	if len(k.open) == 0 || !k.open[0].ended {
		return openWrite{}, false
	}
	first := k.open[0]
	if k.open = k.open[1:]; len(k.open) == 0 {
		k.open = k.room[:0]
	}
	if first.failed != nil {
		first.fail()
	}
	return first, true
}

// fail is how a write ends that the log has not kept. One that the log has refused is not the end of the log.
func (w *openWrite) fail() {
	var refused *store.RefusedError
	if errors.As(w.failed, &refused) {
		w.code, w.failed = refused.Code, nil
		return
	}
	w.code = core.KafkaStorageError
}

// wait holds a timer of no length back until the writes that are open have ended (see core.Arm); false if it has not to wait.
func (k *keeper) wait(arm core.Arm) bool {
	if len(k.open) == 0 {
		return false
	}
	k.instant = append(k.instant, instant{arm, k.open[len(k.open)-1].id})
	return true
}

// forget drops a timer that is held back.
func (k *keeper) forget(id core.TimerID) {
	for i, h := range k.instant {
		if h.arm.Timer == id {
			k.instant = append(k.instant[:i:i], k.instant[i+1:]...)
			return
		}
	}
}

// release are the timers that the end of a write lets go.
func (k *keeper) release(id core.AppendID) (arms []core.Arm) {
	if len(k.instant) == 0 {
		return nil
	}
	var left []instant
	for _, h := range k.instant {
		if h.after <= id {
			arms = append(arms, h.arm)
		} else {
			left = append(left, h)
		}
	}
	k.instant = left
	return arms
}

// await tells when the writes that are open have ended.
func (k *keeper) await(told func(error)) {
	if len(k.open) == 0 {
		told(nil)
		return
	}
	k.awaited = append(k.awaited, awaited{last: k.open[len(k.open)-1].id, told: told})
}

// passed is the end of a write.
func (k *keeper) passed(w openWrite) {
	for i := range k.awaited {
		k.awaited[i].failed = cmp.Or(k.awaited[i].failed, w.failed)
	}
	k.awaited = slices.DeleteFunc(k.awaited, func(a awaited) bool {
		if a.last == w.id {
			a.told(a.failed)
		}
		return a.last == w.id
	})
}
