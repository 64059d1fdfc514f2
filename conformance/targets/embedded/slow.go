package embedded

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/impl/core"
)

// Slow is a Machine whose log takes its time: some writes are open while other requests come and timers fire. Then they succeed, or fail, or take so
// long that whoever waits is told so, and are in the log all the same. It tells nothing of its log (checker.Replayer): that is behind.
type Slow struct {
	machine *Machine
	rand    *rand.Rand
	out     checker.Effects // has come out, and waits for Drain
}

var (
	_ checker.Broker = (*Slow)(nil)
	_ checker.Jumper = (*Slow)(nil)
)

// NewSlow returns one.
func NewSlow(o Options) *Slow {
	return &Slow{machine: NewMachineWith(o), rand: rand.New(rand.NewPCG(o.Seed, 0x736c6f77))} //nolint:gosec // reproducible on purpose
}

// WalkSlow says how a Slow is walked: blind, since what the specification predicts is what comes of writes that end at once. Most monitors too presume that
// what has been answered last is what has happened last; those of timers do not. In the end the clients have to get together.
func WalkSlow(seed uint64) (Options, lockstep.Options) {
	machine, o := Walk(seed)
	o.Setup.Torn, o.Blind, o.Heal, o.Watch = false, true, true, []monitor.Monitor{monitor.TimerOwner, monitor.OwnerTimer}
	return machine, o
}

// during lets something happen while writes are open, and others may stay so.
func (s *Slow) during(happens func()) {
	s.endSome()
	s.machine.sim.HoldWrites(s.rand.IntN(2) == 0)
	happens()
	s.machine.sim.HoldWrites(false)
}

// endSome ends some of the writes that are open, in their order.
func (s *Slow) endSome() {
	for s.rand.IntN(3) > 0 {
		code := core.None
		switch s.rand.IntN(12) {
		case 10:
			code = core.NotEnoughReplicas
		case 11:
			code = core.RequestTimedOut
		}
		if !s.machine.sim.EndWrite(code) {
			return
		}
	}
}

// endAll ends all of them well, also those that have timed out.
func (s *Slow) endAll() {
	for s.machine.sim.EndWrite(core.None) {
	}
	s.machine.sim.Land()
}

func (s *Slow) Now() time.Time { return s.machine.Now() }

// Request lets what is only asked by monitors change nothing: not even a write that has timed out ends meanwhile, of whose end they would then not know yet.
func (s *Slow) Request(r checker.Request) {
	if r.Ticket >= checker.Questions {
		s.machine.sim.HoldWrites(true)
		s.machine.Request(r)
		s.machine.sim.HoldWrites(false)
		return
	}
	s.during(func() { s.machine.Request(r) })
}

func (s *Slow) Timers() []checker.Timer { return s.machine.Timers() }

func (s *Slow) Fire(t checker.Timer) { s.during(func() { s.machine.Fire(t) }) }

// Advance is time enough for the log.
func (s *Slow) Advance(d time.Duration) {
	s.endAll()
	s.compare()
	s.machine.Advance(d)
}

func (s *Slow) Jump(d time.Duration) {
	s.endAll()
	s.machine.Jump(d)
}

func (s *Slow) FailWrites(fail bool) { s.machine.FailWrites(fail) }

// Drain returns what has come out, also before the offsets were compared.
func (s *Slow) Drain() checker.Effects {
	e, now := s.out, s.machine.Drain()
	s.out = checker.Effects{}
	e.Answers, e.Dropped, e.Records, e.Marked = append(e.Answers, now.Answers...), append(e.Dropped, now.Dropped...), append(e.Records, now.Records...), append(e.Marked, now.Marked...)
	return e
}

// compare reports where, with no write open, another offset is in memory than in the log: whatever a write was told of, that is what it has come to.
func (s *Slow) compare() {
	if s.machine.options.Report == nil {
		return
	}
	s.out = s.Drain()
	again, err := s.machine.Replay()
	if err != nil {
		s.machine.options.Report(err)
		return
	}
	for _, group := range []string{"g1", "g2"} {
		here, serves := offsetsOf(s.machine, group)
		if there, _ := offsetsOf(again, group); serves && here != there {
			s.machine.options.Report(&core.InconsistencyError{Group: group, Detail: "in memory are the offsets " + here + ", and in the log " + there})
		}
	}
}

// offsetsOf are all offsets of a group, in words, where the machine serves.
func offsetsOf(m checker.Machine, group string) (words string, serves bool) {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group}}
	m.Request(checker.Request{Ticket: checker.Questions, Message: r, Version: 9, ClientID: "compare"})
	var all []string
	for _, a := range m.Drain().Answers {
		answer, ok := a.Message.(*kmsg.OffsetFetchResponse)
		if !ok || a.Ticket != checker.Questions {
			continue
		}
		for _, g := range answer.Groups {
			serves = g.ErrorCode == 0
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					all = append(all, fmt.Sprintf("%s/%d=%d:%s", t.Topic, p.Partition, p.Offset, *p.Metadata))
				}
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, " "), serves
}

func (s *Slow) EndTxn(producer int64, epoch int16, commit bool) {
	s.during(func() { s.machine.EndTxn(producer, epoch, commit) })
}

func (s *Slow) DeleteTopics(topics ...string) {
	s.during(func() { s.machine.DeleteTopics(topics...) })
}

func (s *Slow) Cleanup() { s.during(s.machine.Cleanup) }

// Unload finds no write open: what becomes of one that is, another leader's log would have to say.
func (s *Slow) Unload(epoch int32) {
	s.endAll()
	s.machine.Unload(epoch)
}

func (s *Slow) Load(epoch int32) {
	s.endAll()
	s.machine.Load(epoch)
}

func (s *Slow) Loaded() { s.machine.Loaded() }
