package consumers

import (
	"slices"
	"strings"

	"github.com/muster-kafka/muster/checker/ownership"
)

// happened counts the triggers that had an effect which the group's members saw: a member that was killed counts once another has what it
// had, a topic once it belongs to somebody. What was merely done does not count.
func happened(l *ownership.Log) map[Trigger]int {
	s := seen{count: map[Trigger]int{}, started: map[string]bool{}, holds: map[string][]ownership.Partition{}, last: map[string]ownership.Event{}}
	for _, e := range l.Events {
		s.take(e)
	}
	return s.count
}

// seen is what is waited for.
type seen struct {
	count    map[Trigger]int
	started  map[string]bool                  // clients that have not been assigned anything yet
	holds    map[string][]ownership.Partition // by client
	last     map[string]ownership.Event       // its latest Joined
	assigned bool                             // somebody is

	killed  [][]ownership.Partition // what those had that were killed
	left    int
	stood   []string          // clients that have to find out that they are not in the group any more
	absent  []string          // and those that have to find out that the group has gone on
	owner   map[string]string // the client that an instance id was last seen with
	late    []string
	changed []string              // clients whose subscription has changed
	fresh   []ownership.Partition // of topics that were created
	grown   []ownership.Partition // that were added
	topics  map[string]int32      // that there are
	eager   bool                  // the group has rebalanced eagerly
	begun   int                   // clients
}

func (s *seen) take(e ownership.Event) {
	switch e.Kind {
	case ownership.Started:
		s.begun++
		if s.begun > fewest {
			s.started[e.Client] = true
		}
	case ownership.Crashed:
		if some := s.holds[e.Client]; len(some) > 0 {
			s.killed = append(s.killed, some)
		}
		delete(s.holds, e.Client)
	case ownership.Left:
		s.left++
	case ownership.Resumed:
		if e.What == string(Absence) {
			s.absent = append(s.absent, e.Client)
		} else {
			s.stood = append(s.stood, e.Client)
		}
	case ownership.Note:
		switch {
		case e.Client != "" && e.Topic != "":
			s.changed = append(s.changed, e.Client)
		case e.Client != "":
			s.late = append(s.late, e.Client)
		}
	case ownership.Topic:
		s.topic(e)
	case ownership.Joined:
		s.joined(e)
	case ownership.Assigned:
		s.assign(e)
	case ownership.Revoked:
		s.holds[e.Client] = slices.DeleteFunc(slices.Clone(s.holds[e.Client]), func(p ownership.Partition) bool { return slices.Contains(e.Partitions, p) })
	case ownership.Lost:
		delete(s.holds, e.Client)
		s.out(e.Client)
	}
}

// out notes that a client has found out that it is not in the group any more.
func (s *seen) out(client string) {
	for _, one := range []struct {
		trigger Trigger
		waiting *[]string
	}{{Session, &s.stood}, {Poll, &s.late}, {Absence, &s.absent}} {
		if n := slices.Index(*one.waiting, client); n >= 0 {
			s.count[one.trigger]++
			*one.waiting = slices.Delete(*one.waiting, n, n+1)
		}
	}
}

func (s *seen) topic(e ownership.Event) {
	if s.topics == nil {
		s.topics = map[string]int32{}
	}
	before, known := s.topics[e.Topic]
	s.topics[e.Topic] = e.Count
	for n := before; n < e.Count; n++ {
		switch p := ownership.PartitionOf(e.Topic, n); {
		case known:
			s.grown = append(s.grown, p)
		case s.assigned:
			s.fresh = append(s.fresh, p)
		}
	}
}

func (s *seen) joined(e ownership.Event) {
	last, ok := s.last[e.Client]
	s.last[e.Client] = e
	if ok && last.Member != e.Member {
		s.out(e.Client)
	}
	if n := slices.Index(s.changed, e.Client); n >= 0 && ok && strings.Join(last.Topics, " ") != strings.Join(e.Topics, " ") {
		s.count[Subscribe]++
		s.changed = slices.Delete(s.changed, n, n+1)
	}
	if before := s.owner[e.Instance]; e.Instance != "" {
		if before != "" && before != e.Client {
			s.count[Return]++
		}
		if s.owner == nil {
			s.owner = map[string]string{}
		}
		s.owner[e.Instance] = e.Client
	}
	s.count[Leave] += s.left
	s.left = 0
	switch {
	case !e.Cooperative:
		s.eager = true
	case s.eager:
		s.count[Switch]++
		s.eager = false
	}
}

func (s *seen) assign(e ownership.Event) {
	s.assigned = true
	if s.started[e.Client] {
		s.count[Join]++
		delete(s.started, e.Client)
	}
	for _, p := range e.Partitions {
		if !slices.Contains(s.holds[e.Client], p) {
			s.holds[e.Client] = append(s.holds[e.Client], p)
		}
	}
	s.count[Match] += s.given(&s.fresh, e.Partitions, true)
	s.count[Partitions] += s.given(&s.grown, e.Partitions, false)
	for i, some := range s.killed {
		if slices.ContainsFunc(some, func(p ownership.Partition) bool { return slices.Contains(e.Partitions, p) }) {
			s.count[Crash]++
			s.killed = slices.Delete(s.killed, i, i+1)
			break
		}
	}
}

// given counts what of the partitions that were waited for is given to somebody now; of a topic it counts once.
func (s *seen) given(waiting *[]ownership.Partition, some []ownership.Partition, once bool) (n int) {
	for _, p := range some {
		at := slices.Index(*waiting, p)
		if at < 0 {
			continue
		}
		n++
		*waiting = slices.Delete(*waiting, at, at+1)
		if once {
			topic := string(p)[:strings.LastIndexByte(string(p), '/')+1]
			*waiting = slices.DeleteFunc(*waiting, func(q ownership.Partition) bool { return strings.HasPrefix(string(q), topic) })
		}
	}
	return n
}
