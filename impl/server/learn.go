package server

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// learn takes up what an answer of kfake means for groups, before the client sees it: topics that come and go, transactions that end.
func (c *Cluster) learn(req kmsg.Request, reply []byte) error {
	switch req := req.(type) {
	case *kmsg.CreateTopicsRequest, *kmsg.CreatePartitionsRequest, *kmsg.DeleteTopicsRequest:
		return c.refreshTopics()
	case *kmsg.MetadataRequest:
		return c.learnOfTopics(req)
	case *kmsg.InitProducerIDRequest:
		resp, err := readReply(req, reply)
		if err != nil || req.TransactionalID == nil {
			return err
		}
		r := resp.(*kmsg.InitProducerIDResponse)
		if r.ErrorCode == core.None {
			return c.mark(c.ledger.init(*req.TransactionalID, core.Producer{ID: r.ProducerID, Epoch: r.ProducerEpoch}, req.TransactionTimeoutMillis))
		}
	case *kmsg.AddOffsetsToTxnRequest:
		resp, err := readReply(req, reply)
		if err != nil {
			return err
		}
		if resp.(*kmsg.AddOffsetsToTxnResponse).ErrorCode == core.None {
			c.enlist(req.TransactionalID, core.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}, req.Group)
		}
	case *kmsg.EndTxnRequest:
		resp, err := readReply(req, reply)
		if err != nil {
			return err
		}
		r := resp.(*kmsg.EndTxnResponse)
		if r.ErrorCode == core.None {
			next := core.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}
			if req.Version >= 5 {
				next = core.Producer{ID: r.ProducerID, Epoch: r.ProducerEpoch}
			}
			return c.mark(c.ledger.end(req.TransactionalID, next, req.Commit))
		}
	}
	return nil
}

// learnOfTopics looks for topics that a Metadata request may have made.
func (c *Cluster) learnOfTopics(req *kmsg.MetadataRequest) error {
	known := c.topics.known.Load().byName
	if req.AllowAutoTopicCreation && slices.ContainsFunc(req.Topics, func(t kmsg.MetadataRequestTopic) bool {
		if t.Topic == nil {
			return false
		}
		_, ok := known[*t.Topic]
		return !ok
	}) {
		return c.refreshTopics()
	}
	return nil
}

// refreshTopics looks which topics there are, has the offsets of those that are gone forgotten, and waits until that is in the log: who has seen that they are gone must
// not see them again.
func (c *Cluster) refreshTopics() error {
	gone, err := c.topics.refresh()
	if err != nil || len(gone) == 0 {
		return err
	}
	told := make(chan error, len(c.shards))
	for _, l := range c.shards {
		if !l.do(func() {
			l.topicsDeleted(gone)
			l.keeper.await(func(err error) { told <- err })
		}) {
			return errStopped
		}
	}
	var failed error
	for _, l := range c.shards {
		failed = errors.Join(failed, l.kept(told))
	}
	return failed
}

// forgotten waits until no group has offsets of topics that were deleted before, in the log either: groups that are being loaded forget them once they are there, and a topic that is made
// anew under the name must not find them after the end of the process. Where nothing is kept, or loading takes longer than the timeout, that is not waited for.
func (c *Cluster) forgotten(timeout time.Duration) error {
	if c.options.Log == nil {
		return nil
	}
	over := time.NewTimer(timeout)
	defer over.Stop()
	told := make(chan error, len(c.shards))
	for _, l := range c.shards {
		if !l.do(func() { l.whenLoaded(func() { l.keeper.await(func(err error) { told <- err }) }) }) {
			return errStopped
		}
	}
	var failed error
	for range c.shards {
		select {
		case err := <-told:
			failed = errors.Join(failed, err)
		case <-over.C:
			return failed
		case <-c.quit:
			return errStopped
		}
	}
	return failed
}

// mark ends a transaction in the groups that have offsets of it, and waits until that is in the log.
func (c *Cluster) mark(m *core.Marker, groups []string) error {
	if m == nil {
		return nil
	}
	var failed error
	done := map[int32]bool{}
	for _, g := range groups {
		p := partitionOf(g, len(c.shards))
		if l := c.shards[p]; !done[p] {
			done[p] = true
			failed = errors.Join(failed, l.mark(*m))
		}
	}
	return failed
}

// mark ends a transaction from outside of the loop.
func (l *loop) mark(m core.Marker) error {
	ended := make(chan error, 1)
	l.do(func() { l.end(m, func(err error) { ended <- err }) })
	return l.kept(ended)
}

// kept waits for what is told of a write.
func (l *loop) kept(told <-chan error) error {
	select {
	case err := <-told:
		return err
	case <-l.quit:
		return errStopped
	}
}

// enlist makes a group part of a transaction, and sees to it that the transaction's end is heard of where nobody asks for it: where its
// timeout is over.
func (c *Cluster) enlist(id string, p core.Producer, group string) {
	if !c.ledger.enlist(id, p, group) {
		return
	}
	c.ledger.watch(id, p, func() bool {
		req := kmsg.NewPtrDescribeTransactionsRequest()
		req.TransactionalIDs = []string{id}
		resp, err := c.backing.ask(c.backing.cluster.CoordinatorFor(id), req)
		if err != nil {
			return true // closing
		}
		for _, t := range resp.(*kmsg.DescribeTransactionsResponse).TransactionStates {
			if t.State == "Ongoing" && t.ProducerID == p.ID && t.ProducerEpoch == p.Epoch {
				return false
			}
		}
		if err := c.mark(c.ledger.expire(id, p)); err != nil && !errors.Is(err, errStopped) {
			c.options.Report(fmt.Errorf("aborting the transaction of %s: %w", id, err))
		}
		return true
	})
}

// verify says whether a TxnOffsetCommit belongs to a transaction. From version 5 on it makes its group part of it by itself.
func (c *Cluster) verify(req *kmsg.TxnOffsetCommitRequest, version int16) int16 {
	p := core.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}
	if version < 5 {
		return c.ledger.verify(req.TransactionalID, p, req.Group, version)
	}
	code := c.join(req.TransactionalID, p, req.Group)
	if code == producerFenced {
		code = invalidProducerEpoch // what this API says of it
	}
	return code
}

// join makes a group part of a producer's transaction, here and at kfake.
func (c *Cluster) join(id string, p core.Producer, group string) int16 {
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.Version = c.backing.offered[kmsg.AddOffsetsToTxn].Max
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, p.ID, p.Epoch, group
	resp, err := c.backing.ask(c.backing.cluster.CoordinatorFor(id), add)
	if err != nil {
		return core.CoordinatorNotAvailable
	}
	code := resp.(*kmsg.AddOffsetsToTxnResponse).ErrorCode
	if code == core.None {
		c.enlist(id, p, group)
	}
	return code
}
