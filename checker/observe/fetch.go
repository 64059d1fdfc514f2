package observe

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// askedOffsets are the partitions that a request asks for, or all that there are.
func askedOffsets(m *kmsg.OffsetFetchRequest, version int16) (topics []fetchTopic, all bool) {
	if version >= 8 {
		for _, t := range m.Groups[0].Topics {
			topics = append(topics, fetchTopic{t.Topic, t.Partitions})
		}
		return topics, m.Groups[0].Topics == nil
	}
	for _, t := range m.Topics {
		topics = append(topics, fetchTopic{t.Topic, t.Partitions})
	}
	return topics, version >= 2 && m.Topics == nil
}

// fetchAnswer: fetch.committed, fetch.nothing, fetch.all. Up to version 7 the request names one group at the top, from version 8 one in
// a list; both are put into the later shape first.
func (n *Branch) fetchAnswer(c *call) kmsg.Response {
	version := c.request.Version
	topics, all := askedOffsets(c.request.Message.(*kmsg.OffsetFetchRequest), version)
	if all {
		topics = n.committed()
	}

	m := kmsg.NewPtrOffsetFetchResponse()
	if version < 8 {
		for _, t := range topics {
			one := kmsg.NewOffsetFetchResponseTopic()
			one.Topic = t.name
			for _, p := range t.partitions {
				o := n.fetched(t.name, p)
				part := kmsg.NewOffsetFetchResponseTopicPartition()
				part.Partition, part.Offset, part.LeaderEpoch, part.Metadata = p, o.at, o.epoch, &o.metadata
				one.Partitions = append(one.Partitions, part)
			}
			m.Topics = append(m.Topics, one)
		}
		return m
	}
	g := kmsg.NewOffsetFetchResponseGroup()
	g.Group = n.group
	for _, t := range topics {
		one := kmsg.NewOffsetFetchResponseGroupTopic()
		one.Topic = t.name
		for _, p := range t.partitions {
			o := n.fetched(t.name, p)
			part := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			part.Partition, part.Offset, part.LeaderEpoch, part.Metadata = p, o.at, o.epoch, &o.metadata
			one.Partitions = append(one.Partitions, part)
		}
		g.Topics = append(g.Topics, one)
	}
	m.Groups = append(m.Groups, g)
	return m
}

type fetchTopic struct {
	name       string
	partitions []int32
}

// fetched is the committed offset, or what stands for none.
func (n *Branch) fetched(topic string, p int32) offset {
	if o, ok := n.offset(topic, p); ok {
		return o
	}
	return offset{topic: topic, partition: p, at: -1, epoch: -1}
}

// committed are the partitions with an offset, by topic.
func (n *Branch) committed() (topics []fetchTopic) {
	for _, o := range n.offsets {
		if len(topics) == 0 || topics[len(topics)-1].name != o.topic {
			topics = append(topics, fetchTopic{name: o.topic})
		}
		last := &topics[len(topics)-1]
		last.partitions = append(last.partitions, o.partition)
	}
	return topics
}
