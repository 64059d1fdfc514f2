package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// inUse is a file in kfake's folder while a process uses that. Whoever finds it there begins after one that was killed.
type inUse string

func inUseOf(records string) inUse { return inUse(filepath.Join(records, "in-use")) }

// take says whether the last process was killed. From now on it is this one that uses the folder.
func (f inUse) take() (killed bool, err error) {
	_, err = os.Stat(string(f))
	if !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	return false, os.WriteFile(string(f), []byte("While this file is here the folder is in use, or whoever used it was killed.\n"), 0o644)
}

// release says that all has been written.
func (f inUse) release() error { return os.Remove(string(f)) }

// ends are how transactions have ended that had records, by producer: whether they were committed.
type ends map[core.Producer]bool

// recoverTransactions puts right what kfake makes of transactions that were open when the process was killed. It aborts them in memory: without a marker in the log their
// records would count as committed by the next transaction of their producer, once the log is read again, and with an epoch just after theirs, which lets it take
// their EndTxn for the repeat of an earlier one. So the markers are written, and their producers fenced as by a coordinator that has given a transaction up. What it finds in the
// logs of how others have ended is for the offsets that they had.
func (b *backing) recoverTransactions(transactional map[int64]transactionalID) (ends, error) {
	ended, cut := ends{}, map[int64]bool{}
	for node := range b.lines {
		err := b.eachLed(int32(node), func(topic string, partition int32) error {
			open, err := b.scan(int32(node), topic, partition, ended)
			for pid, epoch := range open {
				cut[pid] = true
				err = errors.Join(err, b.writeAbort(int32(node), topic, partition, core.Producer{ID: pid, Epoch: epoch}))
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("looking for transactions that were open when the process was killed: %w", err)
		}
	}
	maps.DeleteFunc(ended, func(p core.Producer, _ bool) bool { return cut[p.ID] }) // what it had committed before, in the same epoch
	for pid := range cut {
		if err := b.fence(transactional[pid]); err != nil {
			return nil, fmt.Errorf("fencing a producer whose transaction was open when the process was killed: %w", err)
		}
	}
	return ended, nil
}

// begin says which producers have transactions, and how these have ended as far as a process that was killed has left that open.
func (b *backing) begin() (map[int64]transactionalID, ends, error) {
	if b.inUse == "" {
		return nil, nil, nil
	}
	producers, err := b.transactional()
	if err != nil || !b.killed || len(producers) == 0 {
		return producers, nil, err
	}
	ended, err := b.recoverTransactions(producers)
	if err != nil {
		return nil, nil, err
	}
	producers, err = b.transactional() // a new epoch may come with a new id
	return producers, ended, err
}

// transactionalID is a name of producers, and who coordinates its transactions.
type transactionalID struct {
	name string
	node int32
}

// transactional are the producers that have a name.
func (b *backing) transactional() (map[int64]transactionalID, error) {
	all := map[int64]transactionalID{}
	resp, err := b.ask(0, kmsg.NewPtrListTransactionsRequest()) // any broker of kfake lists those of all
	if err != nil {
		return nil, err
	}
	for _, t := range resp.(*kmsg.ListTransactionsResponse).TransactionStates {
		all[t.ProducerID] = transactionalID{t.TransactionalID, b.cluster.CoordinatorFor(t.TransactionalID)}
	}
	return all, nil
}

// describe says what kfake has of a name's transaction.
func (b *backing) describe(t transactionalID) (kmsg.DescribeTransactionsResponseTransactionState, error) {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{t.name}
	resp, err := b.ask(t.node, req)
	if err != nil {
		return kmsg.DescribeTransactionsResponseTransactionState{}, err
	}
	states := resp.(*kmsg.DescribeTransactionsResponse).TransactionStates
	if len(states) != 1 {
		return kmsg.DescribeTransactionsResponseTransactionState{}, fmt.Errorf("kfake describes %d transactions of %s", len(states), t.name)
	}
	return states[0], nil
}

// fence raises the epoch of a producer.
func (b *backing) fence(t transactionalID) error {
	if t.name == "" {
		return nil // kfake has forgotten it
	}
	is, err := b.describe(t)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version = 4
	req.TransactionalID, req.TransactionTimeoutMillis, req.ProducerID, req.ProducerEpoch = &t.name, is.TimeoutMillis, is.ProducerID, is.ProducerEpoch
	resp, err := b.ask(t.node, req)
	if err == nil {
		if code := resp.(*kmsg.InitProducerIDResponse).ErrorCode; code != core.None {
			err = fmt.Errorf("%s: InitProducerId is answered %d", t.name, code)
		}
	}
	return err
}

// eachLed calls f for each partition that a node leads.
func (b *backing) eachLed(node int32, f func(topic string, partition int32) error) error {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = b.offered[kmsg.Metadata].Max
	resp, err := b.ask(node, req)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.MetadataResponse).Topics {
		for _, p := range t.Partitions {
			if p.Leader == node && t.Topic != nil {
				err = errors.Join(err, f(*t.Topic, p.Partition))
			}
		}
	}
	return err
}

// scanned is how much of a partition is read at a time.
const scanned = 8 << 20

// scan reads a partition for transactions: those that nothing ends there, by producer with their epoch. How the others end it notes.
func (b *backing) scan(node int32, topic string, partition int32, ended ends) (open map[int64]int16, err error) {
	open = map[int64]int16{}
	offset, err := b.beginning(node, topic, partition)
	for err == nil {
		var batches []byte
		if batches, err = b.read(node, topic, partition, offset); err != nil || len(batches) == 0 {
			break
		}
		for len(batches) > 0 && err == nil {
			var batch kmsg.RecordBatch
			if err = batch.ReadFrom(batches); err != nil {
				break
			}
			batches = batches[min(len(batches), 12+int(batch.Length)):]
			offset = batch.FirstOffset + int64(batch.LastOffsetDelta) + 1
			p := core.Producer{ID: batch.ProducerID, Epoch: batch.ProducerEpoch}
			switch {
			case batch.Attributes&controlBatch != 0:
				delete(open, p.ID)
				ended[p], err = committed(&batch)
			case batch.Attributes&transactionalBatch != 0:
				open[p.ID] = p.Epoch
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("%s-%d: %w", topic, partition, err)
	}
	return open, err
}

// Attributes of a batch.
const (
	transactionalBatch int16 = 0x10
	controlBatch       int16 = 0x20
)

// committed reads the type of a control record: 0 is an abort, 1 a commit.
func committed(batch *kmsg.RecordBatch) (bool, error) {
	var r kmsg.Record
	if err := r.ReadFrom(batch.Records); err != nil {
		return false, fmt.Errorf("the control record at offset %d: %w", batch.FirstOffset, err)
	}
	return len(r.Key) >= 4 && binary.BigEndian.Uint16(r.Key[2:]) == 1, nil
}

func (b *backing) beginning(node int32, topic string, partition int32) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version = 4
	req.ReplicaID = -1
	req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Partition: partition, CurrentLeaderEpoch: -1, Timestamp: -2}}}}
	resp, err := b.ask(node, req)
	if err != nil {
		return 0, err
	}
	p := resp.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
	if p.ErrorCode != core.None {
		return 0, fmt.Errorf("ListOffsets is answered %d", p.ErrorCode)
	}
	return p.Offset, nil
}

func (b *backing) read(node int32, topic string, partition int32, offset int64) ([]byte, error) {
	req := kmsg.NewPtrFetchRequest()
	req.Version = 11
	req.ReplicaID, req.MaxBytes = -1, scanned
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, offset, scanned
	req.Topics = []kmsg.FetchRequestTopic{{Topic: topic, Partitions: []kmsg.FetchRequestTopicPartition{part}}}
	resp, err := b.ask(node, req)
	if err != nil {
		return nil, err
	}
	r := resp.(*kmsg.FetchResponse)
	if r.ErrorCode != core.None || len(r.Topics) == 0 {
		return nil, fmt.Errorf("Fetch is answered %d, with %d topics", r.ErrorCode, len(r.Topics))
	}
	p := r.Topics[0].Partitions[0]
	if p.ErrorCode != core.None {
		return nil, fmt.Errorf("Fetch is answered %d", p.ErrorCode)
	}
	return p.RecordBatches, nil
}

// writeAbort ends a producer's transaction in a partition.
func (b *backing) writeAbort(node int32, topic string, partition int32, p core.Producer) error {
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	req.Version = 1
	req.Markers = []kmsg.WriteTxnMarkersRequestMarker{{
		ProducerID: p.ID, ProducerEpoch: p.Epoch, Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: topic, Partitions: []int32{partition}}},
	}}
	resp, err := b.ask(node, req)
	if err != nil {
		return err
	}
	if code := resp.(*kmsg.WriteTxnMarkersResponse).Markers[0].Topics[0].Partitions[0].ErrorCode; code != core.None {
		return fmt.Errorf("%s-%d: WriteTxnMarkers is answered %d", topic, partition, code)
	}
	return nil
}
