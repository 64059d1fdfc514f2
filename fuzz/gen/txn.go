package gen

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Producer is a producer with a transactional id.
type Producer struct {
	Name  string
	ID    int64
	Epoch int16

	open  bool // in a transaction
	alone bool // which the group has not been added to
	group string
	wrote bool
}

// How a transaction coordinator refuses a commit for a group that is not part of the transaction.
const (
	invalidTxnState      = 48
	transactionAbortable = 120
)

// transacts is the next thing of a transaction over the group of c: its beginning, a commit, its end.
func (g *Generator) transacts(c *Client) Event {
	p := g.producers[g.src.Intn(len(g.producers), "producer")]
	switch {
	case !p.open:
		return g.begins(p, c)
	case p.wrote && (g.serving == NoAct || g.setup.Markers) && g.src.Intn(3, "end") == 0: // a coordinator that does not serve takes no marker
		return g.ends(p)
	}
	return g.commitsInTxn(p, c)
}

// begins is the beginning of a transaction, of which no group coordinator hears.
func (g *Generator) begins(p *Producer, c *Client) Event {
	p.open, p.wrote, p.group = true, false, g.anyGroup(c)
	p.alone = g.src.Intn(12, "alone") == 11
	e := Event{Act: BeginTxn, Producer: p}
	if g.mute {
		return e
	}
	l := &line{}
	l.add("txn-begin %s", p.Name)
	if p.alone {
		l.add("-alone")
	} else {
		g.groupText(l, nil, p.group)
	}
	e.Line = l.String()
	return e
}

func (g *Generator) ends(p *Producer) Event {
	e := Event{Act: EndTxn, Producer: p, Commit: g.src.Intn(3, "abort") != 2}
	p.open = false
	how := "abort"
	if e.Commit {
		how = "commit"
	}
	e.Line = g.line("txn-end %s %s", p.Name, how)
	return e
}

// commitsInTxn is a TxnOffsetCommit of a producer, as a member or as nobody.
func (g *Generator) commitsInTxn(p *Producer, c *Client) Event {
	r := kmsg.NewPtrTxnOffsetCommitRequest()
	r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group, r.Generation = p.Name, p.ID, p.Epoch, p.group, -1
	by := (*Client)(nil)
	if (c.Group == p.group || p.group == unused) && c.lastGroup != "" && g.src.Intn(3, "of nobody") != 2 {
		by = c
		r.MemberID, r.Generation, r.InstanceID = c.ID(), c.Generation, c.Instance
		if g.src.Intn(4, "stale") == 3 {
			g.spoil(c, &r.MemberID, &r.Generation)
			g.spoilInstance(c, &r.InstanceID)
		}
	}
	g.payload++
	at := int32(g.src.Intn(2, "partition"))
	commitTxn(r, g.setup.Topic, at, int64(g.payload), "")
	switch g.src.Intn(8, "more offsets") {
	case 4:
		commitTxn(r, g.setup.Topic, 1-at, int64(g.payload)+1000, fmt.Sprintf("n%d", g.payload))
	case 5:
		commitTxn(r, g.setup.Topic, 1-at, int64(g.payload)+1000, g.longNote())
	case 6:
		commitTxn(r, "nosuch", 0, int64(g.payload), "")
	case 7:
		if g.setup.Other != "" {
			commitTxn(r, g.setup.Other, at, int64(g.payload), "")
		}
	}
	if g.src.Intn(20, "nameless") == 19 {
		r.Group = ""
	}
	e := g.request(by, r)
	if e.Request != r { // its client has to join first
		return e
	}
	p.verify(&e)
	return e
}

// verify has the transaction coordinator look at a TxnOffsetCommit of the producer's.
func (p *Producer) verify(e *Event) {
	e.Producer, e.Verified, p.wrote = p, 0, true
	switch {
	case e.Version >= 5: // adds the group by itself
		p.alone = false
	case p.alone && e.Version >= 4:
		e.Verified = transactionAbortable
	case p.alone:
		e.Verified = invalidTxnState
	}
}

func commitTxn(r *kmsg.TxnOffsetCommitRequest, topic string, partition int32, at int64, metadata string) {
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata = partition, at, &metadata
	for i := range r.Topics {
		if r.Topics[i].Topic == topic {
			r.Topics[i].Partitions = append(r.Topics[i].Partitions, p)
			return
		}
	}
	t := kmsg.NewTxnOffsetCommitRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.TxnOffsetCommitRequestTopicPartition{p}
	r.Topics = append(r.Topics, t)
}

// txnText prints a TxnOffsetCommit of a client, or of nobody.
func (g *Generator) txnText(l *line, c *Client, m *kmsg.TxnOffsetCommitRequest) {
	l.add("txn-commit %s", m.TransactionalID)
	for _, t := range m.Topics {
		for _, p := range t.Partitions {
			l.add("%s/%d=%d%s", t.Topic, p.Partition, p.Offset, note(*p.Metadata))
		}
	}
	own, gen := "", int32(-1)
	if c != nil {
		l.add("as=%s", c.Name)
		own, gen = c.known().ID(), c.known().Generation
	}
	switch {
	case m.Generation == gen:
	case m.Generation < 0:
		l.add("gen=none")
	default:
		l.add("gen=%d", m.Generation)
	}
	if m.MemberID != own {
		l.add("member=%s", g.Who(m.MemberID))
	}
	g.staticText(l, c, m.InstanceID)
	g.groupText(l, c, m.Group)
}

// deletesOffsets is an OffsetDelete about the group of c.
func (g *Generator) deletesOffsets(c *Client) Event {
	r := kmsg.NewPtrOffsetDeleteRequest()
	r.Group = g.anyGroup(c)
	if g.src.Intn(20, "nameless") == 19 {
		r.Group = ""
	}
	topics := []string{g.setup.Topic, g.setup.Other, "nosuch"}
	for i, topic := range topics {
		if topic == "" || g.src.Intn(2, "of "+topic) != min(i, 1) {
			continue
		}
		t := kmsg.NewOffsetDeleteRequestTopic()
		t.Topic = topic
		for p := range int32(2) {
			if g.src.Intn(3, "partition") < 2 {
				t.Partitions = append(t.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: p})
			}
		}
		if len(t.Partitions) > 0 {
			r.Topics = append(r.Topics, t)
		}
	}
	return g.request(nil, r)
}
