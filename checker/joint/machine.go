package joint

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/model/classic"
)

// machine is a worker's view of a run.
type machine struct {
	run     Run
	lexicon *classic.Lexicon
	sent    int // the lists that clients send are those before
	model   *classic.Model
	bench   Bench
	hooks   Hooks
	all     *space

	events    []event
	leaves    []classic.Ref
	instances []classic.Instance

	// The choices of the step under way: those to take, how many there were to choose from, and how many have been made.
	script, arity []int
	made          int

	// The step under way.
	from          *state
	e             *event
	req           request // of the event, if it is one
	wire          kmsg.Request
	instance      string // that it carries
	own           []classic.Ref
	ownInstances  []classic.Instance
	record        classic.State
	minted        string
	faults        []error
	over          []Coordinator // that are of no use any more
	asked         Coordinator   // a copy that is asked something
	scratch       state
	effects       Effects
	held          Effects // of a coordinator that is asked what it would answer
	before, after View
	next          []candidate
	nearest       mismatch
	explaining    bool // mismatches are put into words
	outcomes      []outcome
	shuffle       shuffler
	onlooker      onlooker
	tell          func(*classic.State, *classic.Event, *classic.Transition)

	// Of walks:
	random *rand.Rand
	taken  []event
	told   string
}

// outcome is where an event may lead.
type outcome struct {
	key    explore.Key
	to     *state   // nil where the state has been reached before, or something is wrong
	wrong  mismatch // with no explanation left
	broken bool
	seen   []monitor.Broken // by monitors

	// Where it is put into words:
	armed  []Armed
	minted string
}

func newMachine(r Run, newBench func(*Hooks, Settings) Bench, all *space) *machine {
	m := &machine{run: r, lexicon: r.lexicon(), sent: len(r.Lists) + 1, all: all, onlooker: newOnlooker()}
	m.model = classic.New(classic.Config{
		Profile: classic.Reference, Lexicon: m.lexicon, InitialDelay: r.Delay, SyncInFlight: r.WriteInFlight, Broken: r.Broken,
	})
	if r.Watch != nil {
		m.tell = r.Watch()
	}
	m.hooks = Hooks{Choose: m.choose, Mint: m.mint, Report: func(err error) { m.faults = append(m.faults, err) }}
	m.bench = newBench(&m.hooks, r.Settings())
	return m
}

// choose takes the next choice of the script.
func (m *machine) choose(n int) int {
	if m.random != nil {
		return m.random.IntN(n)
	}
	if m.made == len(m.script) {
		m.script, m.arity = append(m.script, 0), append(m.arity, n)
	}
	m.made++
	return m.script[m.made-1]
}

// otherwise turns to the next sequence of choices and says whether there is one.
func (m *machine) otherwise() bool {
	for last := len(m.script) - 1; last >= 0; last-- {
		if m.script[last]++; m.script[last] < m.arity[last] {
			return true
		}
		m.script, m.arity = m.script[:last], m.arity[:last]
	}
	return false
}

var ids = [...]string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"}

// mint gives out an id that nobody has.
func (m *machine) mint() string {
	for _, id := range ids {
		if m.from.row(id) < 0 && id != m.minted {
			m.minted = id
			return id
		}
	}
	return ""
}

func (m *machine) first() (*state, explore.Key) {
	s := m.start()
	m.bench.View(s.coordinator, &m.after)
	return s, m.key(s)
}

// Initial is a coordinator without any group.
func (m *machine) Initial() explore.Key {
	s, k := m.first()
	m.all.put(k, s)
	return k
}

// Expand tries everything that can happen.
func (m *machine) Expand(k explore.Key, x *explore.Expansion) {
	s := m.all.take(k)
	if s == nil {
		x.Err = fmt.Errorf("joint state %x is not there to be expanded", k)
		return
	}
	x.Err = m.expand(k, s, func(_ *event, o *outcome) bool {
		x.Next = append(x.Next, o.key)
		if o.broken {
			x.Findings = append(x.Findings, explore.Finding{Edge: len(x.Next) - 1, Property: o.wrong.property(), Rule: o.wrong.rule()})
		} else if o.to != nil {
			m.all.put(o.key, o.to)
		}
		for _, b := range o.seen {
			x.Findings = append(x.Findings, explore.Finding{Edge: len(x.Next) - 1, Property: b.Monitor, Rule: b.Rule.String()})
		}
		return true
	})
}

// expand yields every outcome of every event, until yield returns false.
func (m *machine) expand(k explore.Key, s *state, yield func(*event, *outcome) bool) error {
	m.from = s
	m.bench.View(s.coordinator, &m.before)
	m.enumerate(s)
	var spare Coordinator // a copy of the state's coordinator, if there is one
	for i := range m.events {
		e := &m.events[i]
		m.script, m.arity, m.outcomes = m.script[:0], m.arity[:0], m.outcomes[:0]
		for again := true; again; again = m.otherwise() {
			if spare == nil {
				var err error
				if spare, err = m.bench.Copy(s.coordinator, m.waste()); err != nil {
					return err
				}
			}
			o, ok, as, err := m.step(k, e, spare)
			if err != nil {
				return err
			}
			if as == nil && o.to == nil {
				m.over = append(m.over, spare)
			}
			spare = as
			if m.explaining {
				o.armed, o.minted = slices.Clone(m.effects.Armed), m.minted
			}
			if ok {
				m.outcomes = append(m.outcomes, o)
			}
		}
		// The order of the coordinator's choices is that of its members, which is no part of the state; nor is how often it chooses on the
		// way to the same end.
		slices.SortStableFunc(m.outcomes, func(a, b outcome) int {
			return cmp.Or(cmp.Compare(a.key[0], b.key[0]), cmp.Compare(a.key[1], b.key[1]))
		})
		m.outcomes = slices.CompactFunc(m.outcomes, func(a, b outcome) bool {
			return a.key == b.key && a.broken == b.broken && slices.Equal(a.seen, b.seen)
		})
		for j := range m.outcomes {
			if !yield(e, &m.outcomes[j]) {
				return nil
			}
		}
	}
	if spare != nil {
		m.over = append(m.over, spare)
	}
	return nil
}

// waste is a coordinator of no use, or nil.
func (m *machine) waste() (c Coordinator) {
	if last := len(m.over) - 1; last >= 0 {
		c, m.over = m.over[last], m.over[:last]
	}
	return c
}

// step lets an event happen to a copy of the state's coordinator. It is not ok where the state has no room for what comes of it. spare is a
// coordinator that is as that of the state still, if there is one.
func (m *machine) step(k explore.Key, e *event, c Coordinator) (o outcome, ok bool, spare Coordinator, err error) {
	s := m.from
	m.e, m.minted, m.made = e, "", 0
	m.faults, m.next, m.nearest = m.faults[:0], m.next[:0], mismatch{}
	m.effects.Reset()
	c = m.happen(e, c)
	late := m.sift(s.late)
	if e.Kind.Request() && c.Open() {
		if late, err = m.ask(c, late); err != nil {
			return o, false, nil, err
		}
	}
	m.bench.View(c, &m.after)
	watch, open := m.watch(s, c)
	o.seen = slices.Clone(m.onlooker.seen)
	if len(m.faults) > 0 {
		o.broken, o.key, o.wrong = true, k, mismatch{what: inconsistency, got: m.faults[0].Error()}
		return o, true, nil, nil
	}
	for i := range s.models {
		m.explain(&s.models[i], c)
	}
	if len(m.next) == 0 {
		o.broken, o.key, o.wrong = true, k, m.nearest
		return o, true, nil, nil
	}
	if m.unmoved(s, watch, open) {
		if o.key = k; len(late) > len(s.late) || len(m.effects.Records) > 0 {
			c = nil // an answer is left in it, or its log is ahead of the state's
		}
		return o, true, c, nil
	}
	to := &m.scratch
	*to = state{coordinator: c, tickets: s.tickets, late: late, log: s.log, rows: to.rows[:0], models: to.models[:0]}
	to.watch, to.open, to.proposed = watch, open, m.proposal(s, c)
	if !m.unify(to) || len(to.rows) > m.run.Members {
		return o, false, nil, nil // no room, and no edge
	}
	if o.key = m.key(to); !m.all.known(o.key) || m.explaining {
		m.keepLog(to)
		kept := *to
		kept.rows, kept.models, kept.open = slices.Clone(to.rows), slices.Clone(to.models), slices.Clone(to.open)
		if watch == m.onlooker.watch {
			m.onlooker.watch = nil
		}
		o.to = &kept
	}
	return o, true, nil, nil
}

// happen does to the coordinator what the event says, and returns the one that goes on.
func (m *machine) happen(e *event, c Coordinator) Coordinator {
	s := m.from
	held := c.Open()
	switch {
	case e.Kind == classic.SyncGroup && m.run.WriteInFlight:
		c.Writes(Hold)
	case e.Write == classic.WriteFailed:
		c.Writes(Fail)
	default:
		c.Writes(Succeed)
	}
	m.req = request{}
	switch e.Kind {
	case classic.MemberTimer, classic.JoinTimer, classic.SyncTimer:
		c.Fire(e.timer)
	case classic.WriteDone:
		c.EndWrite(e.Write == classic.WriteFailed)
	case classic.Unload:
		c.Unload()
	case classic.LoadStarts:
		c.BeginLoad()
	case classic.Loaded:
		if !e.crash {
			c.Loaded(nil)
			break
		}
		c, held = m.bench.New(), false // nothing is left of the one that has crashed
		c.BeginLoad()
		c.Loaded(s.log)
	default:
		s.tickets++
		m.message(s, e)
		c.Request(checker.Request{Ticket: m.req.ticket, Message: m.wire, Version: m.req.version, ClientID: "c"})
	}
	// The write of an assignment that a rebalance has overtaken concerns nobody any more: it ends here.
	if held && e.Kind != classic.WriteDone && !m.writes() {
		for first := true; c.Open(); first = false {
			c.EndWrite(!first && e.Write == classic.WriteFailed)
		}
	}
	c.Drain(&m.effects)
	return c
}

// writes says whether an assignment is being written after the event, as the specification has it.
func (m *machine) writes() (yes bool) {
	for i := range m.from.models {
		x := &m.from.models[i]
		e := m.translate(x)
		m.model.Step(&x.state, &e, func(t *classic.Transition) bool {
			yes = yes || t.Next.Writing
			return true
		})
	}
	return yes
}

// sift takes the answers out that have been judged before, and returns which are still to come.
func (m *machine) sift(late []checker.Ticket) []checker.Ticket {
	if len(late) == 0 {
		return nil
	}
	var left []checker.Ticket
	for _, ticket := range late {
		n := len(m.effects.Answers)
		m.effects.Answers = slices.DeleteFunc(m.effects.Answers, func(a checker.Answer) bool { return a.Ticket == ticket })
		if len(m.effects.Answers) == n && !m.e.crash {
			left = append(left, ticket)
		}
	}
	return left
}

// ask finds out what a request will be answered that waits for a write: that is judged now. Where the write fails it must not succeed.
func (m *machine) ask(c Coordinator, late []checker.Ticket) ([]checker.Ticket, error) {
	answers := func(failed bool) (*checker.Answer, error) {
		is, err := m.bench.Copy(c, m.asked)
		if err != nil {
			return nil, err
		}
		m.asked = is
		m.held.Reset()
		for is.Open() {
			is.EndWrite(failed)
		}
		is.Drain(&m.held)
		if i := slices.IndexFunc(m.held.Answers, func(a checker.Answer) bool { return a.Ticket == m.req.ticket }); i >= 0 {
			return &m.held.Answers[i], nil
		}
		return nil, nil
	}
	if m.e.Kind == classic.JoinGroup || m.e.Kind == classic.SyncGroup || slices.ContainsFunc(m.effects.Answers, func(a checker.Answer) bool { return a.Ticket == m.req.ticket }) {
		return late, nil
	}
	a, err := answers(true)
	if err != nil || a == nil {
		return late, err
	}
	if code, ok := errorOf(a.Message); ok && code == 0 {
		m.faults = append(m.faults, errBelated)
	}
	if a, err = answers(false); err != nil || a == nil {
		return late, err
	}
	m.effects.Answers = append(m.effects.Answers, *a)
	return append(slices.Clone(late), m.req.ticket), nil
}

var errTooMany = errors.New("more member ids than there is room for")

// inconsistency is what the coordinator finds wrong itself, or what no transition speaks of.
const inconsistency = "an inconsistency"

var errBelated = errors.New("a request that waits for a write succeeds although the write fails")

// keepLog remembers the last records of each kind, so that where a crash is tried the log says just what the state says. The record of a
// group that has become Empty may be in the log although its write is said to have failed; of other writes that fail nothing is left in
// memory either.
func (m *machine) keepLog(to *state) {
	g := &to.models[0].state
	if g.Phase == classic.Absent {
		to.log = nil
		return
	}
	to.log = m.appended(to.log, g.Phase == classic.Empty)
}

// appended is a log with what the step has written, to a group that is Empty then or not.
func (m *machine) appended(log []Record, empty bool) []Record {
	for i := range m.effects.Records {
		r := m.effects.Records[i]
		if m.e.Write == classic.WriteFailed && (r.Kind != classic.GroupRecord || !empty) {
			continue
		}
		gone := r.Kind
		switch r.Kind {
		case classic.GroupTombstone:
			gone = classic.GroupRecord
		case classic.OffsetTombstones:
			gone = classic.OffsetRecords
		}
		log = slices.DeleteFunc(slices.Clone(log), func(o Record) bool { return o.Kind == gone })
		if gone == r.Kind {
			log = append(log, r)
		}
	}
	return log
}
