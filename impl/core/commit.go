package core

import (
	"math"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"
)

type offset struct {
	at          int64
	leaderEpoch int32
	metadata    string
	topicID     [16]byte // zero where the commit named its topic
	position    int64    // of its record: the higher, the newer
	made        int64    // when, in milliseconds since 1970
	expires     int64    // in milliseconds since 1970; noExpiry where the group's retention decides
}

// noExpiry is what Kafka's records say of an offset without an expiry of its own.
const noExpiry int64 = -1

// offsetCommit is §2.6.
func (c *Coordinator) offsetCommit(r Request, req *kmsg.OffsetCommitRequest) kmsg.Response {
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	resp := commitAnswer(r.Version, req, None)
	entries := c.commitEntries(r.Version, req, resp)
	if c.resolve(entries, r.Version >= 10) == 0 {
		return resp // without asking the group (§2.6.1)
	}
	code, m := c.mayCommit(r, req, g)
	if code != None {
		refuse(entries, code)
		return resp
	}
	if m != nil {
		c.renew(g, m) // commit.renews-timer, even where every offset is refused for its metadata
	}
	return c.commit(r, resp, req.Group, g, entries, nil, commitAppendError)
}

// commitEntries are the partitions of an OffsetCommit, in order.
func (c *Coordinator) commitEntries(version int16, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse) (entries []entry) {
	expires := c.expiry(version, req.RetentionTimeMillis)
	for t := range req.Topics {
		for i := range req.Topics[t].Partitions {
			sent := &req.Topics[t].Partitions[i]
			e := entry{
				partition: partition{req.Topics[t].Topic, sent.Partition}, offset: offset{at: sent.Offset, leaderEpoch: -1, expires: expires},
				metadata: sent.Metadata, code: &resp.Topics[t].Partitions[i].ErrorCode,
			}
			if version >= 6 {
				e.offset.leaderEpoch = sent.LeaderEpoch
			}
			if version >= 10 {
				e.offset.topicID = req.Topics[t].TopicID
			}
			entries = append(entries, e)
		}
	}
	return entries
}

// mayCommit is §2.6.2. It returns the member that commits, nil for a commit without generation.
func (c *Coordinator) mayCommit(r Request, req *kmsg.OffsetCommitRequest, g *group) (int16, *member) {
	instance := from(7, r.Version, req.InstanceID)
	switch {
	case c.gate() != None:
		return c.gate(), nil
	case g == nil && req.Generation < 0:
		return None, nil // commit.simple.creates
	case g == nil && r.Version >= 9:
		return GroupIDNotFound, nil // commit.group.unknown.code
	case g == nil:
		return IllegalGeneration, nil // commit.group.unknown
	case req.Generation < 0 && g.state == Empty:
		return None, nil // commit.empty.accepted
	case req.Generation < 0 && req.MemberID == "" && instance == nil:
		return UnknownMemberID, nil // commit.anonymous.refused
	}
	m, code := g.validate(req.MemberID, instance)
	switch {
	case code != None:
		return code, nil // commit.member.unknown
	case req.Generation != g.generation:
		return IllegalGeneration, nil // commit.generation.illegal
	case g.state == CompletingRebalance:
		return RebalanceInProgress, nil // commit.completing
	}
	return None, m // commit.member.accepted
}

// expiry is when an offset with a retention of its own is to be forgotten (commit.retention, versions 2 to 4), -1 being none. A time that does not fit
// is never or long ago.
func (c *Coordinator) expiry(version int16, retention int64) int64 {
	if version > 4 || retention == -1 {
		return noExpiry
	}
	now := c.now.UnixMilli()
	if retention > math.MaxInt64-now {
		return math.MaxInt64
	}
	return max(now+retention, 0)
}

// offsetRecord is a commit as the log keeps it; one with an explicit retention is written in version 1, which alone has an expiry
// (§4.1, verified item 9).
func offsetRecord(group string, o committed) Record {
	v := kmsg.NewOffsetCommitValue()
	v.Version = 4
	v.Offset, v.LeaderEpoch, v.Metadata, v.TopicID = o.offset.at, o.offset.leaderEpoch, o.offset.metadata, o.offset.topicID
	v.CommitTimestamp = o.offset.made
	if o.offset.expires != noExpiry {
		v.Version, v.ExpireTimestamp = 1, o.offset.expires
	}
	return Record{Kind: OffsetRecord, Group: group, Topic: o.partition.topic, Partition: o.partition.index, Offset: &v, Producer: o.producer}
}

// utf16Len is how long Kafka thinks a string is: in UTF-16 code units (§2.6.2).
func utf16Len(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// commitAnswer is an answer with the same code for each partition that the request names.
func commitAnswer(version int16, req *kmsg.OffsetCommitRequest, code int16) *kmsg.OffsetCommitResponse {
	resp := kmsg.NewPtrOffsetCommitResponse()
	resp.SetVersion(version)
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

func commitError(version int16, req *kmsg.OffsetCommitRequest, code int16) kmsg.Response {
	return commitAnswer(version, req, code)
}
