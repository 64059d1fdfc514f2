package server

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// createPartitions adds partitions to topics. Topics never lose any.
func (f *Front) createPartitions(req *kmsg.CreatePartitionsRequest) kmsg.Response {
	resp := kmsg.NewPtrCreatePartitionsResponse()
	for _, t := range req.Topics {
		rt := kmsg.NewCreatePartitionsResponseTopic()
		rt.Topic = t.Topic
		known, ok := f.topics[t.Topic]
		refuse := func(code int16, message string) { rt.ErrorCode, rt.ErrorMessage = code, kmsg.StringPtr(message) }
		switch {
		case !ok:
			refuse(core.UnknownTopicOrPartition, "there is no topic "+t.Topic)
		case t.Count <= known.partitions || t.Count > maxPartitions:
			refuse(invalidPartitions, "count is the new number of partitions: more than there are, and at most 1000")
		case !req.ValidateOnly:
			known.partitions = t.Count
			f.topics[t.Topic] = known
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}
