package explore

import c "github.com/muster-kafka/muster/model/classic"

// silence judges what becomes of a request that waits when no client does anything more: whatever happens then, timers firing in any
// order and the write under way ending either way, the request must be answered.
type silence struct {
	model   *c.Model
	memo    map[question]outcome // a cache
	settled map[c.Packed]outcome // another one: states that leave no question
	scratch []question
	events  []c.Event
	after   []c.Packed // scratch too
}

// remembered bounds the caches: a worker's take about 15 MB.
const remembered = 1 << 18

// question is one waiting request of one state.
type question struct {
	state c.Packed
	kind  c.AddressKind // ParkedJoin or ParkedSync
	slot  int8          // in the canonical state
}

type outcome uint8

const (
	unasked outcome = iota
	asking          // an ancestor of what is being asked now
	answered
	stuck // some run never answers it
)

func newSilence(m *c.Model) *silence {
	return &silence{model: m, memo: map[question]outcome{}, settled: map[c.Packed]outcome{}}
}

// The two ways to break it. In the first a closed component of states is reached, without exit by itself, in all of which the request waits.
const (
	neverAnswered = "a waiting request is answered at last, by timers alone"
	mayHang       = "a waiting request is answered whatever the order of timers"
)

// judge asks about each waiting request of a state.
func (q *silence) judge(packed c.Packed, s *c.State, x *Expansion) {
	if len(q.memo)+len(q.settled) > remembered {
		clear(q.memo)
		clear(q.settled)
	}
	if q.settles(packed, s) {
		return
	}
	for i := range s.Slots {
		slot := &s.Slots[i]
		for _, kind := range [...]c.AddressKind{c.ParkedJoin, c.ParkedSync} {
			if kind == c.ParkedJoin && !slot.Joining || kind == c.ParkedSync && !slot.Syncing {
				continue
			}
			ask := question{state: packed, kind: kind, slot: int8(i)}
			if q.ask(ask) == answered {
				continue
			}
			f := Finding{Edge: OfState, Property: mayHang, Rule: endOf(kind).String(), Detail: int(kind)*c.MaxSlots + i}
			if _, closed := q.component(ask); closed {
				f.Property = neverAnswered
			}
			x.Findings = append(x.Findings, f)
		}
	}
}

// settles says whether whatever happens by itself answers all that waits in a state, without going into each request: if so nothing is to be
// asked. A run that comes back to where it was does not settle anything.
func (q *silence) settles(packed c.Packed, s *c.State) bool {
	if !waits(s) {
		return true
	}
	if known := q.settled[packed]; known != unasked {
		return known == answered
	}
	q.settled[packed] = asking
	from := len(q.after)
	settled, events := true, len(q.events)
	running(s, true, func(e c.Event) { q.events = append(q.events, e) })
	for i := events; i < len(q.events); i++ {
		q.model.Step(s, &q.events[i], func(t *c.Transition) bool {
			next, ok := t.Next.Pack()
			settled = settled && ok && keepsAll(s, t)
			q.after = append(q.after, next)
			return settled
		})
	}
	settled = settled && len(q.after) > from
	q.events = q.events[:events]
	for i := from; i < len(q.after) && settled; i++ {
		next := c.Unpack(q.after[i])
		settled = q.settles(q.after[i], &next)
	}
	q.after = q.after[:from]
	if settled {
		q.settled[packed] = answered
	} else {
		q.settled[packed] = stuck
	}
	return settled
}

// waits says whether a request is parked.
func waits(s *c.State) bool {
	for i := range s.Slots {
		if s.Slots[i].Joining || s.Slots[i].Syncing {
			return true
		}
	}
	return false
}

// keepsAll says whether each request that waited is answered or waits on.
func keepsAll(s *c.State, t *c.Transition) bool {
	for i := range s.Slots {
		was, is := &s.Slots[i], &t.Next.Slots[i]
		if was.Joining && !is.Joining && !answeredAt(t, c.ParkedJoin, i) || was.Syncing && !is.Syncing && !answeredAt(t, c.ParkedSync, i) {
			return false
		}
	}
	return true
}

func answeredAt(t *c.Transition, kind c.AddressKind, slot int) bool {
	for i := range t.Replies {
		if t.Replies[i].To == (c.Address{Kind: kind, Slot: int8(slot)}) {
			return true
		}
	}
	return false
}

// endOf is the rule that ends the wait of a request at the latest.
func endOf(kind c.AddressKind) c.RuleID {
	if kind == c.ParkedJoin {
		return c.JoinCompleteTimeout
	}
	return c.SyncTimerExpels
}

// ask says whether all runs answer the request. The runs of a correct group are finite, since each firing spends a timer: a run that
// comes back to where it was is one that never answers.
func (q *silence) ask(ask question) outcome {
	switch known := q.memo[ask]; known {
	case asking:
		return stuck
	case answered, stuck:
		return known
	}
	q.memo[ask] = asking
	// What may follow is kept on a stack of scratch space, below what the questions that it raises add.
	from := len(q.scratch)
	q.happen(ask, func(n question, _ *c.Event) { q.scratch = append(q.scratch, n) })
	result := answered
	if len(q.scratch) == from {
		result = stuck
	}
	for i := from; i < len(q.scratch) && result == answered; i++ {
		if n := q.scratch[i]; n != (question{}) && q.ask(n) == stuck {
			result = stuck
		}
	}
	q.scratch = q.scratch[:from]
	q.memo[ask] = result
	return result
}

// follow returns what may happen by itself: for each outcome the question that remains, or the zero question where the request has
// been answered. A request that is lost remains as a question about a slot where nothing waits, which nothing answers.
func (q *silence) follow(ask question) (next []question, events []c.Event) {
	q.happen(ask, func(n question, e *c.Event) { next, events = append(next, n), append(events, *e) })
	return next, events
}

// happen calls f for each of them, with the event.
func (q *silence) happen(ask question, f func(question, *c.Event)) {
	s := c.Unpack(ask.state)
	q.events = q.events[:0]
	running(&s, true, func(e c.Event) { q.events = append(q.events, e) })
	for i := range q.events {
		q.model.Step(&s, &q.events[i], func(t *c.Transition) bool {
			f(ask.after(t), &q.events[i])
			return true
		})
	}
}

// after is what remains of the question after a transition.
func (ask question) after(t *c.Transition) question {
	to := c.Address{Kind: ask.kind, Slot: ask.slot}
	for i := range t.Replies {
		if t.Replies[i].To == to {
			return question{}
		}
	}
	canonical, from := c.Canonicalize(t.Next)
	packed, _ := c.Pack(canonical)
	for i := range from {
		if from[i] == ask.slot {
			return question{state: packed, kind: ask.kind, slot: int8(i)}
		}
	}
	return question{}
}

// component counts the questions that can come of one, and says whether none of them is ever answered.
func (q *silence) component(ask question) (size int, closed bool) {
	seen := map[question]bool{ask: true}
	queue := []question{ask}
	for len(queue) > 0 {
		next, _ := q.follow(queue[0])
		queue = queue[1:]
		for _, n := range next {
			if n == (question{}) {
				return 0, false
			}
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return len(seen), true
}

// hang returns a run of events that ends where the request is stuck: where nothing happens any more, or where the run has been before.
func (q *silence) hang(ask question) (run []step) {
	seen := map[question]bool{}
	for !seen[ask] {
		seen[ask] = true
		next, events := q.follow(ask)
		for i, n := range next {
			if n != (question{}) && q.ask(n) == stuck {
				run = append(run, step{event: events[i], outcome: outcomesBefore(events, i)})
				ask = n
				break
			}
		}
		if len(next) == 0 {
			break
		}
	}
	return run
}

// outcomesBefore says which outcome of its event the i-th transition is.
func outcomesBefore(events []c.Event, i int) (n int) {
	for j := i - 1; j >= 0 && sameHappening(&events[j], &events[i]); j-- {
		n++
	}
	return n
}

// sameHappening compares events that happen by themselves.
func sameHappening(a, b *c.Event) bool {
	return a.Kind == b.Kind && a.Slot == b.Slot && a.Write == b.Write
}
