package variant

import "github.com/muster-kafka/muster/checker/explore"

// question asks whether something that is due ever comes, if from now on things only take their course: timers fire, clients that live
// do what the answers tell them, and nobody new comes.
type question struct {
	key      explore.Key
	property int
	client   int8
}

// judgeWaiting asks about everything that is due in a state.
func (m *machine) judgeWaiting(s *state, out *explore.Expansion) {
	key := s.key()
	ask := func(property int, client int8) {
		if !m.comes(question{key, property, client}) {
			found(out, explore.OfState, property, int(client))
		}
	}
	for i := range int8(clients) {
		c := &s.clients[i]
		switch {
		case c.dead:
			ask(deadRemoved, i)
		case c.waits == forJoin:
			ask(joinAnswered, i)
		case c.waits == forSync:
			ask(syncAnswered, i)
		}
	}
	if s.rebalancing() && s.members() > 0 {
		ask(rebalanceEnds, nobody)
	}
}

func (s *state) rebalancing() bool { return s.phase == Preparing || s.phase == Completing }

// over says whether what a question asks for has come.
func (q *question) over(s *state) bool {
	switch q.property {
	case deadRemoved:
		return !s.clients[q.client].dead
	case joinAnswered:
		return s.clients[q.client].waits != forJoin
	case syncAnswered:
		return s.clients[q.client].waits != forSync
	}
	return !s.rebalancing()
}

// comes searches the states that can follow by themselves. Those that lead beyond the bound count as good.
func (m *machine) comes(q question) bool {
	if known, asked := m.ends[q]; asked {
		return known
	}
	seen := map[explore.Key]bool{q.key: true}
	queue := []explore.Key{q.key}
	comes := false
	for at := 0; at < len(queue) && !comes; at++ {
		s := unpack(queue[at])
		comes = m.course(&s, func(x *execution) bool {
			k := x.s.key()
			if q.over(&x.s) || m.ends[question{k, q.property, q.client}] {
				return true
			}
			if !seen[k] {
				seen[k] = true
				queue = append(queue, k)
			}
			return false
		})
	}
	if comes {
		m.ends[q] = true
		return true
	}
	for _, k := range queue {
		m.ends[question{k, q.property, q.client}] = false
	}
	return false
}

// following counts the states that can follow by themselves where nothing comes of a question.
func (m *machine) following(k explore.Key) int {
	seen := map[explore.Key]bool{k: true}
	queue := []explore.Key{k}
	for at := 0; at < len(queue); at++ {
		s := unpack(queue[at])
		m.course(&s, func(x *execution) bool {
			if k := x.s.key(); !seen[k] {
				seen[k] = true
				queue = append(queue, k)
			}
			return false
		})
	}
	return len(queue)
}

// course calls f for what happens by itself, until it says true; so does an event that leads beyond the bound.
func (m *machine) course(s *state, f func(*execution) bool) (done bool) {
	happen := func(k kind, i int8) {
		if !done && m.happen(s, event{k, i}, func(x *execution) { done = done || f(x) }) {
			done = true
		}
	}
	reading := &m.setting.Reading
	for i := range int8(clients) {
		c := &s.clients[i]
		if c.expires(reading.WaitingDies) && (c.dead || c.waits == forJoin) {
			happen(expiry, i)
		}
		if s.syncs(i) {
			happen(syncGroup, i)
		}
		if c.beats() {
			happen(heartbeat, i)
		}
		if c.waits == forRetry || rejoins(reading, s, i) {
			happen(joinGroup, i)
		}
	}
	if s.joinTimer {
		happen(joinTimeout, stranger)
	}
	return done
}

// rejoins says whether a client's next heartbeat tells it to join again.
func rejoins(r *Reading, s *state, i int8) bool {
	if !s.clients[i].beats() {
		return false
	}
	x := execution{r: r, s: *s}
	switch x.heartbeatCode(i) {
	case rebalanceInProgress, illegalGeneration, unknownMember:
		return true
	}
	return false
}
