package observe

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// commitAnswer gives each partition that the group was asked about the group's error, if any, and its own otherwise. Where the write
// failed, whole says whether that is the error of the whole request or only of the partitions that were to be written.
func (w *World) commitAnswer(c *call, code int16, whole bool) kmsg.Response {
	if m, plain := c.request.Message.(*kmsg.OffsetCommitRequest); plain && m.Group == "" && w.breaks(classic.CommitGroupIDFree) {
		code = classic.CodeInvalidGroupID
	}
	whole = whole || code != classic.CodeWriteFailed
	errors := make([]int16, len(c.entries))
	for i, e := range c.entries {
		errors[i] = e.code
		if e.code == 0 || e.size && whole && code != 0 {
			errors[i] = code
		}
	}
	if c.event.Kind == classic.TxnOffsetCommit {
		m := kmsg.NewPtrTxnOffsetCommitResponse()
		m.SetVersion(c.request.Version)
		for i, e := range c.entries {
			at := slices.IndexFunc(m.Topics, func(t kmsg.TxnOffsetCommitResponseTopic) bool { return t.Topic == e.topic && t.TopicID == e.id })
			if at < 0 {
				t := kmsg.NewTxnOffsetCommitResponseTopic()
				t.Topic, t.TopicID = e.topic, e.id
				at, m.Topics = len(m.Topics), append(m.Topics, t)
			}
			one := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			one.Partition, one.ErrorCode = e.at, errors[i]
			m.Topics[at].Partitions = append(m.Topics[at].Partitions, one)
		}
		return m
	}
	m := kmsg.NewPtrOffsetCommitResponse()
	m.SetVersion(c.request.Version)
	for i, e := range c.entries {
		at := slices.IndexFunc(m.Topics, func(t kmsg.OffsetCommitResponseTopic) bool { return t.Topic == e.topic && t.TopicID == e.id })
		if at < 0 {
			t := kmsg.NewOffsetCommitResponseTopic()
			t.Topic, t.TopicID = e.topic, e.id
			at, m.Topics = len(m.Topics), append(m.Topics, t)
		}
		one := kmsg.NewOffsetCommitResponseTopicPartition()
		one.Partition, one.ErrorCode = e.at, errors[i]
		m.Topics[at].Partitions = append(m.Topics[at].Partitions, one)
	}
	return m
}

// mayBlameWrite says whether an outcome is that of a failed write of some partitions, while others had too much metadata. Coordinators
// differ on which error those get, and nothing depends on it.
func (c *call) mayBlameWrite(o Outcome) bool {
	return c.reachesGroup() && len(c.put) > 0 && c.request.WriteFails && !o.Overflow && len(o.Answers) > 0 &&
		slices.ContainsFunc(c.entries, func(e entry) bool { return e.size }) &&
		slices.ContainsFunc(o.Records, func(r classic.Record) bool {
			return r.Kind == classic.OffsetRecords || r.Kind == classic.TxnOffsetRecords
		})
}

// offsetDeleteAnswer: an error at the top leaves no results.
func (w *World) offsetDeleteAnswer(c *call, r *classic.Reply) kmsg.Response {
	m := kmsg.NewPtrOffsetDeleteResponse()
	if m.ErrorCode = r.Error; r.Error != 0 {
		return m
	}
	for _, e := range c.deletes {
		at := slices.IndexFunc(m.Topics, func(t kmsg.OffsetDeleteResponseTopic) bool { return t.Topic == e.topic })
		if at < 0 {
			t := kmsg.NewOffsetDeleteResponseTopic()
			t.Topic = e.topic
			at, m.Topics = len(m.Topics), append(m.Topics, t)
		}
		one := kmsg.NewOffsetDeleteResponseTopicPartition()
		one.Partition, one.ErrorCode = e.at, e.code
		if s, err := w.topicSymbol(e.topic); e.code == 0 && err == nil && r.Refused.Has(s) {
			one.ErrorCode = classic.CodeGroupSubscribedToTopic // offset-delete.subscribed
		}
		m.Topics[at].Partitions = append(m.Topics[at].Partitions, one)
	}
	if w.config.Profile.Defects.Has(classic.DefectOffsetDeleteRepeats) {
		for _, t := range slices.Clone(m.Topics) {
			for range len(t.Partitions) - 1 {
				m.Topics = append(m.Topics, t)
			}
		}
	}
	return m
}
