package core

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetFetch is §2.7: in every state and to anyone, the last offset that is durable (fetch.committed). It never waits: there are no
// transactions whose end a stable read would have to await.
func (c *Coordinator) offsetFetch(r Request, req *kmsg.OffsetFetchRequest) kmsg.Response {
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.SetVersion(r.Version)
	if r.Version >= 8 {
		for _, g := range req.Groups {
			rg := kmsg.NewOffsetFetchResponseGroup()
			rg.Group = g.Group
			rg.Topics = c.fetchGroup(g.Group, g.Topics)
			resp.Groups = append(resp.Groups, rg)
		}
		return resp
	}
	var topics []kmsg.OffsetFetchRequestGroupTopic
	if req.Topics != nil || r.Version < 2 {
		topics = []kmsg.OffsetFetchRequestGroupTopic{} // without a list, all topics: from version 2
	}
	for _, t := range req.Topics {
		topics = append(topics, kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	for _, t := range c.fetchGroup(req.Group, topics) {
		rt := kmsg.NewOffsetFetchResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata, rp.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// fetchGroup answers for one group; nil topics are all that have an offset (fetch.all).
func (c *Coordinator) fetchGroup(id string, topics []kmsg.OffsetFetchRequestGroupTopic) []kmsg.OffsetFetchResponseGroupTopic {
	offsets := map[partition]offset{}
	if g := c.groups[id]; g != nil {
		offsets = g.offsets
	}
	if topics == nil {
		for _, p := range slices.SortedFunc(maps.Keys(offsets), comparePartitions) {
			if last := len(topics) - 1; last >= 0 && topics[last].Topic == p.topic {
				topics[last].Partitions = append(topics[last].Partitions, p.index)
				continue
			}
			topics = append(topics, kmsg.OffsetFetchRequestGroupTopic{Topic: p.topic, Partitions: []int32{p.index}})
		}
	}
	var answers []kmsg.OffsetFetchResponseGroupTopic
	for _, t := range topics {
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, index := range t.Partitions {
			rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata = index, -1, -1, kmsg.StringPtr("") // fetch.nothing
			if o, ok := offsets[partition{t.Topic, index}]; ok {
				rp.Offset, rp.LeaderEpoch, rp.Metadata = o.at, o.leaderEpoch, kmsg.StringPtr(o.metadata)
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		answers = append(answers, rt)
	}
	return answers
}

// fetchError is the error of a whole group: in each partition in version 1 (verified item 1), at the top up to version 7, with each
// group from version 8.
func fetchError(version int16, req *kmsg.OffsetFetchRequest, code int16) kmsg.Response {
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.SetVersion(version)
	if version >= 8 {
		for _, g := range req.Groups {
			rg := kmsg.NewOffsetFetchResponseGroup()
			rg.Group, rg.ErrorCode = g.Group, code
			resp.Groups = append(resp.Groups, rg)
		}
		return resp
	}
	if version >= 2 {
		resp.ErrorCode = code
		return resp
	}
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetFetchResponseTopic()
		rt.Topic = t.Topic
		for _, index := range t.Partitions {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata, rp.ErrorCode = index, -1, -1, kmsg.StringPtr(""), code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}
