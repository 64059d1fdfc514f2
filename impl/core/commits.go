package core

import "github.com/twmb/franz-go/pkg/kmsg"

// What OffsetCommit and TxnOffsetCommit have in common: who may commit is their own affair.

// entry is one partition of a commit: what was sent, and where its error goes in the answer.
type entry struct {
	partition
	offset   offset
	metadata *string
	code     *int16
}

// resolve refuses the partitions that do not exist, and finds the names of topics that are named by id. It returns how many are left.
func (c *Coordinator) resolve(entries []entry, byID bool) (known int) {
	for i := range entries {
		e := &entries[i]
		if *e.code = c.exists(&e.partition, e.offset.topicID, byID); *e.code == None {
			known++
		}
	}
	return known
}

func (c *Coordinator) exists(p *partition, id [16]byte, byID bool) int16 {
	if byID {
		name, ok := c.settings.TopicName(id)
		if !ok {
			return UnknownTopicID // commit.topic-id
		}
		p.topic = name
	}
	if !c.settings.TopicExists(p.topic, p.index) {
		return UnknownTopicOrPartition // commit.topic.unknown
	}
	return None
}

// refuse answers with the code what has not been refused yet.
func refuse(entries []entry, code int16) {
	for _, e := range entries {
		if *e.code == None {
			*e.code = code
		}
	}
}

// commit writes what is left of a request; the offsets count, and the request is answered, once they are durable. Of a write that fails
// failed says how that is answered.
func (c *Coordinator) commit(r Request, resp kmsg.Response, id string, g *group, entries []entry, producer *Producer, failed func(int16) int16) kmsg.Response {
	var offsets []committed
	for _, e := range entries {
		if *e.code != None {
			continue
		}
		o := e.offset
		if e.metadata != nil {
			o.metadata = *e.metadata
		}
		if utf16Len(o.metadata) > c.settings.MetadataMaxBytes {
			*e.code = OffsetMetadataTooLarge // commit.metadata.too-large
			continue
		}
		c.position++
		o.position, o.made = c.position, c.now.UnixMilli()
		offsets = append(offsets, committed{e.partition, o, producer})
	}
	if len(offsets) == 0 {
		return c.afterWrites(r, resp)
	}
	c.write(id, g, offsets, func(code int16) {
		refuse(entries, failed(code))
		c.answer(r.Ticket, resp)
	}, r.Ticket)
	return nil
}

// committed is an offset on its way to the log, of a transaction where there is a producer.
type committed struct {
	partition partition
	offset    offset
	producer  *Producer
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
