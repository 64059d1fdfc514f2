package joint

import (
	"math/bits"
	"slices"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/model/classic"
)

// moved says whether a step has changed what the coordinator has in memory.
func (m *machine) moved() bool {
	a, b := &m.before, &m.after
	return a.Group != b.Group || a.Generation != b.Generation || !slices.Equal(a.Rows, b.Rows)
}

// unmoved says whether a step has left everything as it was.
func (m *machine) unmoved(s *state, watch *monitor.Watch, open []sent) bool {
	if m.moved() || len(m.next) != len(s.models) || len(open) != len(s.open) {
		return false
	}
	if watch != s.watch {
		now := m.after.Generation
		if watch.Sum(now) != s.watch.Sum(now) {
			return false
		}
		for i := range s.rows {
			if r := &s.rows[i]; watch.SumOf(r.id, now) != s.watch.SumOf(r.id, now) {
				return false
			}
		}
	}
	for i := range m.next {
		if m.next[i].explanation != s.models[i] {
			return false
		}
	}
	return true
}

// unify gives the explanations of a step common rows, and drops those that say the same. It fails where there are too many ids.
func (m *machine) unify(to *state) bool {
	add := func(id ident) bool {
		if to.row(id.id) < 0 {
			to.rows = append(to.rows, id)
		}
		return len(to.rows) < room
	}
	for i := range m.next {
		n := &m.next[i]
		for j := range n.state.Slots[:room] {
			if n.state.Slots[j].Kind != classic.Free && !add(n.names[j]) {
				return false
			}
		}
	}
	for _, r := range m.after.Rows {
		if !add(ident{r.ID, r.Instance}) {
			return false
		}
	}
	for i := range m.next {
		x := m.next[i].onto(to.rows)
		if !slices.Contains(to.models, x) {
			to.models = append(to.models, x)
		}
	}
	return true
}

// onto is the explanation with its slots where the rows are.
func (n *candidate) onto(rows []ident) explanation {
	x := n.explanation
	x.state.Slots, x.parked = [classic.MaxSlots]classic.Slot{}, [room]waiting{}
	for i := range n.state.Slots[:room] {
		if n.state.Slots[i].Kind == classic.Free {
			continue
		}
		at := slices.IndexFunc(rows, func(id ident) bool { return id.id == n.names[i].id })
		x.state.Slots[at], x.parked[at] = n.state.Slots[i], n.parked[i]
	}
	return x
}

// hash is 128 bits of what has been added to it.
type hash struct{ a, b uint64 }

func (h *hash) add(v uint64) {
	h.a = mix(h.a^v, 0x9e3779b97f4a7c15)
	h.b = mix(h.b+v, 0xd6e8feb86659fd93) ^ bits.RotateLeft64(v, 29)
}

func mix(v, by uint64) uint64 {
	hi, lo := bits.Mul64(v^0xa0761d6478bd642f, by|1)
	return hi ^ lo
}

func flag(b bool, at int) uint64 {
	if b {
		return 1 << at
	}
	return 0
}

// shuffler is the scratch space of key.
type shuffler struct {
	core  [room]uint64 // what the coordinator has of a row
	sign  [room]uint64 // that, and what the explanations have of it in any order
	joins [room]checker.Ticket
	syncs [room]checker.Ticket
	order []int

	chosen []int
	words  []hash
}

// key brings the rows of a state into the one order that stands for all, and returns its hash. m.after is the view of its coordinator.
func (m *machine) key(s *state) explore.Key {
	sh := &m.shuffle
	sh.order = sh.order[:0]
	for i := range s.rows {
		sh.order = append(sh.order, i)
		sh.core[i], sh.joins[i], sh.syncs[i] = 0, 0, 0
		for j := range m.after.Rows {
			if r := &m.after.Rows[j]; r.ID == s.rows[i].id {
				sh.core[i] = r.Bits | flag(r.Instance == s.rows[i].instance, 63)
				sh.joins[i], sh.syncs[i] = r.Join, r.Sync
			}
		}
		sh.core[i] = mix(sh.core[i]^s.watch.SumOf(s.rows[i].id, m.after.Generation), 7)
		sign := mix(sh.core[i], 3)
		for j := range s.models {
			x := &s.models[j]
			sign += mix(sh.slot(x, i)^uint64(x.state.Phase), 5)
		}
		sh.sign[i] = sign
	}
	slices.SortFunc(sh.order, func(i, j int) int {
		switch {
		case sh.sign[i] < sh.sign[j]:
			return -1
		case sh.sign[i] > sh.sign[j]:
			return 1
		}
		return 0
	})
	best := m.hashIn(s, sh.order)
	sh.chosen = append(sh.chosen[:0], sh.order...)
	m.ties(s, 0, func() {
		if k := m.hashIn(s, sh.order); k.Less(best) {
			best = k
			copy(sh.chosen, sh.order)
		}
	})
	s.arrange(sh.chosen)
	return best
}

// ties calls f for every other order of rows that look alike.
func (m *machine) ties(s *state, from int, f func()) {
	sh := &m.shuffle
	if from >= len(sh.order) {
		return
	}
	to := from + 1
	for to < len(sh.order) && sh.sign[sh.order[to]] == sh.sign[sh.order[from]] {
		to++
	}
	if len(s.models) == 1 { // with one explanation such rows are the same
		return
	}
	permute(sh.order[from:to], 0, func() {
		f()
		m.ties(s, to, f)
	})
}

func permute(list []int, at int, f func()) {
	if at >= len(list)-1 {
		f()
		return
	}
	for i := at; i < len(list); i++ {
		list[at], list[i] = list[i], list[at]
		permute(list, at+1, f)
		list[at], list[i] = list[i], list[at]
	}
}

// slot is what an explanation has of a row.
func (sh *shuffler) slot(x *explanation, row int) uint64 {
	s := &x.state.Slots[row]
	v := uint64(s.Kind) | flag(s.Leader, 2) | flag(s.Static, 3) | flag(s.Joining, 4) | flag(s.Syncing, 5) | flag(s.New, 6) | flag(s.Timed, 7) |
		flag(s.OwesSync, 8) | uint64(s.List)<<9 | uint64(s.Given)<<17 | uint64(s.Proposed)<<25
	p := &x.parked[row]
	return v | flag(p.join.ticket == sh.joins[row], 40) | flag(p.sync.ticket == sh.syncs[row], 41)
}

// hashIn is the hash of a state with its rows in an order.
func (m *machine) hashIn(s *state, order []int) explore.Key {
	sh := &m.shuffle
	var h hash
	h.add(m.after.Group)
	h.add(s.watch.Sum(m.after.Generation))
	h.add(uint64(joins(s.open)) | uint64(len(s.open))<<8)
	h.add(uint64(len(order)))
	for _, i := range order {
		h.add(sh.core[i])
	}
	sh.words = sh.words[:0]
	for j := range s.models {
		x := &s.models[j]
		g := &x.state
		var own hash
		own.add(uint64(g.Phase) | uint64(g.Serving)<<3 | uint64(g.Type)<<5 | uint64(g.Protocol)<<13 | flag(g.FirstGen, 21) | flag(g.Writing, 22) |
			flag(g.JoinTimer, 23) | flag(g.SyncTimer, 24) | flag(g.Initial, 25) | flag(g.Extends, 26) | flag(g.StaleSync, 27) | flag(g.Offsets, 28) |
			flag(g.Open, 29) | uint64(uint32(m.after.Generation-x.generation))<<32)
		own.add(uint64(x.wait))
		own.add(uint64(x.rest))
		for _, i := range order {
			own.add(sh.slot(x, i))
		}
		sh.words = append(sh.words, own)
	}
	slices.SortFunc(sh.words, func(a, b hash) int {
		switch {
		case a == b:
			return 0
		case a.a < b.a || a.a == b.a && a.b < b.b:
			return -1
		}
		return 1
	})
	for _, w := range sh.words {
		h.add(w.a)
		h.add(w.b)
	}
	return explore.Key{h.a, h.b}
}

// arrange puts the rows into an order.
func (s *state) arrange(order []int) {
	var rows [room]ident
	for to, from := range order {
		rows[to] = s.rows[from]
	}
	for i := range s.models {
		x := &s.models[i]
		slots, parked := x.state.Slots, x.parked
		x.state.Slots, x.parked = [classic.MaxSlots]classic.Slot{}, [room]waiting{}
		for to, from := range order {
			x.state.Slots[to], x.parked[to] = slots[from], parked[from]
		}
	}
	copy(s.rows, rows[:])
}
