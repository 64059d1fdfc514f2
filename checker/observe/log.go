package observe

import (
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// logged is what a group's log says. It is never changed in place.
type logged struct {
	grouped    bool          // it has a record of the group, not only of offsets
	state      classic.State // of that record, with members' whole lists
	generation int32
	holders    [classic.MaxSlots]holder
	assigns    []string
	emptySince Window
	ledger
}

// write puts the records of a step into the log of n. gone are the partitions whose offsets the step has taken away.
func (w *World) write(n, b *Branch, c *call, t *classic.Transition, gone func(partition) bool) {
	if !w.config.KeepLog {
		return
	}
	writes := len(t.Records) > 0 && c.event.Write != classic.WriteFailed
	if !writes && c.event.Kind != classic.TxnMarker {
		return // n has the log of b
	}
	l := logged{}
	if b.log != nil {
		l = *b.log
	}
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
			l.record(n, c.event.Kind == classic.JoinGroup && b.state.Phase == classic.Absent)
		case classic.GroupTombstone:
			l = logged{ledger: l.ledger}
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
	n.log = nil
	if l.grouped || len(l.offsets) > 0 || len(l.pending) > 0 {
		n.log = &l
	}
}

// record takes over the group as it is, or as it was when the step created it.
func (l *logged) record(n *Branch, created bool) {
	*l = logged{grouped: true, ledger: l.ledger, emptySince: n.emptySince}
	if created {
		l.state = classic.State{Phase: classic.Empty, FirstGen: true}
		return
	}
	l.state = classic.Durable(&n.state, func(list, _ uint8) uint8 { return list })
	l.state.Offsets, l.state.Open = false, false
	l.generation, l.assigns = n.generation, n.assigns
	for i := range l.holders {
		if l.state.Slots[i].Kind == classic.Member {
			l.holders[i] = n.holders[i]
			l.holders[i].timer, l.holders[i].join, l.holders[i].sync = Window{}, parked{}, parked{}
		}
	}
}

// loaded is the state that the log says, as the model wants it: nil for a group that the log does not have.
func (w *World) loaded(l *logged) (*classic.State, error) {
	if l == nil {
		return nil, nil
	}
	s := l.state
	if !l.grouped {
		s = classic.State{Phase: classic.Empty, FirstGen: true}
	}
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
		n.holders, n.assigns, n.ledger, n.emptySince, n.generation = l.holders, l.assigns, l.ledger, l.emptySince, l.generation
	}
}

// same says whether two logs say the same, but for ages.
func (l *logged) same(o *logged) bool {
	if l == nil || o == nil || l == o {
		return l == o
	}
	if l.grouped != o.grouped || l.generation != o.generation || !l.ledger.same(o.ledger) {
		return false
	}
	a := Branch{state: l.state, holders: l.holders, assigns: l.assigns}
	b := Branch{state: o.state, holders: o.holders, assigns: o.assigns}
	_, ok := a.match(&b)
	return ok
}

// aged says whether two logs that are the same also say the same of ages.
func (l *logged) aged(o *logged) bool {
	return l == o || l.emptySince == o.emptySince && l.ledger.aged(o.ledger)
}

// hull merges logs that are the same.
func (l *logged) hull(o *logged) *logged {
	if l == o || l.aged(o) {
		return l
	}
	m := *l
	m.emptySince, m.ledger = l.emptySince.hull(o.emptySince), l.ledger.hull(o.ledger)
	return &m
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
