package core

import (
	"cmp"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// write is an Append that has not ended, and what follows from its end, in order.
type write struct{ then []continuation }

// A continuation is what a write was for.
type continuation interface {
	ended(c *Coordinator, id AppendID, code int16)
}

// append puts records out. A record of the group itself makes it a group that the log knows.
func (c *Coordinator) append(g *group, records []Record, then continuation) AppendID {
	c.lastID++
	if slices.ContainsFunc(records, func(r Record) bool { return r.Kind == GroupRecord }) {
		g.recorded = true
	}
	c.writes[c.lastID] = &write{then: []continuation{then}}
	c.emit(Append{ID: c.lastID, Group: g.id, Records: records})
	return c.lastID
}

func (c *Coordinator) appended(ev Appended) {
	w, ok := c.writes[ev.ID]
	if !ok {
		_ = c.inconsistent("", "a write that was never put out has ended")
		return
	}
	delete(c.writes, ev.ID)
	for _, then := range w.then {
		then.ended(c, ev.ID, ev.Code)
	}
}

// answerAfter makes a request wait for a write.
func (c *Coordinator) answerAfter(id AppendID, r Request, answer kmsg.Response) {
	w := c.writes[id]
	w.then = append(w.then, &answering{r, answer})
}

// answering is a request whose answer waits for a write that its own group record caused.
type answering struct {
	request Request
	answer  kmsg.Response
}

func (a *answering) ended(c *Coordinator, _ AppendID, code int16) {
	if code != None {
		a.answer = errorAnswer(a.request, appendError(code))
	}
	c.answer(a.request.Ticket, a.answer)
}

// created is the first record of a group that a JoinGroup made. Where it could not be written the group is gone (§4.3).
type created struct{ group *group }

func (w *created) ended(c *Coordinator, _ AppendID, code int16) {
	w.group.creating = 0
	if code != None && w.group.state != Dead {
		c.reason = WriteFailed
		c.dissolve(w.group, appendError(code), "")
	}
}

// emptied is the record of a group without members. Memory stays as it is when it fails (§4.3); somebody has to be told.
type emptied struct{ group string }

func (w *emptied) ended(c *Coordinator, _ AppendID, code int16) {
	if code != None {
		c.settings.Report(&WriteError{w.group, code})
	}
}

// assigned is the record with the leader's assignment (sync.leader.assigns, sync.write.fails).
type assigned struct{ group *group }

func (w *assigned) ended(c *Coordinator, id AppendID, code int16) {
	g := w.group
	if g.state != CompletingRebalance || g.writing != id {
		return // a rebalance has started since; it has answered everybody (§2.3.2)
	}
	g.writing = 0
	if code == None {
		c.reason = LeaderSynced
		_ = c.transition(g, Stable)
		return
	}
	c.reason = WriteFailed
	c.endSyncs(g, appendError(code))
	c.prepare(g)
}

// groupRecord is the group as the log keeps it (§4.1): with the members of a completed generation and the assignments proposed.
func (c *Coordinator) groupRecord(g *group) Record {
	v := kmsg.NewGroupMetadataValue()
	v.Version = 3
	v.ProtocolType = g.protocolType
	v.Generation = g.generation
	v.Protocol = g.protocol
	v.CurrentStateTimestamp = g.stateMillis()
	if g.leader != "" {
		v.Leader = kmsg.StringPtr(g.leader)
	}
	for _, m := range g.order {
		vm := kmsg.NewGroupMetadataValueMember()
		vm.MemberID, vm.ClientID, vm.ClientHost = m.id, m.clientID, m.clientHost
		vm.RebalanceTimeoutMillis = int32(m.rebalanceTimeout.Milliseconds())
		vm.SessionTimeoutMillis = int32(m.sessionTimeout.Milliseconds())
		vm.Subscription = orEmpty(m.metadata(*g.protocol))
		vm.Assignment = orEmpty(g.proposed[m.id])
		v.Members = append(v.Members, vm)
	}
	return Record{Kind: GroupRecord, Group: g.id, Metadata: &v}
}

// newGroupRecord is the record of a group just created (§4.2; §5.1 DF11).
func (c *Coordinator) newGroupRecord(g *group) Record {
	v := kmsg.NewGroupMetadataValue()
	v.Version = 3
	v.CurrentStateTimestamp = c.now.UnixMilli()
	return Record{Kind: GroupRecord, Group: g.id, Metadata: &v}
}

// knownPartitions are those that the group has an offset of, committed or on its way to the log, in order.
func (g *group) knownPartitions() []partition {
	known := map[partition]struct{}{}
	for p := range g.offsets {
		known[p] = struct{}{}
	}
	for _, commits := range g.commits {
		for _, o := range commits {
			known[o.partition] = struct{}{}
		}
	}
	return slices.SortedFunc(maps.Keys(known), comparePartitions)
}

func comparePartitions(a, b partition) int {
	return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.index, b.index))
}

func (g *group) offsetTombstone(p partition) Record {
	return Record{Kind: OffsetTombstone, Group: g.id, Topic: p.topic, Partition: p.index}
}

// orEmpty makes an absent byte string an empty one: Kafka does not send null there.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
