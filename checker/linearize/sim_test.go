package linearize

import (
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
	*traffic.Solo

	t       testing.TB
	rand    *rand.Rand
	machine *observe.Machine
	timers  map[simTimer]bool          // scheduled
	lost    map[*traffic.SoloCall]bool // with the coordinator's life
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
	s := &sim{t: t, rand: rand.New(rand.NewPCG(o.seed, 99)), timers: map[simTimer]bool{}, lost: map[*traffic.SoloCall]bool{}, loss: o.loss, broken: len(o.broken) > 0, roomy: o.roomy, session: o.session, mute: o.mute}
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
	s.Solo = traffic.NewSolo(setup, o.calls, s.send)
	if o.restarts {
		s.At(s.rand.Int64N(int64(time.Second)), s.crash)
	}
	for !s.full && s.Step() {
	}
	h := &history.History{Header: s.header, Faults: s.faults, Calls: s.Recorded()}
	h.Header.Ran = time.Duration(s.Now)
	if s.full {
		return h.Cut(s.Now)
	}
	return h
}

// delay is short most of the time.
func (s *sim) delay() int64 {
	most := int64(2 * time.Millisecond)
	if s.rand.IntN(10) == 0 {
		most = int64(20 * time.Millisecond)
	}
	return 1 + s.rand.Int64N(most)
}

func (s *sim) send(call *traffic.SoloCall) {
	if s.down {
		s.At(s.delay(), func() { s.End(call, history.NotSent, nil) })
		return
	}
	patience := int64(4 * time.Second)
	taken := true
	if s.loss > 0 && s.rand.IntN(s.loss) == 0 {
		patience = int64(s.rand.IntN(60)+1) * int64(time.Millisecond)
		taken = s.rand.IntN(2) == 0
	}
	if taken {
		life := s.restarts
		s.At(s.delay(), func() {
			if s.restarts == life && !s.lost[call] {
				s.take(call)
			}
		})
	}
	s.At(patience, func() { s.End(call, history.GivenUp, nil) })
}

func (s *sim) take(call *traffic.SoloCall) {
	if s.broken {
		defer s.contain()
	}
	s.machine.Advance(time.Unix(0, s.Now).Sub(s.machine.Now()))
	err := s.machine.Do(checker.Request{Ticket: checker.Ticket(call.ID), Message: call.Asked, Version: call.Version, ClientID: call.Client.Name})
	switch {
	case errors.Is(err, observe.ErrCapacity) && s.roomy:
		s.End(call, history.NotSent, nil)
		return
	case errors.Is(err, observe.ErrCapacity):
		s.full = true // what comes later cannot be simulated
		return
	case err != nil:
		s.t.Fatalf("call %d: %v", call.ID, err)
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
		call := s.Calls[a.Ticket-1]
		if s.mute != nil && s.mute(a.Message) {
			continue
		}
		s.At(s.delay(), func() {
			if !s.lost[call] {
				s.End(call, history.Answered, a.Message)
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
		rest := max(0, key.deadline-s.Now)
		if t.Kind == classic.SessionTimer && s.session != 0 {
			if s.session < 0 {
				continue // it never fires
			}
			if rest = int64(float64(rest) * s.session); s.session < 1 {
				late = 0
			}
		}
		s.At(rest+late, func() { s.fire(t, key) })
	}
}

func (s *sim) fire(t checker.Timer, key simTimer) {
	if s.broken {
		defer s.contain()
	}
	delete(s.timers, key)
	for _, armed := range s.machine.Timers() {
		if armed == t {
			s.machine.Advance(time.Unix(0, s.Now).Sub(s.machine.Now()))
			s.machine.Fire(t)
			s.drain()
			return
		}
	}
}

// crash ends the coordinator's life with all that is on its way, and begins another with what the log has. The record knows the
// instants only roughly, as a harness would.
func (s *sim) crash() {
	if s.down || s.Done() {
		return
	}
	s.restarts++
	s.down = true
	s.timers = map[simTimer]bool{}
	s.machine.Advance(time.Unix(0, s.Now).Sub(s.machine.Now()))
	s.machine.Unload(int32(2 * s.restarts))
	s.machine.Drain()
	gone := s.Now + s.delay()
	fault := history.Fault{Kind: history.Restart, At: max(0, s.Now-s.delay()), Gone: gone}
	for _, call := range s.Calls {
		if !call.Ended {
			s.lost[call] = true
			s.At(gone-s.Now, func() { s.End(call, history.Lost, nil) })
		}
	}
	s.At(gone-s.Now+s.rand.Int64N(int64(300*time.Millisecond)), func() {
		s.machine.Advance(time.Unix(0, s.Now).Sub(s.machine.Now()))
		s.machine.Load(int32(2*s.restarts + 1))
		s.machine.Loaded()
		s.drain()
		s.At(s.delay(), func() {
			s.down = false
			fault.Until = s.Now
			s.faults = append(s.faults, fault)
			s.At(s.rand.Int64N(int64(2*time.Second)), s.crash)
		})
	})
}
