package core

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetFetch is §2.7: in every state and to anyone, the last offset that is durable (fetch.committed). Where it has to be stable, it
// waits for the writes that are open.
func (c *Coordinator) offsetFetch(r Request, req *kmsg.OffsetFetchRequest) kmsg.Response {
	if code := c.gate(); code != None {
		return fetchError(r.Version, req, code)
	}
	if wantsStable(r, req) && len(c.writes) > 0 {
		c.behind(&fetching{r, req})
		return nil
	}
	return c.fetch(r, req)
}

func wantsStable(r Request, req *kmsg.OffsetFetchRequest) bool {
	return r.Version >= 7 && req.RequireStable
}

// fetching is a stable OffsetFetch that waits for a write (fetch.unstable.plain; §5.1 DF21).
type fetching struct {
	request Request
	message *kmsg.OffsetFetchRequest
}

func (w *fetching) ended(c *Coordinator, _ AppendID, code int16) {
	if code != None {
		c.answer(w.request.Ticket, fetchError(w.request.Version, w.message, fetchAppendError(code)))
		return
	}
	c.answer(w.request.Ticket, c.fetch(w.request, w.message))
}

func (c *Coordinator) fetch(r Request, req *kmsg.OffsetFetchRequest) kmsg.Response {
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.SetVersion(r.Version)
	stable := wantsStable(r, req)
	if r.Version >= 8 {
		for _, g := range req.Groups {
			rg := kmsg.NewOffsetFetchResponseGroup()
			rg.Group = g.Group
			if r.Version >= 10 {
				rg.Topics = c.fetchByID(g.Group, g.Topics, stable)
			} else {
				rg.Topics = c.fetchGroup(g.Group, g.Topics, stable)
			}
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
	for _, t := range c.fetchGroup(req.Group, topics, stable) {
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
func (c *Coordinator) fetchGroup(id string, topics []kmsg.OffsetFetchRequestGroupTopic, stable bool) []kmsg.OffsetFetchResponseGroupTopic {
	g := c.groups[id]
	if topics == nil {
		topics = g.committedTopics()
	}
	var answers []kmsg.OffsetFetchResponseGroupTopic
	for _, t := range topics {
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.Topic = t.Topic
		for _, index := range t.Partitions {
			rt.Partitions = append(rt.Partitions, g.fetch(partition{t.Topic, index}, [16]byte{}, stable))
		}
		answers = append(answers, rt)
	}
	return answers
}

// fetchByID is fetchGroup for topics named by their ids: an id that is not known is an error, and one under which nothing was
// committed has no offset, even if another topic of that name had. Of all topics, those that are gone are left out.
func (c *Coordinator) fetchByID(id string, topics []kmsg.OffsetFetchRequestGroupTopic, stable bool) []kmsg.OffsetFetchResponseGroupTopic {
	g := c.groups[id]
	if topics == nil {
		for _, t := range g.committedTopics() {
			if known, ok := c.settings.TopicID(t.Topic); ok {
				t.TopicID = known
				topics = append(topics, t)
			}
		}
	}
	var answers []kmsg.OffsetFetchResponseGroupTopic
	for _, t := range topics {
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.TopicID = t.TopicID
		name, known := c.settings.TopicName(t.TopicID)
		for _, index := range t.Partitions {
			if known {
				rt.Partitions = append(rt.Partitions, g.fetch(partition{name, index}, t.TopicID, stable))
				continue
			}
			rp := noOffset(index)
			rp.ErrorCode = UnknownTopicID
			rt.Partitions = append(rt.Partitions, rp)
		}
		answers = append(answers, rt)
	}
	return answers
}

// committedTopics are the partitions that have an offset, in order. A nil group has none.
func (g *group) committedTopics() (topics []kmsg.OffsetFetchRequestGroupTopic) {
	if g == nil {
		return nil
	}
	for _, p := range slices.SortedFunc(maps.Keys(g.offsets), comparePartitions) {
		if last := len(topics) - 1; last >= 0 && topics[last].Topic == p.topic {
			topics[last].Partitions = append(topics[last].Partitions, p.index)
			continue
		}
		topics = append(topics, kmsg.OffsetFetchRequestGroupTopic{Topic: p.topic, Partitions: []int32{p.index}})
	}
	return topics
}

// fetch answers for a partition; where it has to be stable, an open transaction's offset must not be passed by. A nil group has none.
func (g *group) fetch(p partition, id [16]byte, stable bool) kmsg.OffsetFetchResponseGroupTopicPartition {
	rp := noOffset(p.index) // fetch.nothing
	if g == nil {
		return rp
	}
	if stable && g.isUnstable(p) {
		rp.ErrorCode = UnstableOffsetCommit // fetch.unstable
		return rp
	}
	o, ok := g.offsets[p]
	if !ok || id != [16]byte{} && o.topicID != [16]byte{} && id != o.topicID {
		return rp
	}
	rp.Offset, rp.LeaderEpoch, rp.Metadata = o.at, o.leaderEpoch, kmsg.StringPtr(o.metadata)
	return rp
}

func noOffset(index int32) kmsg.OffsetFetchResponseGroupTopicPartition {
	rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata = index, -1, -1, kmsg.StringPtr("")
	return rp
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
