package variant

import "github.com/muster-kafka/muster/checker/explore"

// Machine returns the setting as one worker of a search sees it.
func (t Setting) Machine() explore.Machine {
	if t.Generations == 0 {
		t.Generations = MaxGeneration
	}
	return &machine{setting: t, ends: map[question]bool{}}
}

type machine struct {
	setting Setting
	events  []event
	ends    map[question]bool // whether what is asked ever comes
	done    execution
}

func (m *machine) Initial() explore.Key {
	s := initial()
	return s.key()
}

func (m *machine) Expand(k explore.Key, out *explore.Expansion) {
	s := unpack(k)
	judgeState(&s, func(property int) { found(out, explore.OfState, property, 0) })
	m.judgeWaiting(&s, out)
	m.transitions(&s, func(x *execution) {
		edge := len(out.Next)
		x.judge(func(property int) { found(out, edge, property, 0) })
		out.Next = append(out.Next, x.s.key())
	})
}

// transitions calls f for everything that can happen in s, always in the same order. What would go beyond the bound is left out.
func (m *machine) transitions(s *state, f func(*execution)) {
	m.enumerate(s)
	for i := range m.events {
		m.happen(s, m.events[i], f)
	}
}

// happen calls f for each outcome of an event, and says whether one would go beyond the bound.
func (m *machine) happen(s *state, e event, f func(*execution)) (beyond bool) {
	x := &m.done
	for _, second := range [...]bool{false, true} {
		*x = execution{r: &m.setting.Reading, e: e, before: *s, s: *s, second: second, bound: m.setting.Generations, replies: x.replies[:0], moves: x.moves[:0]}
		x.run()
		m.forget(&x.s)
		if x.overflow {
			beyond = true
		} else {
			f(x)
		}
		if !x.choices {
			break
		}
	}
	return beyond
}

// forget drops what this setting does not explore.
func (m *machine) forget(s *state) {
	if !m.setting.Restarts {
		s.saved = snapshot{leader: nobody}
	}
	if !m.setting.Commits {
		s.offsets = noOffsets
	}
}

func (m *machine) add(k kind, client int8) { m.events = append(m.events, event{k, client}) }

// enumerate fills in what can happen. Clients may do anything that a client could: join at any time, repeat a request, act on what they
// believe long after they have been removed, crash. Of equally short traces the one whose events come first here is shown.
func (m *machine) enumerate(s *state) {
	m.events = m.events[:0]
	if s.joinTimer {
		m.add(joinTimeout, stranger)
	}
	for i := range int8(clients) {
		c := &s.clients[i]
		if s.syncs(i) {
			m.add(syncGroup, i)
		}
		if !c.dead {
			m.add(joinGroup, i)
		}
		if c.beats() {
			m.add(heartbeat, i)
			m.add(commit, i)
		}
		if !c.dead && (c.member || c.held > 0) {
			m.add(leaveGroup, i)
		}
		if c.expires(m.setting.Reading.WaitingDies) {
			m.add(expiry, i)
		}
		if !c.dead && c.member {
			m.add(crash, i)
		}
	}
	m.add(heartbeat, stranger)
	m.add(leaveGroup, stranger)
	if m.setting.Restarts && s.phase != Dead {
		m.add(restart, stranger)
	}
	m.add(deleteGroup, stranger)
}

// expires says whether the client's session timer may fire.
func (c *client) expires(waiting bool) bool {
	return c.member && c.timer && (waiting || c.waits != forJoin && c.waits != forSync)
}

// beats says whether the client sends heartbeats: it has been in a generation, and is not about to join another.
func (c *client) beats() bool {
	return !c.dead && c.held > 0 && c.waits != forJoin && c.waits != forRetry
}

// syncs says whether the client is to send a SyncGroup.
func (s *state) syncs(i int8) bool {
	c := &s.clients[i]
	return s.phase == Completing && !c.dead && c.member && c.owes == owesSync && c.waits == forNothing && c.held == s.generation && !c.stale
}
