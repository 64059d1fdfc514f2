package joint

import (
	"math/rand/v2"
	"slices"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/model/classic"
)

// A walk goes one random way through a run's joint states, where there are too many to see all of them. It needs no copies and no keys, so it
// is the fastest of the judges.

// Walks say how to walk.
type Walks struct {
	Seed      uint64 // the same seed gives the same walks
	Sequences int
	Steps     int // of each sequence
}

// Walked is what walks have done and found.
type Walked struct {
	Sequences, Steps int
	Stable           int // sequences that have had a Stable group
	Explanations     int // the most of one state
	Violation        *explore.Violation
	Scenario         string // of the violation, or why there is none
	Err              error
}

// Walk walks until a sequence breaks, which is made as short as it can be made by leaving out events.
func (r Run) Walk(newBench func(*Hooks, Settings) Bench, o Walks) (w Walked) {
	m := newMachine(r, newBench, newSpace())
	for n := range o.Sequences {
		m.random = rand.New(rand.NewPCG(o.Seed, uint64(n))) //nolint:gosec // reproducible on purpose
		s := m.start()
		w.Sequences++
		stable := false
		m.taken = m.taken[:0]
		for range o.Steps {
			e := m.pick(s)
			if e == nil {
				break
			}
			m.taken = append(m.taken, keep(e))
			w.Steps++
			ok, err := m.take(s, e)
			if err != nil {
				w.Err = err
				return w
			}
			if !ok {
				m.shorten(&w)
				return w
			}
			stable = stable || s.models[0].state.Phase == classic.Stable
			w.Explanations = max(w.Explanations, len(s.models))
		}
		if stable {
			w.Stable++
		}
	}
	return w
}

func keep(e *event) event {
	kept := *e
	kept.Leaves, kept.Instances = slices.Clone(e.Leaves), slices.Clone(e.Instances)
	return kept
}

func (m *machine) start() *state {
	return &state{coordinator: m.bench.New(), models: make([]explanation, 1), watch: monitor.New()}
}

// take lets an event happen to the state itself, and says whether it is explained.
func (m *machine) take(s *state, e *event) (bool, error) {
	m.from, m.e, m.minted, m.made = s, e, "", 0
	m.faults, m.next, m.nearest = m.faults[:0], m.next[:0], mismatch{}
	m.effects.Reset()
	c := m.happen(e, s.coordinator)
	late := m.sift(s.late)
	var err error
	if e.Kind.Request() && c.Open() {
		if late, err = m.ask(c, late); err != nil {
			return false, err
		}
	}
	if len(m.faults) > 0 {
		m.nearest = mismatch{what: inconsistency, got: m.faults[0].Error()}
		return false, nil
	}
	for i := range s.models {
		m.explain(&s.models[i], c)
	}
	if len(m.next) == 0 {
		return false, nil
	}
	to := &m.scratch
	*to = state{coordinator: c, tickets: s.tickets, late: late, log: s.log, rows: to.rows[:0], models: to.models[:0]}
	m.after.Rows = m.after.Rows[:0]
	if !m.unify(to) {
		return false, errTooMany
	}
	m.keepLog(to)
	s.rows, to.rows = to.rows, s.rows
	s.models, to.models = to.models, s.models
	s.coordinator, s.late, s.log = to.coordinator, to.late, to.log
	return true, nil
}

// pick draws an event: most often one that leads on, else any. It gives nil where there is none left.
func (m *machine) pick(s *state) *event {
	g := &s.models[0].state
	for range 20 {
		m.events, m.leaves, m.instances = m.events[:0], m.leaves[:0], m.instances[:0]
		ref := unknownID
		if n := m.random.IntN(len(s.rows) + 2); n < len(s.rows) {
			ref = known(n)
		} else if n == len(s.rows) {
			ref = noID
		}
		switch n := m.random.IntN(20); {
		case n < 11:
			m.leadOn(s, g)
		case n < 13:
			for _, t := range s.coordinator.Timers() {
				m.timer(s, t)
			}
			if s.coordinator.Open() {
				m.addWriting(classic.Event{Kind: classic.WriteDone})
			}
		case n == 13 && m.run.Failover && m.random.IntN(4) == 0:
			m.failover(s)
		case n == 14:
			m.joins(s, ref)
		case n == 15:
			m.syncs(s, ref)
		case n == 16:
			m.leave(m.random.IntN(2) == 0, nil, ref)
			m.addWriting(classic.Event{Kind: classic.DeleteGroups})
		case n == 17 && m.run.Static:
			m.instanceJoins(stranger)
			instances(s, m.instanceJoins)
			m.named(ref, stranger)
			instances(s, func(in classic.Instance) { m.named(ref, in); m.instanceLeave(ref, in) })
		case n == 18 && m.run.Commits:
			m.commits(ref, classic.Instance{})
		default:
			m.add(classic.Event{Kind: classic.Heartbeat, Ref: ref, Gen: classic.Gen(m.random.IntN(3))})
			m.add(classic.Event{Kind: classic.DescribeGroups})
		}
		if len(m.events) == 0 {
			continue
		}
		if e := &m.events[m.random.IntN(len(m.events))]; len(s.rows) < m.run.Members || !e.adds() {
			return e
		}
	}
	return nil
}

// adds says whether an event may need room for one id more.
func (e *event) adds() bool {
	return e.Kind == classic.JoinGroup && e.Ref.Kind == classic.NoID && e.Instance.Kind != classic.KnownInstance
}

// leadOn is what somebody does who wants a Stable group.
func (m *machine) leadOn(s *state, g *classic.State) {
	list := uint8(1 + m.random.IntN(m.sent-1))
	join := classic.Event{Kind: classic.JoinGroup, Ref: noID, Type: groupType, List: list, NeedsID: m.random.IntN(2) == 0}
	if m.run.Static && m.random.IntN(3) == 0 {
		join.Instance, join.NeedsID = stranger, true
	}
	if len(s.rows) == 0 || len(s.rows) < m.run.Members && m.random.IntN(8) == 0 {
		m.add(join)
		return
	}
	row := m.random.IntN(len(s.rows))
	slot := &g.Slots[row]
	join.Ref, join.NeedsID, join.Instance = known(row), true, classic.Instance{}
	switch {
	case slot.Kind == classic.Pending, g.Phase == classic.PreparingRebalance && !slot.Joining:
		m.add(join)
	case g.Phase == classic.PreparingRebalance && g.Initial:
		m.timer(s, Timer{Kind: classic.GroupJoinTimer})
	case g.Phase == classic.CompletingRebalance && s.coordinator.Open():
		m.addWriting(classic.Event{Kind: classic.WriteDone})
	case g.Phase == classic.CompletingRebalance:
		m.assignments(s, classic.Event{Kind: classic.SyncGroup, Ref: known(row)})
	default:
		m.add(classic.Event{Kind: classic.Heartbeat, Ref: known(row)})
	}
}

// shorten leaves out events of the walk that broke, one at a time, as long as the same thing breaks, and tells what is left.
func (m *machine) shorten(w *Walked) {
	broken := m.nearest.property()
	best := slices.Clone(m.taken)
	try := func(left ...int) bool {
		var shorter []event
		for i := range best {
			if !slices.Contains(left, i) {
				shorter = append(shorter, best[i])
			}
		}
		n := m.again(shorter, nil)
		if n == 0 || m.nearest.property() != broken {
			return false
		}
		best = shorter[:n]
		return true
	}
	for more := true; more; {
		more = false
		for at := len(best) - 2; at >= 0; at-- {
			more = at < len(best)-1 && try(at) || more
		}
		for a := 0; a < len(best) && !more; a++ { // two that only go together
			for b := a + 1; b < len(best) && !more; b++ {
				more = try(a, b)
			}
		}
	}
	v := &explore.Violation{}
	m.again(best, v)
	v.Property, v.Rule = m.nearest.property(), m.nearest.rule()
	w.Violation, w.Scenario = v, m.told
}

// again takes events again, those that there still is somebody for, and says after how many it broke; 0 if it did not.
func (m *machine) again(events []event, v *explore.Violation) int {
	s := m.start()
	tell := m.teller()
	m.explaining = v != nil
	defer func() { m.explaining, m.random = false, nil }()
	m.random = rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same every time
	for i := range events {
		e := keep(&events[i])
		if !s.has(&e) || e.adds() && len(s.rows) >= m.run.Members {
			continue
		}
		before := *s
		before.rows, before.models = slices.Clone(s.rows), slices.Clone(s.models)
		ok, err := m.take(s, &e)
		if err != nil {
			return 0
		}
		if v != nil {
			o := &outcome{armed: slices.Clone(m.effects.Armed), minted: m.minted}
			m.from = &before
			step := explore.Step{Event: m.say(&before, &e), State: m.sayState(s)}
			tell.step(&before, &e, o, s.coordinator)
			if !ok {
				step.State = "expected: " + m.nearest.expected + "; got: " + m.nearest.got
				text, err := tell.text(explore.Finding{Property: m.nearest.property(), Rule: m.nearest.rule()}, m.nearest)
				if m.told = text; err != nil {
					m.told = err.Error()
				}
			}
			v.Trace = append(v.Trace, step)
		}
		if !ok {
			return i + 1
		}
	}
	return 0
}

// has says whether all whom an event names are there.
func (s *state) has(e *event) bool {
	for _, r := range append([]classic.Ref{e.Ref}, e.Leaves...) {
		if r.Kind == classic.KnownID && int(r.Slot) >= len(s.rows) {
			return false
		}
	}
	for _, in := range append([]classic.Instance{e.Instance}, e.Instances...) {
		if in.Kind == classic.KnownInstance && (int(in.Slot) >= len(s.rows) || s.rows[in.Slot].instance == "") {
			return false
		}
	}
	switch e.Kind {
	case classic.MemberTimer, classic.JoinTimer, classic.SyncTimer:
		return slices.Contains(s.coordinator.Timers(), e.timer)
	case classic.WriteDone:
		return s.coordinator.Open()
	case classic.Loaded:
		g := &s.models[0].state
		if e.crash {
			return len(s.log) > 0 && (g.Phase == classic.Empty || g.Phase == classic.Stable || g.Writing)
		}
		return g.Serving == classic.Loading
	case classic.LoadStarts:
		return s.models[0].state.Serving != classic.Active
	}
	for i := len(s.rows); i < len(e.Assign); i++ {
		if e.Assign[i] != 0 {
			return false
		}
	}
	return true
}
