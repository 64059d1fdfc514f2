package server

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxAllPartitions bounds the partitions of all topics of a cluster, so that no client makes it remember or list millions.
const maxAllPartitions = 10_000

// Error codes of what is answered in front of kfake.
const (
	invalidRequest  int16 = 42
	policyViolation int16 = 44
)

var (
	tooManyOfTopic = fmt.Sprintf("a topic has 1 to %d partitions here", maxPartitions)
	tooManyOfAll   = fmt.Sprintf("all topics together have at most %d partitions here; delete some", maxAllPartitions)
)

// refusal is what a topic is told that would have so many partitions, more of them new: 0 if that is allowed. It counts the new ones.
func refusal(partitions, more int, all *int) (int16, string) {
	switch {
	case partitions > maxPartitions:
		return invalidPartitions, tooManyOfTopic
	case *all+more > maxAllPartitions:
		return policyViolation, tooManyOfAll
	}
	*all += more
	return 0, ""
}

// guarded answers requests that would make more than there may be, or topics of names that there may not be: what is too much is refused here, kfake answers the rest. It also puts
// right what kfake answers otherwise than Kafka, and clients stumble over. False where the answer of kfake is good as it is.
func (v *visit) guarded(h header, req kmsg.Request) (reply []byte, ok bool, err error) {
	topics := v.node.cluster.topics.known.Load()
	all, known := topics.partitions, topics.byName
	switch req := req.(type) {
	case *kmsg.CreateTopicsRequest:
		rest := *req
		refused := sift(&rest.Topics, func(t kmsg.CreateTopicsRequestTopic) (r kmsg.CreateTopicsResponseTopic, refused bool) {
			code, why := invalidTopic, illegalName
			if legal(t.Topic) {
				n := max(int(t.NumPartitions), len(t.ReplicaAssignment), 1)
				code, why = refusal(n, n, &all)
			}
			r = kmsg.NewCreateTopicsResponseTopic()
			r.Topic, r.ErrorCode, r.ErrorMessage, r.NumPartitions, r.ReplicationFactor = t.Topic, code, &why, -1, -1
			return r, code != 0
		})
		return v.rest(h, len(refused) > 0, &rest, func(resp kmsg.Response) {
			r := resp.(*kmsg.CreateTopicsResponse)
			r.Topics = append(r.Topics, refused...)
		})
	case *kmsg.CreatePartitionsRequest:
		rest := *req
		refused := sift(&rest.Topics, func(t kmsg.CreatePartitionsRequestTopic) (r kmsg.CreatePartitionsResponseTopic, refused bool) {
			n := max(int(t.Count), len(t.Assignment))
			code, why := refusal(n, n-int(known[t.Topic].partitions), &all)
			r = kmsg.NewCreatePartitionsResponseTopic()
			r.Topic, r.ErrorCode, r.ErrorMessage = t.Topic, code, &why
			return r, code != 0
		})
		return v.rest(h, len(refused) > 0, &rest, func(resp kmsg.Response) {
			r := resp.(*kmsg.CreatePartitionsResponse)
			r.Topics = append(r.Topics, refused...)
		})
	case *kmsg.DescribeTopicPartitionsRequest:
		if !goesOn(req) {
			return appendResponse(nil, h.correlation, nowhere(req)), true, nil
		}
		return v.rest(h, true, req, func(resp kmsg.Response) {
			for _, t := range resp.(*kmsg.DescribeTopicPartitionsResponse).Topics {
				for i := range t.Partitions {
					p := &t.Partitions[i] // Kafka sends empty lists, and its own client cannot do without
					p.EligibleLeaderReplicas, p.LastKnownELR = orNone(p.EligibleLeaderReplicas), orNone(p.LastKnownELR)
				}
			}
		})
	case *kmsg.ProduceRequest:
		return v.produce(h, req)
	case *kmsg.MetadataRequest:
		full := all+len(req.Topics) > maxAllPartitions
		if !full && makesTopics(h, req) {
			if err := v.node.cluster.makeTopics(req.Topics); err != nil {
				return nil, false, err
			}
		}
		if h.version < 4 || full && req.AllowAutoTopicCreation || slices.ContainsFunc(req.Topics, illegal) {
			reply, err := v.metadata(h, req, !full)
			return reply, true, err
		}
	}
	return nil, false, nil
}

// goesOn says whether a cursor is at a place where the request can go on: a partition, and of a topic that is named, where some are.
func goesOn(req *kmsg.DescribeTopicPartitionsRequest) bool {
	c := req.Cursor
	return c == nil || c.Partition >= 0 && (len(req.Topics) == 0 || slices.ContainsFunc(req.Topics, func(t kmsg.DescribeTopicPartitionsRequestTopic) bool { return t.Topic == c.Topic }))
}

// nowhere is what Kafka answers where it is not. kfake closes the connection.
func nowhere(req *kmsg.DescribeTopicPartitionsRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
	for _, t := range req.Topics {
		r := kmsg.NewDescribeTopicPartitionsResponseTopic()
		r.Topic, r.ErrorCode = kmsg.StringPtr(t.Topic), invalidRequest
		resp.Topics = append(resp.Topics, r)
	}
	return resp
}

func orNone(ids []int32) []int32 {
	if ids == nil {
		return []int32{}
	}
	return ids
}

// sift takes out of a request what is refused, and returns the answers to that.
func sift[T, R any](topics *[]T, refuse func(T) (R, bool)) (refused []R) {
	*topics = slices.DeleteFunc(slices.Clone(*topics), func(t T) bool {
		r, no := refuse(t)
		if no {
			refused = append(refused, r)
		}
		return no
	})
	return refused
}

// rest lets kfake answer what is left of a request, and completes its answer.
func (v *visit) rest(h header, some bool, req kmsg.Request, complete func(kmsg.Response)) (reply []byte, ok bool, err error) {
	if !some {
		return nil, false, nil
	}
	resp, err := v.line.ask(req)
	if err == nil {
		err = v.node.cluster.learn(req, nil)
	}
	if err != nil {
		return nil, true, err
	}
	complete(resp)
	return appendResponse(nil, h.correlation, resp), true, nil
}
