package observe

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// fetchTopic is a topic of an OffsetFetch.
type fetchTopic struct {
	name       string
	id         [16]byte
	code       int16 // of all its partitions; 0 if it exists
	partitions []int32
}

// fetchAnswer: fetch.committed, fetch.nothing, fetch.all, fetch.unstable, fetch.error.old. Up to version 7 the request names one group at
// the top, from version 8 one in a list.
func (w *World) fetchAnswer(n *Branch, c *call, code int16) kmsg.Response {
	version := c.request.Version
	topics := c.asked
	if c.askedAll && !w.breaks(classic.FetchAll) {
		topics = n.committed()
	}
	m := kmsg.NewPtrOffsetFetchResponse()
	if version < 8 {
		if version > 1 {
			m.ErrorCode = code
		}
		if code != 0 && version > 1 || code != 0 && (w.config.Profile.Defects.Has(classic.DefectFetchOldErrors) || w.breaks(classic.FetchOldErrors)) {
			return m
		}
		for _, t := range topics {
			one := kmsg.NewOffsetFetchResponseTopic()
			one.Topic = t.name
			for _, p := range t.partitions {
				o, err := w.fetched(n, c, t, p, code)
				part := kmsg.NewOffsetFetchResponseTopicPartition()
				part.Partition, part.Offset, part.LeaderEpoch, part.Metadata, part.ErrorCode = p, o.at, o.epoch, &o.metadata, err
				one.Partitions = append(one.Partitions, part)
			}
			m.Topics = append(m.Topics, one)
		}
		return m
	}
	g := kmsg.NewOffsetFetchResponseGroup()
	g.Group, g.ErrorCode = n.group, code
	if code != 0 || w.breaks(classic.FetchEachGroup) {
		topics = nil
	}
	for _, t := range topics {
		one := kmsg.NewOffsetFetchResponseGroupTopic()
		one.Topic, one.TopicID = t.name, t.id
		if version >= fetchIDs && c.askedAll {
			one.TopicID, _ = w.config.TopicID(t.name)
		}
		for _, p := range t.partitions {
			o, err := w.fetched(n, c, t, p, 0)
			part := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			part.Partition, part.Offset, part.LeaderEpoch, part.Metadata, part.ErrorCode = p, o.at, o.epoch, &o.metadata, err
			one.Partitions = append(one.Partitions, part)
		}
		g.Topics = append(g.Topics, one)
	}
	m.Groups = append(m.Groups, g)
	return m
}

// fetched is the committed offset, or what stands for none, and its error.
func (w *World) fetched(n *Branch, c *call, t fetchTopic, p int32, code int16) (offset, int16) {
	none := offset{topic: t.name, partition: p, at: -1, epoch: -1}
	switch {
	case code != 0:
		return none, code
	case t.code != 0:
		return none, t.code
	case c.event.Stable && !w.breaks(classic.FetchUnstable) && n.unstable(partition{t.name, p}):
		return none, classic.CodeUnstableOffsetCommit
	}
	o, ok := n.offset(t.name, p)
	ok = ok && n.state.Phase != classic.Absent // what has outlived its group (cleanup.pending) nobody is shown
	switch {
	case ok && w.breaks(classic.FetchCommitted):
		o.at++
	case !ok && w.breaks(classic.FetchNothing):
		o = none
		o.at = 0
	case !ok:
		o = none
	}
	return o, 0
}

// committed are the partitions with an offset, by topic.
func (n *Branch) committed() (topics []fetchTopic) {
	if n.state.Phase == classic.Absent {
		return nil // as in fetched
	}
	for _, o := range n.offsets {
		if len(topics) == 0 || topics[len(topics)-1].name != o.topic {
			topics = append(topics, fetchTopic{name: o.topic})
		}
		last := &topics[len(topics)-1]
		last.partitions = append(last.partitions, o.partition)
	}
	return topics
}
