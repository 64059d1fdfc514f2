package clients

import (
	"slices"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// fate is what becomes of healing from a state.
type fate struct {
	steps uint16 // at most
	end   end    // at worst
}

type end uint8

const (
	unknown  end = iota
	asking       // an ancestor of what is being asked now
	fine         // all get together
	exempted     // a rule keeps somebody out
	stuck        // nothing happens any more, and not all are together
	rounds       // it may go round for ever
)

// The properties of convergence.
const (
	getTogether = "clients that heal all get together in a Stable group"
	comeToRest  = "clients that heal come to rest, whatever the order"
	getEmpty    = "a group that all have left becomes Empty"
)

// Healing says how clients heal in a run that converges.
type Healing struct {
	Steps      int // the most that it takes from any state until all are together
	EmptySteps int // the most that it takes a deserted group to become Empty

	// Exempt counts the states from which healing may end with a client kept out, by the rule that keeps it out.
	Exempt map[classic.RuleID]int64
}

func (h *Healing) add(o *Healing) {
	h.Steps, h.EmptySteps = max(h.Steps, o.Steps), max(h.EmptySteps, o.EmptySteps)
	for rule, n := range o.Exempt {
		h.Exempt[rule] += n
	}
}

// judgeHealing asks what becomes of a state when clients heal, and when they all stay away.
func (m *machine) judgeHealing(w *world, x *explore.Expansion) {
	h, _ := healed(w)
	f := m.ask(&h)
	switch f.end {
	case exempted:
		rule, _ := m.exemption(m.worst(h))
		m.found.Exempt[rule]++
	case stuck, rounds:
		m.finding(getTogether, comeToRest, f.end, m.worst(h), x)
	}
	d, _ := deserted(w)
	e := m.ask(&d)
	if e.end != fine {
		m.finding(getEmpty, getEmpty, e.end, m.worst(d), x)
	}
	if f.end <= exempted { // how long it is until something goes round depends on where one begins to count
		m.found.Steps = max(m.found.Steps, int(f.steps))
	}
	if e.end == fine {
		m.found.EmptySteps = max(m.found.EmptySteps, int(e.steps))
	}
	if m.overflow {
		x.Err = errRoom
	}
}

func (m *machine) finding(ifStuck, ifRounds string, e end, at world, x *explore.Expansion) {
	property := ifStuck
	_, rule := m.explain(&at, newNames(m))
	if e == rounds {
		property, rule = ifRounds, ""
	}
	x.Findings = append(x.Findings, explore.Finding{Edge: explore.OfState, Property: property, Rule: rule})
}

// ask follows healing in every way. The ways of a correct group are finite: one that comes back to where it was is one that never ends.
func (m *machine) ask(w *world) fate {
	key, ok := m.healer.pack(w)
	if !ok {
		m.overflow = true
		return fate{end: stuck}
	}
	if !w.clients[0].is {
		key[len(key)-1] |= 1 << 63 // a group without clients is not one whose clients know nothing
	}
	switch known := m.future[key]; known.end {
	case unknown:
	case asking:
		return fate{end: rounds}
	default:
		return known
	}
	m.future[key] = fate{end: asking}
	f, from := fate{end: fine}, len(m.nexts)
	m.collect(w)
	for i := from; i < len(m.nexts); i++ {
		n := m.ask(&m.nexts[i])
		f.end, f.steps = max(f.end, n.end), max(f.steps, n.steps+1)
	}
	if len(m.nexts) == from {
		f.end = m.resting(w)
	}
	m.nexts = m.nexts[:from]
	m.future[key] = f
	return f
}

// collect appends to m.nexts the states to which one step of healing leads.
func (m *machine) collect(w *world) {
	from := len(m.nexts)
	m.healing(w, func(_ *act, next *world) bool {
		if !slices.Contains(m.nexts[from:], *next) {
			m.nexts = append(m.nexts, *next)
		}
		return true
	})
}

// resting says what the state is in which healing has ended.
func (m *machine) resting(w *world) end {
	if m.together(w) {
		return fine
	}
	if _, ok := m.exemption(*w); ok {
		return exempted
	}
	return stuck
}

// exemption is the rule that keeps clients out of a group in which nothing happens any more, and whether it is why not all are together:
// all others are.
func (m *machine) exemption(w world) (rule classic.RuleID, all bool) {
	out := 0
	for i := range int8(maxClients) {
		c := &w.clients[i]
		if !c.is || m.settled(&w, c) {
			continue
		}
		out++
		refused := false
		if c.waits == nothing && c.gen == noGen && c.list != 0 {
			m.program(&w, i, surroundings{room: m.healer.room}, func(a *act) bool {
				for _, got := range a.answers {
					refused = refused || got.reply.Error == classic.CodeInconsistentGroupProtocol && slices.Contains(a.transition.Rules, classic.JoinInconsistentProtocol)
				}
				return true
			})
		}
		if !refused {
			return 0, false
		}
	}
	return classic.JoinInconsistentProtocol, out > 0 && w.group.Phase == classic.Stable
}

// worst follows healing to where it ends at worst: where nothing happens any more, or where it has been before.
func (m *machine) worst(w world) world {
	seen := map[world]bool{}
	for !seen[w] {
		seen[w] = true
		next, ok := m.worse(&w)
		if !ok {
			break
		}
		w = next
	}
	return w
}

// worse is the first step of healing that may end as badly as any.
func (m *machine) worse(w *world) (world, bool) {
	worst, from := m.ask(w).end, len(m.nexts)
	defer func() { m.nexts = m.nexts[:from] }()
	m.collect(w)
	for _, next := range m.nexts[from:] {
		if e := m.ask(&next).end; e == worst || e == stuck && worst == rounds {
			return next, true
		}
	}
	return *w, false
}
