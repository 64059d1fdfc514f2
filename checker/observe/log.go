package observe

import (
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// logged is what a group's log says. It is never changed in place.
type logged struct {
	group *recorded // nil where it has no record of the group, only of offsets
	ledger
	before *logged // see lost.go
}

// recorded is what the record of a group says. It is never changed in place.
type recorded struct {
	state      classic.State // with members' whole lists
	generation int32
	holders    [classic.MaxSlots]holder
	assigns    []string
	emptySince Window
}

// unrecorded is what a group without a record is loaded as.
var unrecorded = recorded{state: classic.State{Phase: classic.Empty, FirstGen: true}}

// write puts the records of a step into the log of n. gone are the partitions whose offsets the step has taken away.
func (w *World) write(n, b *Branch, c *call, t *classic.Transition, at Window, gone func(partition) bool) {
	if !w.config.KeepLog {
		return
	}
	writes := len(t.Records) > 0 && c.event.Write != classic.WriteFailed
	written := c.event.Kind == classic.WriteDone && c.event.Write != classic.WriteFailed // what its SyncGroup has put there
	if !writes && !written && c.event.Kind != classic.TxnMarker {
		return // n has the log of b
	}
	l := *b.log.orEmpty()
	if c.event.Kind == classic.TxnMarker {
		l.ledger = l.end(c.producer, !c.event.Aborted) // whatever is in memory (offset-delete.pending)
	}
	for _, r := range t.Records {
		if !writes {
			break
		}
		tombstoned := w.config.Profile.PendingTombstoned
		switch r.Kind {
		case classic.GroupRecord:
			l.group = record(n, c.event.Kind == classic.JoinGroup && b.state.Phase == classic.Absent)
		case classic.GroupTombstone:
			l.group = nil
		case classic.OffsetRecords:
			l.ledger = l.store(c.put)
		case classic.TxnOffsetRecords:
			l.ledger = l.pend(c.producer, c.put)
		case classic.OffsetTombstones:
			l.ledger = l.without(func(partition) bool { return true }, tombstoned)
		case classic.SomeTombstones:
			l.ledger = l.without(gone, tombstoned)
		}
	}
	if l.before = nil; !written && w.mayLose(c, t, at) {
		l.before = b.log.orEmpty()
	}
	n.log = l.orNone()
}

// record takes over the group as it is, or as it was when the step created it.
func record(n *Branch, created bool) *recorded {
	r := &recorded{emptySince: n.emptySince}
	if created {
		r.state = unrecorded.state
		return r
	}
	r.state = classic.Durable(&n.state, func(list, _ uint8) uint8 { return list })
	r.state.Offsets, r.state.Open = false, false
	r.generation, r.assigns = n.generation, n.assigns
	for i := range r.holders {
		if r.state.Slots[i].Kind == classic.Member {
			r.holders[i] = n.holders[i]
			r.holders[i].timer, r.holders[i].join, r.holders[i].sync = Window{}, parked{}, parked{}
		}
	}
	return r
}

// recorded is what the log says of the group, whether or not there is a record of it.
func (l *logged) recorded() *recorded {
	if l.group == nil {
		return &unrecorded
	}
	return l.group
}

// loaded is the state that the log says, as the model wants it: nil for a group that the log does not have.
func (w *World) loaded(l *logged) (*classic.State, error) {
	if l == nil {
		return nil, nil
	}
	s := l.recorded().state
	s.Offsets, s.Open = len(l.offsets) > 0, len(l.pending) > 0
	t := w.symbols.Load()
	for i := range s.Slots {
		if s.Slots[i].Kind != classic.Member || w.breaks(classic.LoadOneProtocol) {
			continue
		}
		// load.one-protocol
		one := kmsg.NewJoinGroupRequestProtocol()
		one.Name, one.Metadata = t.names[s.Protocol], t.metadata(s.Slots[i].List, s.Protocol)
		var err error
		if s.Slots[i].List, err = w.listSymbol([]kmsg.JoinGroupRequestProtocol{one}); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// load takes over what the log says beyond the model's state.
func (n *Branch) load() {
	n.holders, n.assigns, n.ledger, n.emptySince, n.generation = [classic.MaxSlots]holder{}, nil, ledger{}, Window{}, 0
	if l := n.log; l != nil {
		r := l.recorded()
		n.holders, n.assigns, n.ledger, n.emptySince, n.generation = r.holders, r.assigns, l.ledger, r.emptySince, r.generation
	}
}

// same says whether two logs say the same, but for ages.
func (l *logged) same(o *logged) bool {
	if l == nil || o == nil || l == o {
		return l == o
	}
	if !l.before.same(o.before) {
		return false
	}
	if (l.group == nil) != (o.group == nil) || !l.ledger.same(o.ledger) {
		return false
	}
	if l.group == o.group {
		return true
	}
	a, b := l.group.branch(), o.group.branch()
	_, ok := a.match(&b)
	return ok
}

// branch is a group that is just what the record says.
func (r *recorded) branch() Branch {
	return Branch{head: head{state: r.state, generation: r.generation, assigns: r.assigns}, holders: r.holders}
}

// aged says whether two logs that are the same also say the same of ages.
func (l *logged) aged(o *logged) bool {
	return l == o || l.recorded().emptySince == o.recorded().emptySince && l.ledger.aged(o.ledger) && l.before.aged(o.before)
}

// hull merges logs that are the same.
func (l *logged) hull(o *logged) *logged {
	if l == o || l.aged(o) {
		return l
	}
	m := &logged{group: l.group, ledger: l.ledger.hull(o.ledger), before: l.before.hull(o.before)}
	if since := l.recorded().emptySince.hull(o.recorded().emptySince); since != l.recorded().emptySince {
		group := *l.group
		group.emptySince = since
		m.group = &group
	}
	return m
}

// Unload yields every outcome of the broker giving the group up.
func (w *World) Unload(b *Branch, at Window, yield func(Outcome) bool) {
	w.happen(b, &call{event: classic.Event{Kind: classic.Unload}}, at, yield)
}

// LoadStarts yields every outcome of the broker beginning to read the group's log. A group that is still served must be unloaded first.
func (w *World) LoadStarts(b *Branch, at Window, yield func(Outcome) bool) {
	w.happen(b, &call{event: classic.Event{Kind: classic.LoadStarts}}, at, yield)
}

// Loaded yields every outcome of the broker having read the group's log (Config.KeepLog).
func (w *World) Loaded(b *Branch, at Window, yield func(Outcome) bool) {
	record, err := w.loaded(b.log)
	if errors.Is(err, errFull) {
		yield(Outcome{Branch: b, Overflow: true})
		return
	}
	w.happen(b, &call{event: classic.Event{Kind: classic.Loaded, Record: record}}, at, func(o Outcome) bool {
		if record != nil && record.Phase == classic.Stable {
			o.Rules = append(o.Rules, classic.LoadOneProtocol)
		}
		if b.lost == "" || o.Overflow {
			return yield(o)
		}
		more := true
		w.DeleteTopics(o.Branch, strings.Fields(b.lost), false, at, func(next Outcome) bool { // offsets.topic-deleted
			more = yield(o.Then(next))
			return more
		})
		return more
	})
}
