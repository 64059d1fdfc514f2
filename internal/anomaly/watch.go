package anomaly

import (
	"slices"
	"time"
)

// How much of a group's past is kept: enough for every rule, and no more, since there may be thousands of groups.
const (
	maxGenerations = 32
	maxDrops       = 16
	maxStints      = 256
)

// Watch gathers the observations of one group.
type Watch struct {
	Group    string
	settings Settings

	last  Observation // without its generations
	looks int

	span     span // the state that the group is in
	unrest   span // the time without Stable or Empty, whatever state came after which
	members  []Member
	present  map[string]time.Time // members listed by the last look at them, and since when; zero: since before the first look
	rotation []time.Time          // when a rebalance was seen to begin, for want of generations

	generations []Generation
	completedAt time.Time // when a generation was last seen to be completed during the watch
	stints      []stint   // observed memberships that have ended
	drops       []drop
	committed   map[string]time.Time // members that committed during the present rebalance
	offsets     int64                // sum of committed offsets
	still       span                 // the time in which they did not move while the group was Empty
}

// span is a time during which something held at every look.
type span struct {
	state  State
	before time.Time // last look at which it did not hold; zero: not known
	since  time.Time // first look at which it held
	seen   time.Time // last look at which it held
	looks  int
}

func (s span) length() time.Duration {
	if s.looks == 0 {
		return 0
	}
	return s.seen.Sub(s.since)
}

func (s *span) extend(at time.Time) {
	if s.looks == 0 {
		s.since = at
	}
	s.seen = at
	s.looks++
}

// drop is a member that was gone when a joining ended.
type drop struct {
	member Member
	at     time.Time
	waited time.Duration // how long the joining had lasted, at least
	most   time.Duration // and at most; 0: not known
}

// NewWatch begins to watch a group.
func NewWatch(group string, s Settings) *Watch {
	return &Watch{Group: group, settings: s}
}

// Last is the last observation, without its generations.
func (w *Watch) Last() Observation { return w.last }

// Generation is the last generation that the group is known to have completed.
func (w *Watch) Generation() (Generation, bool) {
	if len(w.generations) == 0 {
		return Generation{}, false
	}
	return w.generations[len(w.generations)-1], true
}

// InState is how long the group has been in its state, at least.
func (w *Watch) InState() time.Duration { return w.span.length() }

// Rebalancing reports whether the group was rebalancing at every look so far.
func (w *Watch) Rebalancing() bool { return w.unrest.looks > 0 && w.unrest.looks == w.looks }

// Add takes an observation that is not older than the one before.
func (w *Watch) Add(o Observation) {
	gap := w.looks > 0 && o.At.Sub(w.last.At) > w.settings.MaxGap
	completed := w.addGenerations(o.Generations) && w.looks > 0
	if completed {
		w.completedAt = o.At
	}
	changed := w.addMembers(o)

	// A state that is seen twice need not have lasted: a generation in between says so, and for want of a log a change of members
	// is taken to say so.
	if o.State != w.span.state || gap || completed || (changed && !o.Log) {
		w.noteRebalance(o, gap)
		w.span = span{state: o.State}
		if w.looks > 0 && !gap {
			w.span.before = w.last.At
		}
		if o.State != PreparingRebalance {
			w.committed = nil
		}
	}
	w.span.extend(o.At)
	if !o.State.rebalancing() || gap || completed {
		w.unrest = span{}
	}
	if o.State.rebalancing() {
		w.unrest.extend(o.At)
	}
	if o.State == PreparingRebalance && w.span.looks > 1 {
		for _, id := range o.Committers {
			if w.committed == nil {
				w.committed = map[string]time.Time{}
			}
			w.committed[id] = o.At
		}
	}
	w.addLag(o, gap)
	w.keep(o)
}

// keep remembers the observation; what it does not know anew stays as it was.
func (w *Watch) keep(o Observation) {
	o.Generations, o.Committers = nil, nil
	if o.LastCommit.IsZero() {
		o.LastCommit = w.last.LastCommit
	}
	if o.BrokerNow.Before(w.last.BrokerNow) {
		o.BrokerNow = w.last.BrokerNow
	}
	if o.Lag == nil {
		o.Lag = w.last.Lag
	}
	if o.ProtocolType == "" {
		o.ProtocolType = w.last.ProtocolType
	}
	o.Members = nil
	w.last = o
	w.looks++
}

// addGenerations reports whether the group has completed a generation that was not known.
func (w *Watch) addGenerations(read []Generation) bool {
	completed := false
	for _, g := range read {
		if n := len(w.generations); n > 0 && w.generations[n-1].Number == g.Number && sameMembers(w.generations[n-1].Members, g.Members) {
			continue // written again, as for a static member that came back
		}
		w.generations = append(w.generations, g)
		completed = true
	}
	if n := len(w.generations); n > maxGenerations {
		w.generations = slices.Delete(w.generations, 0, n-maxGenerations)
	}
	return completed
}

// addMembers reports whether other members were listed than at the look before.
func (w *Watch) addMembers(o Observation) (changed bool) {
	if !o.MembersKnown {
		return false
	}
	first := w.present == nil
	now := make(map[string]time.Time, len(o.Members))
	for _, m := range o.Members {
		since, known := w.present[m.ID]
		if !known && !first {
			since, changed = o.At, true
		}
		now[m.ID] = since
	}
	for _, m := range w.members {
		since, was := w.present[m.ID]
		if _, is := now[m.ID]; is || !was {
			continue
		}
		changed = true
		w.stints = append(w.stints, stint{member: m, from: since, to: o.At})
		if w.span.state == PreparingRebalance && o.State != PreparingRebalance && o.State != Dead {
			d := drop{member: m, at: o.At, waited: w.span.length()}
			if !w.span.before.IsZero() {
				d.most = o.At.Sub(w.span.before)
			}
			w.drops = append(w.drops, d)
		}
	}
	if n := len(w.stints); n > maxStints {
		w.stints = slices.Delete(w.stints, 0, n-maxStints)
	}
	if n := len(w.drops); n > maxDrops {
		w.drops = slices.Delete(w.drops, 0, n-maxDrops)
	}
	w.members, w.present = slices.Clone(o.Members), now
	return changed
}

// noteRebalance counts a rebalance that was seen to begin.
func (w *Watch) noteRebalance(o Observation, gap bool) {
	if !o.State.rebalancing() || w.looks == 0 || gap {
		return
	}
	if w.span.state == PreparingRebalance && o.State == CompletingRebalance {
		return // the same one goes on
	}
	w.rotation = append(w.rotation, o.At)
	if n := len(w.rotation); n > maxGenerations {
		w.rotation = slices.Delete(w.rotation, 0, n-maxGenerations)
	}
}

func (w *Watch) addLag(o Observation, gap bool) {
	if o.State != Empty || gap {
		w.still = span{}
	}
	if o.Lag == nil || o.State != Empty {
		return
	}
	var sum int64
	for _, p := range o.Lag.Partitions {
		sum += p.Committed
	}
	if sum != w.offsets || len(o.Committers) > 0 {
		w.still = span{}
	}
	w.offsets = sum
	w.still.extend(o.At)
}

func sameMembers(a, b []Member) bool {
	return slices.EqualFunc(a, b, func(x, y Member) bool { return x.ID == y.ID })
}
