package observe

import (
	"hash/maphash"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

var seed = maphash.MakeSeed()

// identity is all of a slot but its timer's window, with the symbols of assignments resolved: what makes it the same slot in another
// branch, wherever it stands there.
type identity struct {
	slot            classic.Slot
	given, proposed string
	id, client      string
	instance        string
	session         int64
	rebalance       int64
	join, sync      parkedIdentity
}

type parkedIdentity struct {
	open   bool
	ticket checker.Ticket
}

func (b *Branch) identity(i int) identity {
	s, h := b.state.Slots[i], &b.holders[i]
	id := identity{
		given: b.assignment(s.Given), proposed: b.assignment(s.Proposed),
		id: h.id, client: h.client, instance: h.instance, session: int64(h.session), rebalance: int64(h.rebalance),
		join: parkedIdentity{h.join.open, h.join.ticket}, sync: parkedIdentity{h.sync.open, h.sync.ticket},
	}
	s.Given, s.Proposed = 0, 0
	id.slot = s
	return id
}

// frame is the part of a branch that is in no slot.
type frame struct {
	group      string
	state      classic.State
	generation int32
	delay      delay
	unseen     sight
	lost       string
}

func (b *Branch) frame() frame {
	f := frame{b.group, b.state, b.generation, b.delay, b.unseen, b.lost}
	f.state.Slots = [classic.MaxSlots]classic.Slot{}
	return f
}

// Hash is equal for branches that say the same but for the windows of their timers: those that Equal calls equal, and those that Hull
// can merge. It does not depend on which slot an id is in.
func (b *Branch) Hash() uint64 {
	sum := maphash.Comparable(seed, b.frame())
	for i := range b.used() {
		if b.state.Slots[i].Kind != classic.Free {
			sum += maphash.Comparable(seed, b.identity(i))
		}
	}
	for _, o := range b.offsets {
		sum += maphash.Comparable(seed, o.value())
	}
	for i, o := range b.pending {
		sum += maphash.Comparable(seed, o.value()) * uint64(i+1)
	}
	for _, a := range b.awaited {
		sum += maphash.Comparable(seed, a)
	}
	return sum + 3*b.log.hash()
}

// hash is equal for logs that are the same.
func (l *logged) hash() uint64 {
	if l == nil {
		return 0
	}
	b := l.recorded().branch()
	b.ledger = l.ledger
	sum := b.Hash()
	if l.group != nil {
		sum = ^sum
	}
	return sum + 5*l.before.hash()
}

// match finds for each slot of b in use the slot of o with the same identity; ok only if the branches differ in nothing but windows.
func (b *Branch) match(o *Branch) (to [classic.MaxSlots]int8, ok bool) {
	if b.frame() != o.frame() || !b.ledger.same(o.ledger) || !b.log.same(o.log) {
		return to, false
	}
	used := 0
	for i := range b.used() {
		to[i] = -1
		if b.state.Slots[i].Kind == classic.Free {
			continue
		}
		used++
		j := o.slot(b.holders[i].id)
		if j < 0 || b.identity(i) != o.identity(int(j)) {
			return to, false
		}
		to[i] = j
	}
	for i := range o.used() {
		if o.state.Slots[i].Kind != classic.Free {
			used--
		}
	}
	return to, used == 0
}

// Equal says whether two branches say the same, the windows of their timers included.
func (b *Branch) Equal(o *Branch) bool {
	to, ok := b.match(o)
	if !ok || b.state.JoinTimer && b.joinTimer != o.joinTimer || b.state.SyncTimer && b.syncTimer != o.syncTimer {
		return false
	}
	if b.emptySince != o.emptySince || b.unseen == unwritten && b.made != o.made || !b.aged(o.ledger) || !b.log.aged(o.log) {
		return false
	}
	for i, j := range to {
		if j >= 0 && b.state.Slots[i].Timed && b.holders[i].timer != o.holders[j].timer {
			return false
		}
	}
	return true
}

// Hull merges two branches that differ in nothing but the windows of their timers: each window of the merged branch spans both.
func Hull(a, b *Branch) (*Branch, bool) {
	to, ok := a.match(b)
	if !ok {
		return nil, false
	}
	m := *a
	m.joinTimer, m.syncTimer = a.joinTimer.hull(b.joinTimer), a.syncTimer.hull(b.syncTimer)
	m.made = a.made.hull(b.made)
	m.emptySince, m.ledger, m.log = a.emptySince.hull(b.emptySince), a.ledger.hull(b.ledger), a.log.hull(b.log)
	for i, j := range to {
		if j >= 0 {
			m.holders[i].timer = a.holders[i].timer.hull(b.holders[j].timer)
		}
	}
	return &m, true
}
