package core

import (
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"
)

type offset struct {
	at          int64
	leaderEpoch int32
	metadata    string
}

type committed struct {
	partition partition
	offset    offset
}

// offsetCommit is §2.6.
func (c *Coordinator) offsetCommit(r Request, req *kmsg.OffsetCommitRequest) kmsg.Response {
	if req.InstanceID != nil {
		return commitError(r.Version, req, UnsupportedVersion)
	}
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	known := 0
	resp := commitAnswer(r.Version, req, func(topic string, index int32) int16 {
		if !c.settings.TopicExists(topic, index) {
			return UnknownTopicOrPartition // commit.topic.unknown
		}
		known++
		return None
	})
	if known == 0 {
		return resp // without asking the group (§2.6.1)
	}
	code, m := c.mayCommit(r, req, g)
	if code != None {
		eachCommit(resp, func(_, _ int, p *kmsg.OffsetCommitResponseTopicPartition) {
			if p.ErrorCode == None {
				p.ErrorCode = code
			}
		})
		return resp
	}
	if m != nil {
		c.renew(g, m) // commit.renews-timer, even where every offset is refused for its metadata
	}
	return c.commit(r, req, resp, g)
}

// mayCommit is §2.6.2. It returns the member that commits, nil for a commit without generation.
func (c *Coordinator) mayCommit(r Request, req *kmsg.OffsetCommitRequest, g *group) (int16, *member) {
	switch {
	case g == nil && req.Generation < 0:
		return None, nil // commit.simple.creates
	case g == nil && r.Version >= 9:
		return GroupIDNotFound, nil // commit.group.unknown.code
	case g == nil:
		return IllegalGeneration, nil // commit.group.unknown
	case req.Generation < 0 && g.state == Empty:
		return None, nil // commit.empty.accepted
	case req.Generation < 0 && req.MemberID == "":
		return UnknownMemberID, nil // commit.anonymous.refused
	}
	m := g.members[req.MemberID]
	switch {
	case m == nil:
		return UnknownMemberID, nil // commit.member.unknown
	case req.Generation != g.generation:
		return IllegalGeneration, nil // commit.generation.illegal
	case g.state == CompletingRebalance:
		return RebalanceInProgress, nil // commit.completing
	}
	return None, m // commit.member.accepted
}

// commit writes what is left of the request; the offsets are visible, and the request answered, once they are durable.
func (c *Coordinator) commit(r Request, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, g *group) kmsg.Response {
	var records []Record
	var offsets []committed
	eachCommit(resp, func(t, i int, p *kmsg.OffsetCommitResponseTopicPartition) {
		if p.ErrorCode != None {
			return
		}
		from := req.Topics[t].Partitions[i]
		o := offset{at: from.Offset, leaderEpoch: -1}
		if from.Metadata != nil {
			o.metadata = *from.Metadata
		}
		if r.Version >= 6 {
			o.leaderEpoch = from.LeaderEpoch
		}
		if utf16Len(o.metadata) > c.settings.MetadataMaxBytes {
			p.ErrorCode = OffsetMetadataTooLarge // commit.metadata.too-large
			return
		}
		where := partition{req.Topics[t].Topic, from.Partition}
		offsets = append(offsets, committed{where, o})
		records = append(records, c.offsetRecord(r, req, where, o))
	})
	if len(records) == 0 {
		return resp
	}
	if g == nil {
		g = newGroup(req.Group, c.now)
		c.groups[req.Group] = g
		c.reason = Created
		c.observe(g, Dead)
	}
	id := c.append(g, records, &committing{g, r, resp})
	g.commits[id] = offsets
	return nil
}

// committing is an OffsetCommit on its way to the log.
type committing struct {
	group   *group
	request Request
	answer  *kmsg.OffsetCommitResponse
}

func (w *committing) ended(c *Coordinator, id AppendID, code int16) {
	offsets := w.group.commits[id]
	delete(w.group.commits, id)
	if code == None {
		g := c.groups[w.group.id]
		if g == nil { // its group was not written, but these offsets are: they make a simple group
			g = newGroup(w.group.id, c.now)
			c.groups[g.id] = g
			c.reason = Created
			c.observe(g, Dead)
		}
		for _, o := range offsets {
			g.offsets[o.partition] = o.offset
		}
	} else {
		eachCommit(w.answer, func(_, _ int, p *kmsg.OffsetCommitResponseTopicPartition) {
			if p.ErrorCode == None {
				p.ErrorCode = commitAppendError(code)
			}
		})
		if g := w.group; g.state == Empty && !g.recorded && len(g.offsets)+len(g.commits)+len(g.pending) == 0 {
			c.reason = NoOffsetsLeft
			_ = c.transition(g, Dead) // a simple group that has come to nothing
		}
	}
	c.answer(w.request.Ticket, w.answer)
}

// offsetRecord is a commit as the log keeps it; one with an explicit retention is written in version 1, which alone has an expiry
// (§4.1, verified item 9).
func (c *Coordinator) offsetRecord(r Request, req *kmsg.OffsetCommitRequest, where partition, o offset) Record {
	v := kmsg.NewOffsetCommitValue()
	v.Version = 4
	v.Offset, v.LeaderEpoch, v.Metadata = o.at, o.leaderEpoch, o.metadata
	v.CommitTimestamp = c.now.UnixMilli()
	if r.Version <= 4 && req.RetentionTimeMillis >= 0 {
		v.Version = 1
		v.ExpireTimestamp = v.CommitTimestamp + req.RetentionTimeMillis
	}
	return Record{Kind: OffsetRecord, Group: req.Group, Topic: where.topic, Partition: where.index, Offset: &v}
}

// utf16Len is how long Kafka thinks a string is: in UTF-16 code units (§2.6.2).
func utf16Len(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// commitAnswer is an answer with a code for each partition that the request names.
func commitAnswer(version int16, req *kmsg.OffsetCommitRequest, code func(topic string, index int32) int16) *kmsg.OffsetCommitResponse {
	resp := kmsg.NewPtrOffsetCommitResponse()
	resp.SetVersion(version)
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code(t.Topic, p.Partition)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

func commitError(version int16, req *kmsg.OffsetCommitRequest, code int16) kmsg.Response {
	return commitAnswer(version, req, func(string, int32) int16 { return code })
}

// eachCommit visits the partitions of an answer with their place in it, which is their place in the request.
func eachCommit(resp *kmsg.OffsetCommitResponse, visit func(t, i int, p *kmsg.OffsetCommitResponseTopicPartition)) {
	for t := range resp.Topics {
		for i := range resp.Topics[t].Partitions {
			visit(t, i, &resp.Topics[t].Partitions[i])
		}
	}
}
