// Package sim runs impl/core in one goroutine on virtual time: nothing happens unless a request is handed in or the clock is moved,
// and the same calls give the same results, bit for bit.
package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// Epoch is when virtual time begins.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Sim is a coordinator with its clock, timers and log. It must not be used from two goroutines at a time.
type Sim struct {
	core   *core.Coordinator
	now    time.Time
	timers core.TimerQueue
	log    record.Log
	whole  []record.Raw // not compacted, where the log has been inherited

	asked    core.Ticket // how many tickets Ask has chosen
	failWith int16
	hold     bool
	held     []core.Append
	late     []core.AppendID // have timed out, and are in the log
	acks     []core.Appended // in the order of their writes
	instant  []core.TimerID  // armed without length
	beats    bool            // heartbeats go by core.Beat
	open     []core.AppendID // writes that have not ended, as far as the coordinator has been told
	out      Output
}

// Output is what has come out, in order.
type Output struct {
	Answers []core.Answer
	Rejects []core.Reject
	Appends []core.Append // also those that were made to fail
	Marked  []core.Marked
}

// New returns a simulation. Choices and member ids are drawn from the seed where the settings do not bring their own.
func New(seed uint64, s core.Settings) *Sim {
	rng := rand.New(rand.NewPCG(seed, 0x6d7573746572)) //nolint:gosec // reproducible on purpose
	if s.Choose == nil {
		s.Choose = rng.IntN
	}
	if s.NewMemberID == nil {
		s.NewMemberID = func(clientID string) string { return core.MemberID(clientID, rng.Uint64(), rng.Uint64()) }
	}
	return &Sim{core: core.New(s), now: Epoch}
}

// Now is the virtual time.
func (s *Sim) Now() time.Time { return s.now }

// Core is the coordinator, for a test that looks inside.
func (s *Sim) Core() *core.Coordinator { return s.core }

// Log is what has been written.
func (s *Sim) Log() *record.Log { return &s.log }

// Step hands an event in and lets everything happen that happens at this instant.
func (s *Sim) Step(ev core.Event) {
	s.Land()
	s.step(ev)
	s.settle()
}

// Ask hands a request in, of its own version, for a caller who leaves the choice of tickets to the simulation.
func (s *Sim) Ask(req kmsg.Request) core.Ticket {
	s.asked++
	t := ownTickets + s.asked
	s.Step(core.Request{Ticket: t, Message: req, Version: req.GetVersion(), ClientID: "client", ClientHost: "/127.0.0.1"})
	return t
}

// ownTickets are those of Ask, above all that others choose.
const ownTickets core.Ticket = 1 << 63

// FailWrites makes writes fail with this error code, core.None to end that. With core.RequestTimedOut they are in the log, but not durable
// before the first Step after writes work again.
func (s *Sim) FailWrites(code int16) { s.failWith = code }

// Land ends the writes that have timed out, once writes work again, as the next Step would before anything else.
func (s *Sim) Land() {
	if s.failWith == core.RequestTimedOut || s.hold || len(s.held) > 0 || len(s.late) == 0 {
		return
	}
	last := s.late[len(s.late)-1] // and with it those before
	s.late = nil
	s.step(core.Appended{ID: last})
	s.settle()
}

// Unload takes the coordinator's groups away, as a change of leader does. Writes that are held have not been written then.
func (s *Sim) Unload() {
	s.held, s.late, s.acks = nil, nil, nil
	s.Step(core.Unload{})
}

// Inherit makes records that others have written the beginning of the log. What is appended from then on is kept after them as it is: nothing is compacted.
func (s *Sim) Inherit(raws []record.Raw) { s.whole = slices.Clone(raws) }

// LoseLog forgets all that has been written, as where the partition is deleted that it was written to.
func (s *Sim) LoseLog() { s.log = record.Log{} }

// BeginLoad lets the coordinator begin to read its log, as a change of leader or a restart does.
func (s *Sim) BeginLoad() {
	s.held, s.late, s.acks = nil, nil, nil
	s.Step(core.LoadBegin{})
}

// EndLoad lets the coordinator read its log to the end, after BeginLoad. The error says what in the log cannot be read; the coordinator
// does not serve then.
func (s *Sim) EndLoad() error {
	if s.whole == nil {
		return s.read(&s.log)
	}
	var records []core.Record
	for _, raw := range s.whole {
		r, known, err := raw.Record()
		if err != nil {
			s.Step(core.LoadEnd{Failed: true})
			return err
		}
		if known {
			records = append(records, r)
		}
	}
	s.Step(core.Replay{Records: records})
	s.Step(core.LoadEnd{})
	return nil
}

// write puts records into the log.
func (s *Sim) write(w core.Append) {
	s.log.Write(w)
	if s.whole != nil {
		s.whole = append(s.whole, record.Raws(w, int64(len(s.whole)))...)
	}
}

// Take lets a coordinator that has just been made read a log that another one has written, without having it for its own.
func (s *Sim) Take(log *record.Log) error {
	s.BeginLoad()
	return s.read(log)
}

func (s *Sim) read(log *record.Log) error {
	records, err := record.Replay(log.Records())
	if err == nil {
		s.Step(core.Replay{Records: records})
	}
	s.Step(core.LoadEnd{Failed: err != nil})
	return err
}

// Failover is BeginLoad and EndLoad.
func (s *Sim) Failover() error {
	s.BeginLoad()
	return s.EndLoad()
}

// Tear hands an event in and ends the coordinator at once where that writes something, and starts it again on its log: with what was written, if
// that is kept, or without. What comes out of that nobody gets any more. It is false where nothing is written: then it is a Step.
func (s *Sim) Tear(ev core.Event, kept bool) (bool, error) {
	s.Land()
	held := s.hold
	s.hold = true
	s.step(ev)
	if s.hold = held; len(s.held) == 0 {
		s.settle()
		return false, nil
	}
	for _, w := range s.held {
		if kept {
			s.write(w)
		}
	}
	return true, s.Failover()
}

// HoldWrites leaves writes open until EndWrite, for as long as it is on.
func (s *Sim) HoldWrites(on bool) { s.hold = on }

// Release works no longer on writes that are held: whoever has them out of Drain ends them himself, by Step of an Appended.
func (s *Sim) Release() { s.hold, s.held = false, nil }

// EndWrite ends the oldest open write with this code; false if none is open.
func (s *Sim) EndWrite(code int16) bool {
	if len(s.held) == 0 {
		return false
	}
	w := s.held[0]
	s.held = s.held[1:]
	s.end(w, code)
	s.settle()
	return true
}

// Timers are the armed timers, soonest first.
func (s *Sim) Timers() []core.Arm { return s.timers.Timers() }

// AppendTimers is Timers for a caller that has room.
func (s *Sim) AppendTimers(arms []core.Arm) []core.Arm { return s.timers.AppendTimers(arms) }

// Fire moves the clock to the deadline of a timer, if that is later, and fires it; false if it is not armed.
func (s *Sim) Fire(id core.TimerID) bool {
	deadline, ok := s.timers.Deadline(id)
	if !ok {
		return false
	}
	s.moveTo(deadline)
	s.Land()
	if due, armed := s.timers.Take(id); armed { // what has landed may have taken it back
		s.Step(due)
	}
	return true
}

// Advance lets d pass and fires the timers that become due, each at its own time.
func (s *Sim) Advance(d time.Duration) {
	until := s.now.Add(d)
	for {
		next, ok := s.timers.Next()
		if !ok || next.Deadline.After(until) {
			break
		}
		s.Fire(next.Timer)
	}
	s.moveTo(until)
}

// Jump lets d pass without a look at the timers: those that are due by then are late.
func (s *Sim) Jump(d time.Duration) { s.moveTo(s.now.Add(d)) }

// Drain returns what has come out since the last Drain.
func (s *Sim) Drain() Output {
	out := s.out
	s.out = Output{}
	return out
}

func (s *Sim) moveTo(t time.Time) {
	if t.After(s.now) {
		s.now = t
	}
}

// settle ends the writes that do not have to wait, then fires the timers of no length, until nothing is left to do. Other timers that
// are due at this instant too are the caller's to fire, in the order that it likes.
func (s *Sim) settle() {
	for {
		if len(s.acks) > 0 {
			ack := s.acks[0]
			s.acks = s.acks[1:]
			s.step(ack)
			continue
		}
		if len(s.instant) == 0 {
			if s.remind(); len(s.acks) == 0 && len(s.instant) == 0 {
				return
			}
			continue
		}
		id := s.instant[0]
		s.instant = s.instant[1:]
		if due, ok := s.timers.Take(id); ok {
			s.step(due)
		}
	}
}

// Beat has heartbeats go by core.Beat, as a server's do, where that takes them, and their answers taken back as soon as they have been copied.
func (s *Sim) Beat() { s.beats = true }

func (s *Sim) beat(ev core.Event) (effects []core.Effect, ok bool) {
	r, is := ev.(core.Request)
	if _, beat := r.Message.(*kmsg.HeartbeatRequest); !is || !beat || !s.beats {
		return nil, false
	}
	b, ok := s.core.Beat(s.now, r)
	if !ok {
		if len(s.open) == 0 {
			panic("sim: a Heartbeat is refused by Beat though no write is open")
		}
		return nil, false
	}
	if effects = b.Others; effects == nil {
		if b.Armed {
			effects = append(effects, b.Arm)
		}
		effects = append(effects, b.Answer)
	}
	for i, e := range effects {
		if a, answer := e.(core.Answer); answer {
			beat := *a.Message.(*kmsg.HeartbeatResponse)
			core.Reuse(a.Message)
			effects[i] = core.Answer{Ticket: a.Ticket, Message: &beat}
		}
	}
	return effects, true
}

func (s *Sim) step(ev core.Event) {
	if a, ok := ev.(core.Appended); ok && a.Code != core.RequestTimedOut {
		s.open = slices.DeleteFunc(s.open, func(id core.AppendID) bool { return id == a.ID || id < a.ID && a.Code == core.None })
	}
	effects, beaten := s.beat(ev)
	if !beaten {
		effects = s.core.Step(s.now, ev)
	}
	for _, e := range effects {
		switch e := e.(type) {
		case core.Answer:
			s.out.Answers = append(s.out.Answers, e)
		case core.Reject:
			s.out.Rejects = append(s.out.Rejects, e)
		case core.Append:
			s.out.Appends, s.open = append(s.out.Appends, e), append(s.open, e.ID)
			if s.hold || len(s.held) > 0 { // writes end in their order
				s.held = append(s.held, e)
			} else {
				s.end(e, s.failWith)
			}
		case core.Marked:
			s.out.Marked = append(s.out.Marked, e)
		case core.Arm:
			s.timers.Apply(e)
			if e.After == 0 {
				s.instant = append(s.instant, e.Timer)
			}
		case core.Cancel:
			s.timers.Apply(e)
		}
	}
}

// remind tells those who have come to wait for a write that is late.
func (s *Sim) remind() {
	if s.failWith == core.RequestTimedOut && len(s.late) > 0 && !s.hold && len(s.held) == 0 {
		s.step(core.Appended{ID: s.late[len(s.late)-1], Code: core.RequestTimedOut})
	}
}

func (s *Sim) end(w core.Append, code int16) {
	switch code {
	case core.None:
		s.write(w)
		s.late = nil // durable, as all before it
	case core.RequestTimedOut:
		s.write(w)
		s.late = append(s.late, w.ID)
	}
	s.acks = append(s.acks, core.Appended{ID: w.ID, Code: code})
}

// NextTimer is the timer with the soonest deadline.
func (s *Sim) NextTimer() (core.Arm, bool) { return s.timers.Next() }
