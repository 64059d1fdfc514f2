package server

import (
	"encoding/binary"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Error codes of Produce that are not kfake's.
const (
	corruptMessage      int16 = 2
	invalidRequiredAcks int16 = 21
	invalidRecord       int16 = 87
)

const noRecords = "a record batch has at least one record"

// severalByID says whether a Produce names several topics by their ids. kfake remembers which partitions it has answered by the topic's name, and that is empty for each topic whose
// id it does not know, and for all topics where acks are none that there are: a partition that two of those have ends the process.
func severalByID(req *kmsg.ProduceRequest) bool { return req.Version >= 13 && len(req.Topics) > 1 }

// produce takes out of a Produce what kfake would not survive, or would take and Kafka does not. topicTable.exclude keeps the topics that are there from going before kfake looks for
// them, so it has to be done with the request on return: it is asked for an answer also where the client wants none.
func (v *visit) produce(h header, req *kmsg.ProduceRequest) (reply []byte, ok bool, err error) {
	several := severalByID(req)
	byID := v.node.cluster.topics.known.Load().byID
	rest := *req
	refused := sift(&rest.Topics, func(t kmsg.ProduceRequestTopic) (r kmsg.ProduceResponseTopic, refused bool) {
		if !several {
			return r, false
		}
		code := unknownTopicID
		switch _, there := byID[t.TopicID]; {
		case req.Acks < -1 || req.Acks > 1:
			code = invalidRequiredAcks
		case there:
			return r, false
		}
		return unproduced(t, code), true
	})
	empty := takeEmpty(rest.Topics)
	changed := len(refused)+len(empty) > 0
	silent := req.Acks == 0 && (changed || several)
	if silent {
		rest.Acks = 1
	}
	reply, ok, err = v.rest(h, changed || silent, &rest, func(resp kmsg.Response) {
		r := resp.(*kmsg.ProduceResponse)
		for _, t := range r.Topics {
			for i := range t.Partitions {
				if p := &t.Partitions[i]; p.ErrorCode == corruptMessage && empty[produced{t.Topic, t.TopicID, p.Partition}] {
					p.ErrorCode, p.ErrorMessage, p.BaseOffset = invalidRecord, kmsg.StringPtr(noRecords), -1
				}
			}
		}
		r.Topics = append(r.Topics, refused...)
	})
	if silent {
		reply = nil
	}
	return reply, ok, err
}

// unproduced is the answer for a topic of which nothing is looked at.
func unproduced(t kmsg.ProduceRequestTopic, code int16) kmsg.ProduceResponseTopic {
	r := kmsg.NewProduceResponseTopic()
	r.Topic, r.TopicID = t.Topic, t.TopicID
	for _, p := range t.Partitions {
		rp := kmsg.NewProduceResponseTopicPartition()
		rp.Partition, rp.ErrorCode, rp.BaseOffset = p.Partition, code, -1
		r.Partitions = append(r.Partitions, rp)
	}
	return r
}

// produced is a partition as a Produce names it: by the name of its topic or by its id.
type produced struct {
	topic     string
	id        [16]byte
	partition int32
}

// takeEmpty takes away the batches that say they have no records, or fewer, and returns whose they were: kfake would take them, and count its offsets backwards. Of no batch at
// all it says that it is corrupt, once it has looked for everything else.
func takeEmpty(topics []kmsg.ProduceRequestTopic) (taken map[produced]bool) {
	for i := range topics {
		t := &topics[i]
		if !slices.ContainsFunc(t.Partitions, isEmpty) {
			continue
		}
		t.Partitions = slices.Clone(t.Partitions)
		for j := range t.Partitions {
			if p := &t.Partitions[j]; isEmpty(*p) {
				if taken == nil {
					taken = map[produced]bool{}
				}
				taken[produced{t.Topic, t.TopicID, p.Partition}] = true
				p.Records = nil
			}
		}
	}
	return taken
}

// isEmpty looks at the header of a batch of version 2, the only one that there is here.
func isEmpty(p kmsg.ProduceRequestTopicPartition) bool {
	const magic, count = 16, 57
	return len(p.Records) >= count+4 && p.Records[magic] == 2 && int32(binary.BigEndian.Uint32(p.Records[count:])) <= 0
}
