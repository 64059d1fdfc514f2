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

// committed is an offset on its way to the log, of a transaction where there is a producer.
type committed struct {
	partition partition
	offset    offset
	producer  *Producer
}

// offsetCommit is §2.6.
func (c *Coordinator) offsetCommit(r Request, req *kmsg.OffsetCommitRequest) kmsg.Response {
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	names := make([]string, len(req.Topics))
	known := 0
	resp := commitAnswer(r.Version, req, func(t int, index int32) int16 {
		code := c.resolve(r.Version >= 10, req.Topics[t].Topic, req.Topics[t].TopicID, index, &names[t])
		if code == None {
			known++
		}
		return code // commit.topic.unknown
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
	return c.commit(r, req, resp, g, names)
}

// resolve finds the topic that a request means, by name or, from the versions that have it, by id, and says whether the partition is
// there.
func (c *Coordinator) resolve(byID bool, topic string, id [16]byte, index int32, name *string) int16 {
	*name = topic
	if byID {
		known, ok := c.settings.TopicName(id)
		if !ok {
			return UnknownTopicID // commit.topic-id
		}
		*name = known
	}
	if !c.settings.TopicExists(*name, index) {
		return UnknownTopicOrPartition
	}
	return None
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

// commit writes what is left of the request; the offsets are visible, and the request answered, once they are durable.
func (c *Coordinator) commit(r Request, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, g *group, names []string) kmsg.Response {
	var offsets []committed
	expires := c.expiry(r.Version, req.RetentionTimeMillis)
	eachCommit(resp, func(t, i int, p *kmsg.OffsetCommitResponseTopicPartition) {
		if p.ErrorCode != None {
			return
		}
		sent := req.Topics[t].Partitions[i]
		o := offset{at: sent.Offset, leaderEpoch: -1, topicID: req.Topics[t].TopicID, expires: expires}
		if r.Version >= 6 {
			o.leaderEpoch = sent.LeaderEpoch
		}
		if r.Version < 10 {
			o.topicID = [16]byte{}
		}
		where := partition{names[t], sent.Partition}
		var stored bool
		if offsets, stored = c.store(offsets, where, o, sent.Metadata, nil); !stored {
			p.ErrorCode = OffsetMetadataTooLarge // commit.metadata.too-large
		}
	})
	if len(offsets) == 0 {
		return c.afterWrites(r, resp)
	}
	c.write(req.Group, g, offsets, func(code int16) {
		eachCommit(resp, func(_, _ int, p *kmsg.OffsetCommitResponseTopicPartition) {
			if p.ErrorCode == None {
				p.ErrorCode = commitAppendError(code)
			}
		})
		c.answer(r.Ticket, resp)
	}, r.Ticket)
	return nil
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

// store adds an offset to what is to be written, unless its metadata is too large.
func (c *Coordinator) store(offsets []committed, where partition, o offset, metadata *string, producer *Producer) ([]committed, bool) {
	if metadata != nil {
		o.metadata = *metadata
	}
	if utf16Len(o.metadata) > c.settings.MetadataMaxBytes {
		return offsets, false
	}
	c.position++
	o.position, o.made = c.position, c.now.UnixMilli()
	return append(offsets, committed{where, o, producer}), true
}

// write puts offsets out. A group that is not there becomes a simple one (§1.12).
func (c *Coordinator) write(id string, g *group, offsets []committed, answer func(code int16), ticket Ticket) {
	if g == nil {
		g = newGroup(id, c.now)
		c.groups[id] = g
		c.reason = Created
		c.observe(g, Dead)
	}
	records := make([]Record, 0, len(offsets))
	for _, o := range offsets {
		records = append(records, offsetRecord(id, o))
	}
	g.commits[c.append(g, records, &committing{g, answer, ticket})] = offsets
}

// committing is an OffsetCommit or TxnOffsetCommit on its way to the log.
type committing struct {
	group  *group
	answer func(code int16)
	ticket Ticket
}

func (w *committing) ended(c *Coordinator, id AppendID, code int16) {
	if code != RequestTimedOut {
		w.settled(c, id, code == None)
	}
	w.answer(code)
}

func (w *committing) settled(c *Coordinator, id AppendID, written bool) {
	offsets := w.group.commits[id]
	delete(w.group.commits, id)
	if !written {
		if !w.group.kept {
			c.dropHollow(w.group)
		}
		return
	}
	g := c.groups[w.group.id]
	if g == nil { // its group was not written, but these offsets are: they make a simple group
		g = newGroup(w.group.id, c.now)
		c.groups[g.id] = g
		c.reason = Created
		c.observe(g, Dead)
	}
	for _, o := range offsets {
		g.keep(o)
	}
}

// dropHollow forgets a simple group that has come to nothing.
func (c *Coordinator) dropHollow(g *group) {
	if g.state == Empty && !g.recorded && len(g.offsets)+len(g.unstable)+len(g.commits)+len(g.pending) == 0 {
		c.reason = NoOffsetsLeft
		_ = c.transition(g, Dead)
	}
}

// keep takes an offset up: as the last one, or as pending until its producer's transaction ends.
func (g *group) keep(o committed) {
	g.kept = true
	if o.producer == nil {
		g.offsets[o.partition] = o.offset
		return
	}
	if g.unstable[o.producer.ID] == nil {
		g.unstable[o.producer.ID] = map[partition]offset{}
	}
	g.unstable[o.producer.ID][o.partition] = o.offset
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

// commitAnswer is an answer with a code for each partition that the request names.
func commitAnswer(version int16, req *kmsg.OffsetCommitRequest, code func(t int, index int32) int16) *kmsg.OffsetCommitResponse {
	resp := kmsg.NewPtrOffsetCommitResponse()
	resp.SetVersion(version)
	for i, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code(i, p.Partition)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

func commitError(version int16, req *kmsg.OffsetCommitRequest, code int16) kmsg.Response {
	return commitAnswer(version, req, func(int, int32) int16 { return code })
}

// eachCommit visits the partitions of an answer with their place in it, which is their place in the request.
func eachCommit(resp *kmsg.OffsetCommitResponse, visit func(t, i int, p *kmsg.OffsetCommitResponseTopicPartition)) {
	for t := range resp.Topics {
		for i := range resp.Topics[t].Partitions {
			visit(t, i, &resp.Topics[t].Partitions[i])
		}
	}
}
