package ownership

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sim makes logs that are legal: a group that does what the protocol demands, with all the freedom that time and chance have in it. It shares
// nothing with the judge.
type sim struct {
	t           *rapid.T
	log         *Log
	now         int64
	generation  int32
	partitions  int32
	cooperative bool
	alive       []*actor
	asleep      []*actor // evicted, and not aware of it
	born        int
}

type actor struct {
	client, member string
	generation     int32
	holds          map[Partition]bool
}

func (a *actor) list() []Partition { return slices.Sorted(maps.Keys(a.holds)) }

func (s *sim) draw(what string, most int) int { return rapid.IntRange(0, most-1).Draw(s.t, what) }

// say puts an event into the log, some time after the one before.
func (s *sim) say(e Event) *Event {
	s.now += int64(1 + s.draw("pause", 50))
	e.At = s.now
	s.log.Events = append(s.log.Events, e)
	return &s.log.Events[len(s.log.Events)-1]
}

func (s *sim) tell(kind Kind, a *actor, some []Partition) *Event {
	return s.say(Event{Kind: kind, Client: a.client, Member: a.member, Generation: a.generation, Partitions: some})
}

func (s *sim) add() {
	s.born++
	a := &actor{client: fmt.Sprintf("c%d", s.born), member: fmt.Sprintf("m%d", s.born), holds: map[Partition]bool{}}
	s.alive = append(s.alive, a)
	s.say(Event{Kind: Started, Client: a.client})
}

// remove takes a member out of the group: it leaves, is killed, or falls asleep.
func (s *sim) remove(n int) {
	a := s.alive[n]
	s.alive = slices.Delete(s.alive, n, n+1)
	switch s.draw("how", 3) {
	case 0:
		s.tell(Leaving, a, nil)
		s.tell(Revoked, a, a.list())
		began := s.now
		s.tell(Left, a, nil).Began = began
		s.tell(Closed, a, nil)
	case 1:
		s.tell(Crashed, a, nil)
	default:
		s.tell(Stalled, a, nil)
		s.asleep = append(s.asleep, a)
	}
}

// wake tells those that slept that they have lost all, and they begin anew.
func (s *sim) wake() {
	for _, a := range s.asleep {
		s.tell(Resumed, a, nil)
		s.tell(Lost, a, a.list())
		s.born++
		a.member, a.holds = fmt.Sprintf("m%d", s.born), map[Partition]bool{}
		s.alive = append(s.alive, a)
	}
	s.asleep = nil
}

// commits are those of members of the present generation, answered at once or later.
func (s *sim) commits() {
	for _, a := range s.alive {
		if some := a.list(); len(some) > 0 && a.generation == s.generation && s.draw("commits", 3) == 0 {
			began := s.now
			s.tell(Commit, a, some[:1+s.draw("some", len(some))]).Began = began
		}
	}
}

// rebalance goes through one rebalance, or as many as it takes until all is given away.
func (s *sim) rebalance() {
	for again := true; again; {
		again = s.round()
		s.commits()
	}
}

// owners are where all partitions are to be in the end: with whom they are, as far as that is fair.
func (s *sim) owners() map[Partition]*actor {
	to, counts := map[Partition]*actor{}, map[*actor]int{}
	most := (int(s.partitions) + len(s.alive) - 1) / len(s.alive)
	all := []Partition{}
	for n := range s.partitions {
		all = append(all, PartitionOf("t", n))
	}
	for _, p := range all {
		for _, a := range s.alive {
			if a.holds[p] && counts[a] < most {
				to[p] = a
				counts[a]++
			}
		}
	}
	for _, p := range all {
		if to[p] != nil {
			continue
		}
		least := s.alive[0]
		for _, a := range s.alive {
			if counts[a] < counts[least] {
				least = a
			}
		}
		to[p] = least
		counts[least]++
	}
	return to
}

// round is one rebalance. It says whether another has to follow.
func (s *sim) round() bool {
	order := rapid.Permutation(s.alive).Draw(s.t, "order")
	leader := order[s.draw("leader", len(order))]
	var members []string
	began := map[*actor]int64{}
	for _, a := range order {
		members = append(members, a.member)
		if !s.cooperative && len(a.holds) > 0 {
			s.tell(Revoked, a, a.list())
			a.holds = map[Partition]bool{}
		}
		began[a] = s.now
		s.now++
	}
	s.generation++
	plan := map[string][]Partition{}
	again := false
	to := s.owners()
	for _, p := range slices.Sorted(maps.Keys(to)) {
		a := to[p]
		if s.cooperative && slices.ContainsFunc(order, func(other *actor) bool { return other != a && other.holds[p] }) {
			again = true // it has to be given up first
			continue
		}
		plan[a.member] = append(plan[a.member], p)
	}
	answered := func(a *actor) {
		owned := a.list()
		a.generation = s.generation
		e := s.tell(Joined, a, nil)
		e.Began, e.Protocol, e.Cooperative, e.Leader, e.Topics, e.Owned = began[a], "p", s.cooperative, leader.member, []string{"t"}, owned
		if a == leader {
			e.Members = slices.Clone(members)
		}
	}
	answered(leader)
	late := []*actor{}
	for _, a := range order {
		if a != leader {
			if s.draw("late", 3) == 0 {
				late = append(late, a)
				continue
			}
			answered(a)
		}
	}
	s.tell(Planned, leader, nil).Plan = plan
	for _, a := range append(rapid.Permutation(slices.DeleteFunc(slices.Clone(order), func(a *actor) bool { return slices.Contains(late, a) })).Draw(s.t, "synced"), late...) {
		if slices.Contains(late, a) {
			answered(a)
		}
		asked := s.now
		s.tell(Synced, a, plan[a.member]).Began = asked
		s.takeOver(a, plan[a.member])
	}
	return again
}

// takeOver lets a consumer begin with its assignment.
func (s *sim) takeOver(a *actor, mine []Partition) {
	var gone, more []Partition
	for _, p := range a.list() {
		if !slices.Contains(mine, p) {
			gone = append(gone, p)
			delete(a.holds, p)
		}
	}
	for _, p := range mine {
		if !a.holds[p] {
			more = append(more, p)
			a.holds[p] = true
		}
	}
	if len(gone) > 0 {
		s.tell(Revoked, a, gone)
	}
	s.tell(Assigned, a, more)
}

func (s *sim) rest() {
	began := s.now
	s.now += 10_000
	s.say(Event{Kind: Quiet, Began: began, Patient: true})
}

// life makes a legal log.
func life(t *rapid.T) *Log {
	s := &sim{t: t, log: &Log{Header: Header{Group: "g", Session: 1000, Calm: 1000}}, cooperative: rapid.Bool().Draw(t, "cooperative"), partitions: 1}
	more := func(n int) {
		s.partitions += int32(n)
		s.say(Event{Kind: Topic, Topic: "t", Count: s.partitions})
	}
	more(s.draw("partitions", 5))
	for range 2 + s.draw("members", 3) {
		s.add()
	}
	s.rebalance()
	for range 3 + s.draw("changes", 8) {
		switch s.draw("change", 6) {
		case 0, 1:
			s.add()
		case 2:
			if len(s.alive) > 1 {
				s.remove(s.draw("who", len(s.alive)))
			}
		case 3:
			s.wake()
		case 4:
			more(1)
		default:
			// An upgrade: each has given up what it had, as both protocols demand.
			if !s.cooperative && len(s.asleep) == 0 {
				for _, a := range s.alive {
					s.tell(Revoked, a, a.list())
					a.holds = map[Partition]bool{}
				}
				s.cooperative = true
			}
		}
		s.rebalance()
		s.commits()
		if len(s.asleep) == 0 && s.draw("rest", 2) == 0 {
			s.rest()
		}
	}
	s.wake()
	s.rebalance()
	s.rest()
	return s.log
}

// TestLegal finds nothing in what is right.
func TestLegal(t *testing.T) {
	var zombies, refused, rounds int
	rapid.Check(t, func(t *rapid.T) {
		l := life(t)
		v := Judge(l)
		for _, one := range v.Violations {
			t.Errorf("\n%s", Tell(l, one))
		}
		if v.Rests == 0 || v.Claims == 0 || v.Generations == 0 {
			t.Errorf("nothing was judged: %+v", v)
		}
		zombies += v.Zombies
		refused += v.Refused
		for _, e := range l.Events {
			if e.Kind == Revoked && slices.ContainsFunc(l.Events, func(j Event) bool {
				return j.Kind == Synced && j.Generation == e.Generation && j.Client == e.Client && j.At < e.At
			}) {
				rounds++
			}
		}
	})
	if zombies == 0 || refused == 0 || rounds == 0 {
		t.Errorf("the logs had %d zombies, %d of which were told, and %d partitions taken in cooperative rebalances: too little happens in them", zombies, refused, rounds)
	}
	t.Logf("%d zombies, %d told so, %d revoked", zombies, refused, rounds)
}

// plant spoils a legal log in one way. It says no where the log has no place for it.
type plant func(t *rapid.T, l *Log) bool

// find draws an event of the log that the function wants; it returns -1 where there is none.
func find(t *rapid.T, l *Log, want func(e *Event) bool) int {
	var all []int
	for i := range l.Events {
		if want(&l.Events[i]) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return rapid.SampledFrom(all).Draw(t, "where")
}

func insert(l *Log, at int, e Event) { l.Events = slices.Insert(l.Events, at, e) }

var plants = map[string]plant{
	Once: func(t *rapid.T, l *Log) bool {
		// Another member of the generation is told to own a partition as well.
		from := find(t, l, func(e *Event) bool { return e.Kind == Assigned && len(e.Partitions) > 0 })
		if from < 0 {
			return false
		}
		one := l.Events[from]
		to := find(t, l, func(e *Event) bool {
			return e.Kind == Assigned && e.Generation == one.Generation && e.Client != one.Client
		})
		if to < 0 {
			return false
		}
		l.Events[to].Partitions = append(slices.Clone(l.Events[to].Partitions), one.Partitions[0])
		return true
	},
	Zombie: func(t *rapid.T, l *Log) bool {
		// A commit of an old generation is accepted.
		old := find(t, l, func(e *Event) bool { return e.Kind == Assigned && len(e.Partitions) > 0 })
		if old < 0 {
			return false
		}
		one := l.Events[old]
		after := find(t, l, func(e *Event) bool { return e.Kind == Synced && e.Generation == one.Generation+1 })
		if after < 0 {
			return false
		}
		at := l.Events[after].At
		for after < len(l.Events) && l.Events[after].At < at+2 {
			after++
		}
		insert(l, after, Event{Kind: Commit, At: at + 1, Began: at + 1, Client: one.Client, Member: one.Member, Generation: one.Generation, Partitions: one.Partitions})
		return true
	},
	Orphan: func(t *rapid.T, l *Log) bool {
		// There is a partition that nobody was given.
		n := find(t, l, func(e *Event) bool { return e.Kind == Quiet })
		if n < 0 {
			return false
		}
		insert(l, n, Event{Kind: Topic, At: l.Events[n].Began, Topic: "t", Count: 100})
		l.Sort()
		return true
	},
	Rest: func(t *rapid.T, l *Log) bool {
		// A member is never heard of again.
		n := find(t, l, func(e *Event) bool { return e.Kind == Quiet })
		if n < 0 {
			return false
		}
		insert(l, n, Event{Kind: Started, At: l.Events[n].Began, Client: "nobody"})
		l.Sort()
		return true
	},
	Cooperative: func(t *rapid.T, l *Log) bool {
		// What a member keeps is taken from it.
		synced := find(t, l, func(e *Event) bool {
			if e.Kind != Synced {
				return false
			}
			joined := slices.IndexFunc(l.Events, func(j Event) bool { return j.Kind == Joined && j.Client == e.Client && j.Generation == e.Generation })
			return joined >= 0 && l.Events[joined].Cooperative && slices.ContainsFunc(l.Events[joined].Owned, func(p Partition) bool { return slices.Contains(e.Partitions, p) })
		})
		if synced < 0 {
			return false
		}
		one := l.Events[synced]
		insert(l, synced+1, Event{Kind: Revoked, At: one.At, Client: one.Client, Member: one.Member, Generation: one.Generation, Partitions: one.Partitions})
		return true
	},
	Plan: func(t *rapid.T, l *Log) bool {
		n := find(t, l, func(e *Event) bool { return e.Kind == Synced })
		l.Events[n].Partitions = append(slices.Clone(l.Events[n].Partitions), "t/99")
		return true
	},
	OneLeader: func(t *rapid.T, l *Log) bool {
		n := find(t, l, func(e *Event) bool { return e.Kind == Joined && e.Leader != e.Member })
		if n < 0 {
			return false
		}
		l.Events[n].Leader = l.Events[n].Member
		return true
	},
	Gone: func(t *rapid.T, l *Log) bool {
		n := find(t, l, func(e *Event) bool { return e.Kind == Left })
		if n < 0 {
			return false
		}
		left := l.Events[n]
		after := find(t, l, func(e *Event) bool { return e.Kind == Joined && len(e.Members) > 0 && e.Began > left.At })
		if after < 0 {
			return false
		}
		l.Events[after].Members = append(l.Events[after].Members, left.Member)
		return true
	},
}

// TestPlanted spoils legal logs in each way that there is: the rule has to be named, each time.
func TestPlanted(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			spoil := plants[rule.ID]
			if spoil == nil {
				t.Fatal("nothing breaks this rule")
			}
			found := 0
			once := func(t *rapid.T) {
				l := life(t)
				if !spoil(t, l) {
					return
				}
				found++
				v := Judge(l)
				if !slices.ContainsFunc(v.Violations, func(v Violation) bool { return v.Rule == rule.ID }) {
					t.Fatalf("not found: %+v", v)
				}
			}
			for range 5 { // not every log has what is to be spoilt: in some hundreds a fifth have
				if rapid.Check(t, once); found >= 20 {
					return
				}
			}
			t.Errorf("spoilt only %d logs", found)
		})
	}
}
