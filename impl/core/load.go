package core

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// status says whether the coordinator serves its groups. A new one does, without any.
type status uint8

const (
	serving status = iota
	loading
	away // the groups are another coordinator's, or could not be loaded
)

// gate is what a request is answered that asks for a group (§2.0.2): None while the coordinator serves.
func (c *Coordinator) gate() int16 {
	switch c.status {
	case loading:
		return CoordinatorLoadInProgress
	case away:
		return NotCoordinator
	case serving:
	}
	return None
}

// stale reports an event of an epoch that is over (load.epoch).
func (c *Coordinator) stale(epoch int32) bool {
	if epoch == 0 {
		return false
	}
	if epoch < c.epoch {
		return true
	}
	c.epoch = epoch
	return false
}

// unload is §4.6 (unload.forgets): first the writes that are open fail, then the groups are given up.
func (c *Coordinator) unload(ev Unload) {
	if !c.stale(ev.Epoch) {
		c.giveUp(away)
	}
}

func (c *Coordinator) giveUp(to status) {
	c.status = to
	for len(c.writes) > 0 { // what fails may want to write, in vain
		for _, id := range c.openWrites() {
			w := c.writes[id]
			w.late = nil
			c.endWrite(id, NotCoordinator)
		}
	}
	c.abandoned = c.lastID
	for _, id := range sortedKeys(c.groups) {
		c.end(c.groups[id], NotCoordinator, func(m *member) string { return m.id }) // unload.join, unload.sync
	}
}

// loadBegin is §4.4.
func (c *Coordinator) loadBegin(ev LoadBegin) {
	if !c.stale(ev.Epoch) {
		c.giveUp(loading)
		c.lostFor = nil
	}
}

// replay takes records up as the log has them: the last of each key counts, an offset of a transaction waits for its marker.
func (c *Coordinator) replay(ev Replay) {
	if c.status != loading {
		_ = c.inconsistent("", "records are replayed that nobody loads")
		return
	}
	for _, r := range ev.Records {
		switch r.Kind {
		case GroupRecord:
			c.replayGroup(r.Group, r.Metadata)
		case GroupTombstone:
			c.replayGroup(r.Group, nil)
		case OffsetRecord:
			c.replayOffset(r)
		case OffsetTombstone:
			(&forgetting{c.loaded(r.Group), []partition{{r.Topic, r.Partition}}}).settled(c, 0, true)
		case CommitMarker, AbortMarker:
			if r.Producer != nil {
				c.endTransaction(r.Producer.ID, r.Kind == CommitMarker)
			}
		}
	}
}

// loaded is the group that a record is about: one that only offsets speak of is a simple one (§4.4-4).
func (c *Coordinator) loaded(id string) *group {
	g := c.groups[id]
	if g == nil {
		g = newGroup(id, time.Time{})
		c.groups[id] = g
	}
	return g
}

func (c *Coordinator) replayOffset(r Record) {
	if r.Offset == nil {
		return
	}
	c.position++
	o := offset{
		at: r.Offset.Offset, leaderEpoch: -1, metadata: r.Offset.Metadata, topicID: r.Offset.TopicID,
		position: c.position, made: r.Offset.CommitTimestamp, expires: noExpiry,
	}
	if r.Offset.Version >= 3 {
		o.leaderEpoch = r.Offset.LeaderEpoch
	}
	if r.Offset.Version == 1 {
		o.expires = r.Offset.ExpireTimestamp
	}
	c.loaded(r.Group).keep(committed{partition{r.Topic, r.Partition}, o, r.Producer})
}

// replayGroup makes the group what its record says (load.state), nil being a tombstone; its offsets have records of their own.
func (c *Coordinator) replayGroup(id string, v *kmsg.GroupMetadataValue) {
	old := c.loaded(id)
	g := newGroup(id, time.Time{})
	g.offsets, g.unstable, g.kept = old.offsets, old.unstable, old.kept
	c.groups[id] = g
	if v == nil {
		return
	}
	g.recorded = true
	g.generation, g.protocolType = max(v.Generation, 0), v.ProtocolType
	if v.Version >= 2 && v.CurrentStateTimestamp >= 0 {
		g.since = time.UnixMilli(v.CurrentStateTimestamp)
	}
	if len(v.Members) == 0 {
		return
	}
	name := ""
	if v.Protocol != nil {
		name = *v.Protocol
	}
	g.protocol = &name
	for i := range v.Members {
		g.restore(v, &v.Members[i], name)
	}
	if v.Leader != nil && g.members[*v.Leader] != nil {
		g.leader = *v.Leader
	}
	g.state = Stable
}

// restore adds a member as its record has it: with the chosen protocol only (load.one-protocol). Of two that claim one id the last counts.
func (g *group) restore(v *kmsg.GroupMetadataValue, vm *kmsg.GroupMetadataValueMember, protocolName string) {
	m := &member{
		id: vm.MemberID, clientID: vm.ClientID, clientHost: vm.ClientHost,
		sessionTimeout:   time.Duration(vm.SessionTimeoutMillis) * time.Millisecond,
		rebalanceTimeout: time.Duration(vm.RebalanceTimeoutMillis) * time.Millisecond,
		protocols:        []protocol{{protocolName, slices.Clone(vm.Subscription)}},
		assignment:       slices.Clone(vm.Assignment),
	}
	if v.Version < 1 || vm.RebalanceTimeoutMillis == -1 {
		m.rebalanceTimeout = m.sessionTimeout // §4.1
	}
	if v.Version >= 3 {
		m.instance = vm.InstanceID
	}
	if former := g.members[m.id]; former != nil {
		g.drop(former)
	}
	if m.instance != nil && g.static[*m.instance] != nil {
		g.drop(g.static[*m.instance])
	}
	if g.members[g.leader] == nil {
		g.leader = ""
	}
	g.add(m, v.ProtocolType)
}

// loadEnd lets the coordinator serve: every member's session begins anew (load.sessions), and nobody owes a SyncGroup (load.no-sync). A group that
// is too large for group.max.size rebalances (max-size.load).
func (c *Coordinator) loadEnd(ev LoadEnd) {
	if c.status != loading {
		_ = c.inconsistent("", "loading ends that has not begun")
		return
	}
	if ev.Failed {
		clear(c.groups)
		c.status = away
		return
	}
	c.status = serving
	for _, id := range sortedKeys(c.groups) {
		g := c.groups[id]
		c.dropHollow(g) // nothing is left of it but tombstones
		g.subscribed = g.subscriptions()
		if c.groups[id] != nil {
			c.reason = TakenOver
			c.observe(g, Dead)
		}
		for _, m := range g.order {
			c.armSession(g, m)
		}
		if len(g.members) > c.settings.MaxSize {
			c.reason = Loaded
			c.prepare(g)
		}
	}
	c.topicsDeleted(c.lostFor)
	c.lostFor = nil
}
