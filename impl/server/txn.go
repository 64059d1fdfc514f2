package server

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// Error codes of transactions.
const (
	invalidProducerEpoch      int16 = 47
	invalidTxnState           int16 = 48
	invalidProducerIDMapping  int16 = 49
	invalidTransactionTimeout int16 = 50
	producerFenced            int16 = 90
	transactionAbortable      int16 = 120
)

const (
	// maxTransactionTimeout is transaction.max.timeout.ms, in milliseconds.
	maxTransactionTimeout = 15 * 60 * 1000

	// lastEpoch is the highest that a producer id serves for; then it is given a new id.
	lastEpoch int16 = 32766
)

// Transactions coordinates transactions as far as a group coordinator's tests need it: producers get an id and an epoch, a group is
// added, and the end is a marker for the group coordinator. Transactions have no timeout here. It must not be used from two goroutines
// at a time.
type Transactions struct {
	byID   map[string]*transaction
	lastID int64
}

type transaction struct {
	producer core.Producer
	groups   map[string]struct{} // of the open transaction
	open     bool
	ended    bool // there has been a transaction, and this is how it ended:
	commit   bool
}

// NewTransactions returns a coordinator that knows no producer.
func NewTransactions() *Transactions { return &Transactions{byID: map[string]*transaction{}} }

// txnVersions are what is offered of these APIs. Later versions of EndTxn hand out a new epoch with each answer.
var txnVersions = map[kmsg.Key]core.VersionRange{
	kmsg.InitProducerID:  {Min: 0, Max: 4},
	kmsg.AddOffsetsToTxn: {Min: 0, Max: 4},
	kmsg.EndTxn:          {Min: 0, Max: 4},
}

// Handle answers a request, at the given version, if it is one of transactions. The marker, if there is one, is for the coordinator of
// groups, before the answer is sent.
func (x *Transactions) Handle(req kmsg.Request, version int16) (resp kmsg.Response, marker *core.Marker, ok bool) {
	if r, served := txnVersions[kmsg.Key(req.Key())]; !served || !r.Has(version) {
		return nil, nil, false
	}
	switch req := req.(type) {
	case *kmsg.InitProducerIDRequest:
		resp, marker = x.initProducer(req, version)
	case *kmsg.AddOffsetsToTxnRequest:
		resp = x.addOffsets(req, version)
	case *kmsg.EndTxnRequest:
		resp, marker = x.end(req, version)
	default:
		return nil, nil, false
	}
	resp.SetVersion(version)
	return resp, marker, true
}

// Verify says whether a TxnOffsetCommit belongs to an open transaction that its group is part of, as core.Request.Verified wants to know.
// From version 5 it joins the transaction by itself.
func (x *Transactions) Verify(req *kmsg.TxnOffsetCommitRequest, version int16) int16 {
	t, code := x.find(req.TransactionalID, core.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}, invalidProducerEpoch)
	if code != core.None {
		return code
	}
	if version >= 5 {
		t.add(req.Group)
		return core.None
	}
	if _, added := t.groups[req.Group]; added && t.open {
		return core.None
	}
	return notPart(version)
}

// find is the check of a producer's identity; fenced is what one of another epoch is told.
func (x *Transactions) find(id string, p core.Producer, fenced int16) (*transaction, int16) {
	if id == "" {
		return nil, core.InvalidRequest
	}
	switch t := x.byID[id]; {
	case t == nil || t.producer.ID != p.ID:
		return nil, invalidProducerIDMapping
	case t.producer.Epoch != p.Epoch:
		return nil, fenced
	default:
		return t, core.None
	}
}

// fencedSince is what a producer of an older epoch is told: PRODUCER_FENCED from a version on.
func fencedSince(since, version int16) int16 {
	if version >= since {
		return producerFenced
	}
	return invalidProducerEpoch
}

// initProducer gives a producer an id and an epoch in which no earlier one of its name is let in. What that one has left open is aborted.
func (x *Transactions) initProducer(req *kmsg.InitProducerIDRequest, version int16) (kmsg.Response, *core.Marker) {
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if req.TransactionalID == nil { // idempotent, without transactions
		x.lastID++
		resp.ProducerID, resp.ProducerEpoch = x.lastID, 0
		return resp, nil
	}
	id := *req.TransactionalID
	switch t := x.byID[id]; {
	case id == "":
		resp.ErrorCode = core.InvalidRequest
		return resp, nil
	case req.TransactionTimeoutMillis <= 0 || req.TransactionTimeoutMillis > maxTransactionTimeout:
		resp.ErrorCode = invalidTransactionTimeout
		return resp, nil
	case version >= 3 && req.ProducerID != -1 && (t == nil || t.producer != core.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}):
		resp.ErrorCode = fencedSince(4, version)
		return resp, nil
	}
	t, marker := x.byID[id], (*core.Marker)(nil)
	if t == nil {
		t = &transaction{producer: core.Producer{Epoch: lastEpoch}}
		x.byID[id] = t
	}
	if t.open {
		marker = t.close(false)
	}
	t.ended = false
	if t.producer.Epoch++; t.producer.Epoch > lastEpoch {
		x.lastID++
		t.producer = core.Producer{ID: x.lastID}
	}
	resp.ProducerID, resp.ProducerEpoch = t.producer.ID, t.producer.Epoch
	return resp, marker
}

func (x *Transactions) addOffsets(req *kmsg.AddOffsetsToTxnRequest, version int16) kmsg.Response {
	resp := kmsg.NewPtrAddOffsetsToTxnResponse()
	t, code := x.find(req.TransactionalID, core.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}, fencedSince(2, version))
	if resp.ErrorCode = code; code == core.None {
		t.add(req.Group)
	}
	return resp
}

// end ends a transaction. A repeated request is answered as the first.
func (x *Transactions) end(req *kmsg.EndTxnRequest, version int16) (kmsg.Response, *core.Marker) {
	resp := kmsg.NewPtrEndTxnResponse()
	t, code := x.find(req.TransactionalID, core.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}, fencedSince(2, version))
	switch {
	case code != core.None:
		resp.ErrorCode = code
	case t.open:
		return resp, t.close(req.Commit)
	case !t.ended || t.commit != req.Commit:
		resp.ErrorCode = invalidTxnState
	}
	return resp, nil
}

func (t *transaction) add(group string) {
	if !t.open {
		t.open, t.groups = true, map[string]struct{}{}
	}
	t.groups[group] = struct{}{}
}

func (t *transaction) close(commit bool) *core.Marker {
	t.open, t.groups, t.ended, t.commit = false, nil, true, commit
	return &core.Marker{Producer: t.producer, Commit: commit}
}
