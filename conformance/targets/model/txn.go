package model

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// transactions is a transaction coordinator, as much of one as scenarios need: no group's business, so that it has no rules.
type transactions struct {
	profile classic.Profile
	byName  map[string]*transaction
	lastID  int64
	end     func(producer int64, epoch int16, commit bool) // writes a marker
}

// transaction is what a transactional id is at.
type transaction struct {
	id     int64
	epoch  int16
	open   bool
	groups map[string]bool // of the open one
	ended  bool            // there was one before, which ended so:
	commit bool
}

// Error codes of transactions.
const (
	invalidRequest       = 42
	invalidProducerEpoch = 47
	invalidTxnState      = 48
	invalidMapping       = 49
	invalidTimeout       = 50
	producerFenced       = 90
	transactionAbortable = 120
)

const maxTimeoutMillis = 15 * 60 * 1000

func newTransactions(p classic.Profile, end func(producer int64, epoch int16, commit bool)) *transactions {
	return &transactions{profile: p, byName: map[string]*transaction{}, lastID: 4000, end: end}
}

// handle answers a request that is one of transactions.
func (x *transactions) handle(req kmsg.Request, version int16) (kmsg.Response, bool) {
	switch m := req.(type) {
	case *kmsg.InitProducerIDRequest:
		return x.initProducer(m, version), true
	case *kmsg.AddOffsetsToTxnRequest:
		resp := kmsg.NewPtrAddOffsetsToTxnResponse()
		resp.SetVersion(version)
		t, code := x.find(m.TransactionalID, m.ProducerID, m.ProducerEpoch, fenced(version >= 2))
		if resp.ErrorCode = code; code == 0 {
			t.add(m.Group)
		}
		return resp, true
	case *kmsg.EndTxnRequest:
		return x.endTxn(m, version), true
	}
	return nil, false
}

// fenced is how a stale epoch is called.
func fenced(newer bool) int16 {
	if newer {
		return producerFenced
	}
	return invalidProducerEpoch
}

func (x *transactions) find(name string, id int64, epoch int16, stale int16) (*transaction, int16) {
	t := x.byName[name]
	switch {
	case t == nil || t.id != id:
		return nil, invalidMapping
	case t.epoch != epoch:
		return nil, stale
	}
	return t, 0
}

func (t *transaction) add(group string) {
	if !t.open {
		t.open, t.groups = true, map[string]bool{}
	}
	t.groups[group] = true
}

func (x *transactions) initProducer(m *kmsg.InitProducerIDRequest, version int16) kmsg.Response {
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.SetVersion(version)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	switch {
	case m.TransactionalID == nil:
		x.lastID++
		resp.ProducerID, resp.ProducerEpoch = x.lastID, 0
		return resp
	case *m.TransactionalID == "":
		resp.ErrorCode = invalidRequest
		return resp
	case m.TransactionTimeoutMillis <= 0 || m.TransactionTimeoutMillis > maxTimeoutMillis:
		resp.ErrorCode = invalidTimeout
		return resp
	}
	t := x.byName[*m.TransactionalID]
	switch {
	case t == nil:
		x.lastID++
		t = &transaction{id: x.lastID}
		x.byName[*m.TransactionalID] = t
	case version >= 3 && m.ProducerID >= 0 && (m.ProducerID != t.id || m.ProducerEpoch != t.epoch):
		resp.ErrorCode = fenced(version >= 4)
		return resp
	default: // another process of the same transactional id: the former one is fenced, and what it had open is aborted
		t.epoch++
		x.finish(t, false)
	}
	resp.ProducerID, resp.ProducerEpoch = t.id, t.epoch
	return resp
}

func (x *transactions) endTxn(m *kmsg.EndTxnRequest, version int16) kmsg.Response {
	resp := kmsg.NewPtrEndTxnResponse()
	resp.SetVersion(version)
	t, code := x.find(m.TransactionalID, m.ProducerID, m.ProducerEpoch, fenced(version >= 2))
	switch {
	case code != 0:
		resp.ErrorCode = code
		return resp
	case !t.open && (!t.ended || t.commit != m.Commit) && (version < 5 || m.Commit):
		resp.ErrorCode = invalidTxnState
		return resp
	}
	x.finish(t, m.Commit)
	if version >= 5 { // each transaction has an epoch of its own then
		t.epoch++
		resp.ProducerID, resp.ProducerEpoch = t.id, t.epoch
	}
	return resp
}

// finish ends the open transaction.
func (x *transactions) finish(t *transaction, commit bool) {
	if !t.open {
		return
	}
	x.end(t.id, t.epoch, commit)
	t.open, t.groups, t.ended, t.commit = false, nil, true, commit
}

// verify says how a TxnOffsetCommit is refused before its group is asked; 0 if it is not. From version 5 the group is added by it
// (txn-commit.verified).
func (x *transactions) verify(m *kmsg.TxnOffsetCommitRequest, version int16) int16 {
	t, code := x.find(m.TransactionalID, m.ProducerID, m.ProducerEpoch, invalidProducerEpoch)
	switch {
	case code == invalidMapping && x.profile.Defects.Has(classic.DefectTxnUnverified):
		return 0
	case code != 0:
		return code
	case version >= 5:
		t.add(m.Group)
		return 0
	case x.profile.Defects.Has(classic.DefectTxnUnverified) || t.open && t.groups[m.Group]:
		return 0
	case version >= 4:
		return transactionAbortable
	}
	return invalidTxnState
}
