package server

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxAllPartitions bounds the partitions of all topics of a cluster, so that no client makes it remember or list millions.
const maxAllPartitions = 10_000

const policyViolation int16 = 44

var (
	tooManyOfTopic = fmt.Sprintf("a topic has 1 to %d partitions here", maxPartitions)
	tooManyOfAll   = fmt.Sprintf("all topics together have at most %d partitions here; delete some", maxAllPartitions)
)

// partitions are how many all topics have together.
func (t *topicTable) partitions() (n int) {
	for _, known := range t.known.Load().byName {
		n += int(known.partitions)
	}
	return n
}

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

// guarded answers requests that would make more than there may be: what is too much is refused here, kfake answers the rest. False where nothing is.
func (v *visit) guarded(h header, req kmsg.Request) (reply []byte, ok bool, err error) {
	topics := v.node.cluster.topics
	switch req := req.(type) {
	case *kmsg.CreateTopicsRequest:
		all := topics.partitions()
		var refused []kmsg.CreateTopicsResponseTopic
		rest := *req
		rest.Topics = slices.DeleteFunc(slices.Clone(req.Topics), func(t kmsg.CreateTopicsRequestTopic) bool {
			n := max(int(t.NumPartitions), len(t.ReplicaAssignment), 1)
			code, why := refusal(n, n, &all)
			if code == 0 {
				return false
			}
			r := kmsg.NewCreateTopicsResponseTopic()
			r.Topic, r.ErrorCode, r.ErrorMessage, r.NumPartitions, r.ReplicationFactor = t.Topic, code, &why, -1, -1
			refused = append(refused, r)
			return true
		})
		if len(refused) == 0 {
			return nil, false, nil
		}
		resp, err := v.askAndLearn(&rest)
		if err != nil {
			return nil, true, err
		}
		r := resp.(*kmsg.CreateTopicsResponse)
		r.Topics = append(r.Topics, refused...)
		return appendResponse(nil, h.correlation, r), true, nil
	case *kmsg.CreatePartitionsRequest:
		all, known := topics.partitions(), topics.known.Load().byName
		var refused []kmsg.CreatePartitionsResponseTopic
		rest := *req
		rest.Topics = slices.DeleteFunc(slices.Clone(req.Topics), func(t kmsg.CreatePartitionsRequestTopic) bool {
			n := max(int(t.Count), len(t.Assignment))
			code, why := refusal(n, n-int(known[t.Topic].partitions), &all)
			if code == 0 {
				return false
			}
			r := kmsg.NewCreatePartitionsResponseTopic()
			r.Topic, r.ErrorCode, r.ErrorMessage = t.Topic, code, &why
			refused = append(refused, r)
			return true
		})
		if len(refused) == 0 {
			return nil, false, nil
		}
		resp, err := v.askAndLearn(&rest)
		if err != nil {
			return nil, true, err
		}
		r := resp.(*kmsg.CreatePartitionsResponse)
		r.Topics = append(r.Topics, refused...)
		return appendResponse(nil, h.correlation, r), true, nil
	case *kmsg.MetadataRequest:
		full := topics.partitions()+len(req.Topics) > maxAllPartitions
		if h.version < 4 || full && req.AllowAutoTopicCreation || slices.ContainsFunc(req.Topics, illegal) {
			reply, err := v.metadata(h, req, !full)
			return reply, true, err
		}
	}
	return nil, false, nil
}

func (v *visit) askAndLearn(req kmsg.Request) (kmsg.Response, error) {
	resp, err := v.line.ask(req)
	if err != nil {
		return nil, err
	}
	return resp, v.node.cluster.learn(req, nil)
}
