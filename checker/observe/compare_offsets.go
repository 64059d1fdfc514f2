package observe

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The answers about offsets. Topics go by name, or by id in the versions that have no names.

func topicKey(name string, id [16]byte, byID bool) string {
	if byID {
		return fmt.Sprintf("%x", id)
	}
	return name
}

func (d *diff) commit(p, a *kmsg.OffsetCommitResponse) {
	pairs(d, "topics", p.Topics, a.Topics,
		func(t kmsg.OffsetCommitResponseTopic) string {
			return topicKey(t.Topic, t.TopicID, d.version >= commitIDs)
		},
		func(what string, p, a kmsg.OffsetCommitResponseTopic) {
			pairs(d, what+" partitions", p.Partitions, a.Partitions,
				func(p kmsg.OffsetCommitResponseTopicPartition) string { return fmt.Sprint(p.Partition) },
				func(what string, p, a kmsg.OffsetCommitResponseTopicPartition) {
					d.code(what+": error", p.ErrorCode, a.ErrorCode)
				})
		})
}

func (d *diff) txnCommit(p, a *kmsg.TxnOffsetCommitResponse) {
	pairs(d, "topics", p.Topics, a.Topics,
		func(t kmsg.TxnOffsetCommitResponseTopic) string {
			return topicKey(t.Topic, t.TopicID, d.version >= txnIDs)
		},
		func(what string, p, a kmsg.TxnOffsetCommitResponseTopic) {
			pairs(d, what+" partitions", p.Partitions, a.Partitions,
				func(p kmsg.TxnOffsetCommitResponseTopicPartition) string { return fmt.Sprint(p.Partition) },
				func(what string, p, a kmsg.TxnOffsetCommitResponseTopicPartition) {
					d.code(what+": error", p.ErrorCode, a.ErrorCode)
				})
		})
}

func (d *diff) offsetDelete(p, a *kmsg.OffsetDeleteResponse) {
	d.code("error", p.ErrorCode, a.ErrorCode)
	pairs(d, "topics", p.Topics, a.Topics, func(t kmsg.OffsetDeleteResponseTopic) string { return t.Topic },
		func(what string, p, a kmsg.OffsetDeleteResponseTopic) {
			pairs(d, what+" partitions", p.Partitions, a.Partitions,
				func(p kmsg.OffsetDeleteResponseTopicPartition) string { return fmt.Sprint(p.Partition) },
				func(what string, p, a kmsg.OffsetDeleteResponseTopicPartition) {
					d.code(what+": error", p.ErrorCode, a.ErrorCode)
				})
		})
}

func (d *diff) fetch(p, a *kmsg.OffsetFetchResponse) {
	if d.version >= 2 && d.version <= 7 {
		d.code("error", p.ErrorCode, a.ErrorCode)
	}
	if d.version < 8 {
		pairs(d, "topics", p.Topics, a.Topics, func(t kmsg.OffsetFetchResponseTopic) string { return t.Topic },
			func(what string, p, a kmsg.OffsetFetchResponseTopic) {
				pairs(d, what+" partitions", p.Partitions, a.Partitions,
					func(p kmsg.OffsetFetchResponseTopicPartition) string { return fmt.Sprint(p.Partition) },
					func(what string, p, a kmsg.OffsetFetchResponseTopicPartition) {
						d.fetched(what, p.ErrorCode, a.ErrorCode, p.Offset, a.Offset, p.LeaderEpoch, a.LeaderEpoch, p.Metadata, a.Metadata)
					})
			})
		return
	}
	pairs(d, "groups", p.Groups, a.Groups, func(g kmsg.OffsetFetchResponseGroup) string { return g.Group },
		func(what string, p, a kmsg.OffsetFetchResponseGroup) {
			d.code(what+": error", p.ErrorCode, a.ErrorCode)
			pairs(d, "topics", p.Topics, a.Topics,
				func(t kmsg.OffsetFetchResponseGroupTopic) string {
					return topicKey(t.Topic, t.TopicID, d.version >= fetchIDs)
				},
				func(what string, p, a kmsg.OffsetFetchResponseGroupTopic) {
					pairs(d, what+" partitions", p.Partitions, a.Partitions,
						func(p kmsg.OffsetFetchResponseGroupTopicPartition) string { return fmt.Sprint(p.Partition) },
						func(what string, p, a kmsg.OffsetFetchResponseGroupTopicPartition) {
							d.fetched(what, p.ErrorCode, a.ErrorCode, p.Offset, a.Offset, p.LeaderEpoch, a.LeaderEpoch, p.Metadata, a.Metadata)
						})
				})
		})
}

func (d *diff) fetched(what string, pe, ae int16, po, ao int64, pl, al int32, pm, am *string) {
	d.code(what+": error", pe, ae)
	d.number(what+": offset", po, ao)
	if d.version >= 5 {
		d.number(what+": leader epoch", int64(pl), int64(al))
	}
	d.nullable(what+": metadata", pm, am)
}
