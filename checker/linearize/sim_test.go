package linearize

import (
	"container/heap"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/model/classic"
)

// sim lets the specification itself answer concurrent clients, with delays on the way there, on the way back and before its timers.
// Whatever it records is legal by construction.
type sim struct {
	t       testing.TB
	rand    *rand.Rand
	machine *observe.Machine
	now     int64
	queue   events
	order   int
	timers  map[simTimer]bool // scheduled
	calls   []*simCall
	limit   int
	full    bool
	roomy   bool
	broken  bool
	header  history.Header
	loss    int // one in so many calls loses its request, its answer or its client; 0 is none

	faults  []history.Fault
	session float64                  // as in simOptions
	mute    func(kmsg.Response) bool // as in simOptions

	restarts int64 // how often the coordinator has crashed
	down     bool
}

type simTimer struct {
	timer    checker.Timer
	deadline int64
}

type simCall struct {
	rec    history.Call
	client *simClient
	req    kmsg.Request
	ended  bool
	lost   bool // with the coordinator's life
	side   bool
}

type simClient struct {
	*traffic.Client
	main, side *simCall
}

type event struct {
	at    int64
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].order < e[k].order
}
func (e events) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

type simOptions struct {
	seed            uint64
	groups, clients int
	name            string // begins those of the groups
	calls           int
	loss            int
	profile         string
	restarts        bool                     // crash now and then
	delay           time.Duration            // initial rebalance delay
	static          bool                     // some members are static
	broken          []classic.RuleID         // that the coordinator breaks; the judge does not know
	session         float64                  // after how many times their time session timers fire; 0 is once, -1 is never
	mute            func(kmsg.Response) bool // which answers are never sent
	roomy           bool                     // what the specification has no room for is not sent, instead of ending the run
}

// simulate records a run of the specification.
func simulate(t testing.TB, o simOptions) *history.History {
	t.Helper()
	s := &sim{t: t, rand: rand.New(rand.NewPCG(o.seed, 99)), timers: map[simTimer]bool{}, limit: o.calls, loss: o.loss, broken: len(o.broken) > 0, roomy: o.roomy, session: o.session, mute: o.mute}
	if o.name == "" {
		o.name = "g"
	}
	if o.profile == "" {
		o.profile = "reference"
	}
	s.header = history.Header{
		Format: history.Format, Target: "sim", Seed: o.seed, Profile: o.profile,
		MinSession: 10 * time.Millisecond, MaxSession: time.Hour, NewMemberTimeout: newMemberTimeout, MaxMetadata: maxMetadata,
		Tick: 10 * time.Millisecond, Slack: 50 * time.Millisecond, Topics: map[string]int32{"t": 2},
	}
	for i := range o.groups {
		s.header.Groups = append(s.header.Groups, o.name+string(rune('0'+i)))
	}
	s.header.InitialDelay = o.delay
	config, err := configOf(&history.History{Header: s.header}, o.broken)
	if err != nil {
		t.Fatal(err)
	}
	config.KeepLog = o.restarts
	config.EarlyAnswers = false // for how long a record may be on its way is the judge's to say
	s.machine = observe.NewMachine(observe.NewWorld(config), s.rand.IntN)
	setup := &traffic.Setup{
		Seed: o.seed, Groups: s.header.Groups, Clients: o.clients, Topic: "t", MinSession: s.header.MinSession, MaxMetadata: maxMetadata, Period: 1500 * time.Millisecond,
		Static: o.static, OffsetDelete: o.static,
	}
	if o.restarts {
		s.at(s.rand.Int64N(int64(time.Second)), s.crash)
	}
	for n := range o.clients {
		c := &simClient{Client: traffic.New(setup, n)}
		s.at(0, func() { s.turn(c) })
	}
	for s.queue.Len() > 0 && !s.full {
		e := heap.Pop(&s.queue).(event)
		s.now = e.at
		e.do()
	}
	h := &history.History{Header: s.header, Faults: s.faults}
	h.Header.Ran = time.Duration(s.now)
	for _, c := range s.calls {
		h.Calls = append(h.Calls, c.rec)
	}
	if s.full {
		return h.Cut(s.now)
	}
	return h
}

func (s *sim) at(delay int64, do func()) {
	s.order++
	heap.Push(&s.queue, event{s.now + delay, s.order, do})
}

// delay is short most of the time.
func (s *sim) delay() int64 {
	most := int64(2 * time.Millisecond)
	if s.rand.IntN(10) == 0 {
		most = int64(20 * time.Millisecond)
	}
	return 1 + s.rand.Int64N(most)
}

func (s *sim) turn(c *simClient) {
	if len(s.calls) >= s.limit || c.main != nil {
		return
	}
	step := c.Next(time.Duration(s.now))
	s.at(int64(step.Pause)+1, func() {
		if step.Request == nil {
			s.turn(c)
			return
		}
		c.main = s.send(c, step, false)
	})
}

func (s *sim) meanwhile(c *simClient) {
	main := c.main
	if main == nil || c.side != nil || len(s.calls) >= s.limit {
		return
	}
	step := c.Meanwhile()
	s.at(int64(step.Pause)+1, func() {
		if c.main == main && c.side == nil && step.Request != nil && len(s.calls) < s.limit {
			c.side = s.send(c, step, true)
		}
	})
}

func (s *sim) send(c *simClient, step traffic.Step, side bool) *simCall {
	call := &simCall{client: c, req: step.Request, side: side, rec: history.Call{
		ID: int64(len(s.calls) + 1), Groups: history.GroupsOf(step.Request, s.header.Groups), Client: c.Name,
		Key: step.Request.Key(), Version: step.Version, Request: history.EncodeRequest(step.Request, step.Version), Call: s.now,
	}}
	s.calls = append(s.calls, call)
	c.Sent(call.req)
	if s.down {
		s.at(s.delay(), func() { s.end(call, history.NotSent, nil) })
		return call
	}
	patience := int64(4 * time.Second)
	taken := true
	if s.loss > 0 && s.rand.IntN(s.loss) == 0 {
		patience = int64(s.rand.IntN(60)+1) * int64(time.Millisecond)
		taken = s.rand.IntN(2) == 0
	}
	if taken {
		life := s.restarts
		s.at(s.delay(), func() {
			if s.restarts == life && !call.lost {
				s.take(call)
			}
		})
	}
	s.at(patience, func() { s.end(call, history.GivenUp, nil) })
	if step.Parks() && !side {
		s.at(1, func() { s.meanwhile(c) })
	}
	return call
}

func (s *sim) take(call *simCall) {
	if s.broken {
		defer s.contain()
	}
	s.machine.Advance(time.Unix(0, s.now).Sub(s.machine.Now()))
	err := s.machine.Do(checker.Request{Ticket: checker.Ticket(call.rec.ID), Message: call.req, Version: call.rec.Version, ClientID: call.client.Name})
	switch {
	case errors.Is(err, observe.ErrCapacity) && s.roomy:
		s.end(call, history.NotSent, nil)
		return
	case errors.Is(err, observe.ErrCapacity):
		s.full = true // what comes later cannot be simulated
		return
	case err != nil:
		s.t.Fatalf("call %d: %v", call.rec.ID, err)
	}
	s.drain()
}

// contain ends the run where a broken rule has brought the specification into a state that it has no words for.
func (s *sim) contain() {
	if p := recover(); p != nil {
		s.full = true
	}
}

func (s *sim) drain() {
	for _, a := range s.machine.Drain().Answers {
		call := s.calls[a.Ticket-1]
		if s.mute != nil && s.mute(a.Message) {
			continue
		}
		s.at(s.delay(), func() {
			if !call.lost {
				s.end(call, history.Answered, a.Message)
			}
		})
	}
	for _, t := range s.machine.Timers() {
		key := simTimer{timer: t, deadline: t.Deadline.UnixNano()}
		key.timer.Deadline = time.Time{}
		if s.timers[key] {
			continue
		}
		s.timers[key] = true
		late := s.rand.Int64N(int64(s.header.Slack))
		if s.rand.IntN(2) == 0 {
			late /= 20
		}
		rest := max(0, key.deadline-s.now)
		if t.Kind == classic.SessionTimer && s.session != 0 {
			if s.session < 0 {
				continue // it never fires
			}
			if rest = int64(float64(rest) * s.session); s.session < 1 {
				late = 0
			}
		}
		s.at(rest+late, func() { s.fire(t, key) })
	}
}

func (s *sim) fire(t checker.Timer, key simTimer) {
	if s.broken {
		defer s.contain()
	}
	delete(s.timers, key)
	for _, armed := range s.machine.Timers() {
		if armed == t {
			s.machine.Advance(time.Unix(0, s.now).Sub(s.machine.Now()))
			s.machine.Fire(t)
			s.drain()
			return
		}
	}
}

// crash ends the coordinator's life with all that is on its way, and begins another with what the log has. The record knows the
// instants only roughly, as a harness would.
func (s *sim) crash() {
	if s.down || len(s.calls) >= s.limit {
		return
	}
	s.restarts++
	s.down = true
	s.timers = map[simTimer]bool{}
	s.machine.Advance(time.Unix(0, s.now).Sub(s.machine.Now()))
	s.machine.Unload(int32(2 * s.restarts))
	s.machine.Drain()
	gone := s.now + s.delay()
	fault := history.Fault{Kind: history.Restart, At: max(0, s.now-s.delay()), Gone: gone}
	for _, call := range s.calls {
		if !call.ended {
			call.lost = true
			s.at(gone-s.now, func() { s.end(call, history.Lost, nil) })
		}
	}
	s.at(gone-s.now+s.rand.Int64N(int64(300*time.Millisecond)), func() {
		s.machine.Advance(time.Unix(0, s.now).Sub(s.machine.Now()))
		s.machine.Load(int32(2*s.restarts + 1))
		s.machine.Loaded()
		s.drain()
		s.at(s.delay(), func() {
			s.down = false
			fault.Until = s.now
			s.faults = append(s.faults, fault)
			s.at(s.rand.Int64N(int64(2*time.Second)), s.crash)
		})
	})
}

func (s *sim) end(call *simCall, outcome history.Outcome, resp kmsg.Response) {
	if call.ended {
		return
	}
	call.ended = true
	call.rec.Outcome, call.rec.Return = outcome, s.now
	c := call.client
	if resp != nil {
		call.rec.Response = history.EncodeResponse(resp, call.rec.Version)
		c.Answer(call.req, resp)
	} else {
		c.Lost(call.req)
	}
	if call.side {
		c.side = nil
		s.at(1, func() { s.meanwhile(c) })
		return
	}
	c.main = nil
	s.at(1, func() { s.turn(c) })
}
