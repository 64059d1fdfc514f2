package core

import (
	"cmp"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// write is an Append that has not ended, and what follows from its end, in order.
type write struct {
	then []continuation
	room [1]continuation // where then begins: most have one
	late []staying       // what is still to come of a write that has timed out
}

// A continuation is what a write was for. One that has an effect even if the write is only late is staying, too.
type continuation interface {
	ended(c *Coordinator, id AppendID, code int16)
}

// A staying effect is settled when it is known whether a write that had timed out is durable after all.
type staying interface {
	settled(c *Coordinator, id AppendID, written bool)
}

// A blocking effect makes requests of its group wait until it is settled.
type blocking interface{ blocked() *group }

// append puts records of a group out. A record of the group itself makes it a group that the log knows.
func (c *Coordinator) append(g *group, records []Record, then continuation) AppendID {
	if slices.ContainsFunc(records, func(r Record) bool { return r.Kind == GroupRecord }) {
		g.recorded = true
	}
	return c.put(g.id, records, then)
}

func (c *Coordinator) put(group string, records []Record, then continuation) AppendID {
	c.lastID++
	w := &write{room: [1]continuation{then}}
	w.then = w.room[:]
	c.writes[c.lastID] = w
	if c.status == serving { // else it fails before it is put out (§4.6)
		c.emit(Append{ID: c.lastID, Group: group, Records: records})
	}
	return c.lastID
}

func (c *Coordinator) appended(ev Appended) {
	if c.writes[ev.ID] == nil {
		if ev.ID > c.abandoned { // else it was given up when the coordinator lost its groups
			_ = c.inconsistent("", "a write that was never put out has ended")
		}
		return
	}
	for _, id := range c.openWrites() {
		switch { // the log keeps its order: what is said of a write goes for those before it, which are all late
		case id > ev.ID:
		case ev.Code == RequestTimedOut:
			c.timedOut(id, c.writes[id])
		case id == ev.ID || ev.Code == None:
			c.endWrite(id, ev.Code)
		}
	}
}

// timedOut tells those who wait that it takes too long, and keeps what the write is to bring about.
func (c *Coordinator) timedOut(id AppendID, w *write) {
	then := w.then
	w.then = nil
	for _, t := range then {
		t.ended(c, id, RequestTimedOut)
		if s, ok := t.(staying); ok {
			w.late = append(w.late, s)
		}
	}
	for _, late := range w.late {
		if b, ok := late.(blocking); ok {
			c.refusePostponed(b.blocked(), RequestTimedOut)
		}
	}
}

func (c *Coordinator) endWrite(id AppendID, code int16) {
	w := c.writes[id]
	if w == nil {
		return
	}
	delete(c.writes, id)
	for _, late := range w.late {
		late.settled(c, id, code == None)
	}
	for _, then := range w.then {
		then.ended(c, id, code)
	}
}

// afterWrites lets the answer to a request that has written nothing, or only what its own group reacted with, wait for the writes that
// are open, as all but JoinGroup, SyncGroup and what only reads do (§0.3). It fails with them (verified item 13).
func (c *Coordinator) afterWrites(r Request, answer kmsg.Response) kmsg.Response {
	if len(c.writes) == 0 {
		return answer
	}
	c.behind(&answering{r, answer})
	return nil
}

// behind makes something follow the last write that is open.
func (c *Coordinator) behind(then continuation) {
	var last AppendID
	for id := range c.writes {
		last = max(last, id)
	}
	w := c.writes[last]
	w.then = append(w.then, then)
}

// answering is a request whose answer waits for a write that is not its own.
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

// created is the first record of a group that a JoinGroup made. Where it could not be written the group is gone (§4.3); where that takes
// too long, only the JoinGroup is told, and its member has to come again (verified item 4).
type created struct {
	group   *group
	creator Ticket
}

func (w *created) ended(c *Coordinator, _ AppendID, code int16) {
	w.group.creating = 0
	switch {
	case code == None || w.group.state == Dead:
	case code != RequestTimedOut:
		c.reason = WriteFailed
		c.dissolve(w.group, appendError(code), "")
	default:
		for _, m := range w.group.order {
			if m.join != nil && m.join.ticket == w.creator {
				request := m.join
				m.join = nil
				w.group.joining--
				c.answer(request.ticket, joinError(request.version, appendError(code), ""))
			}
		}
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
		vm.MemberID, vm.InstanceID, vm.ClientID, vm.ClientHost = m.id, m.instance, m.clientID, m.clientHost
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
	for _, offsets := range g.unstable {
		for p := range offsets {
			known[p] = struct{}{}
		}
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

// openWrites are the writes that have not ended, oldest first; good until it is called again.
func (c *Coordinator) openWrites() []AppendID {
	c.ids = c.ids[:0]
	for id := range c.writes {
		c.ids = append(c.ids, id)
	}
	slices.Sort(c.ids)
	return c.ids
}
