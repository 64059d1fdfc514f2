package server

import (
	"sync"
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

// ledger has the open transactions of kfake that groups are part of, to tell these of its end.
type ledger struct {
	mu     sync.Mutex
	byID   map[string]*enlisted
	closed bool
}

type enlisted struct {
	producer core.Producer
	timeout  time.Duration
	groups   map[string]struct{} // of the open transaction; nil where none is open
	alarm    *time.Timer
}

// defaultTxnTimeout is that of a producer of which no InitProducerId has been seen.
const defaultTxnTimeout = time.Minute

func newLedger() *ledger { return &ledger{byID: map[string]*enlisted{}} }

// init says that a producer has got a new identity. What the one before has left open is aborted.
func (x *ledger) init(id string, p core.Producer, timeoutMillis int32) (*core.Marker, []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.byID[id]
	if t == nil {
		t = &enlisted{}
		x.byID[id] = t
	}
	marker, groups := t.close(false)
	t.producer, t.timeout = p, time.Duration(timeoutMillis)*time.Millisecond
	return marker, groups
}

// enlist adds a group; true if that is the first of its transaction.
func (x *ledger) enlist(id string, p core.Producer, group string) (first bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.byID[id]
	if t == nil {
		t = &enlisted{timeout: defaultTxnTimeout}
		x.byID[id] = t
	}
	t.producer = p
	if first = t.groups == nil; first {
		t.groups = map[string]struct{}{}
	}
	t.groups[group] = struct{}{}
	return first
}

// end ends a transaction, if one is open; then the producer is next.
func (x *ledger) end(id string, next core.Producer, commit bool) (*core.Marker, []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.byID[id]
	if t == nil {
		return nil, nil
	}
	marker, groups := t.close(commit)
	t.producer = next
	return marker, groups
}

// expire aborts a transaction, if it is still open and this producer's.
func (x *ledger) expire(id string, p core.Producer) (*core.Marker, []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if t := x.byID[id]; t != nil && t.producer == p {
		return t.close(false)
	}
	return nil, nil
}

func (t *enlisted) close(commit bool) (*core.Marker, []string) {
	if t.alarm != nil {
		t.alarm.Stop()
		t.alarm = nil
	}
	if t.groups == nil {
		return nil, nil
	}
	groups := make([]string, 0, len(t.groups))
	for g := range t.groups {
		groups = append(groups, g)
	}
	t.groups = nil
	return &core.Marker{Producer: t.producer, Commit: commit}, groups
}

// overdue is how often is asked, once the timeout is over, whether a transaction has been aborted.
const overdue = 250 * time.Millisecond

// watch asks over when the transaction's timeout is over, until that says so.
func (x *ledger) watch(id string, p core.Producer, over func() bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.byID[id]
	if x.closed || t == nil || t.producer != p || t.groups == nil {
		return
	}
	wait := t.timeout + overdue
	var again func()
	again = func() {
		if over() {
			return
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if !x.closed && t.alarm != nil {
			t.alarm = time.AfterFunc(overdue, again)
		}
	}
	t.alarm = time.AfterFunc(wait, again)
}

func (x *ledger) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, t := range x.byID {
		if t.alarm != nil {
			t.alarm.Stop()
		}
	}
}

// verify says whether a group is part of a producer's open transaction (§2.9.1).
func (x *ledger) verify(id string, p core.Producer, group string, version int16) int16 {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.byID[id]
	switch {
	case id == "":
		return core.InvalidRequest
	case t == nil || t.producer.ID != p.ID:
		return invalidProducerIDMapping
	case t.producer.Epoch != p.Epoch:
		return invalidProducerEpoch
	}
	if _, part := t.groups[group]; part {
		return core.None
	}
	return notPart(version)
}

// notPart is what a commit is told whose group is not part of the transaction.
func notPart(version int16) int16 {
	if version >= 4 {
		return transactionAbortable
	}
	return invalidTxnState
}
