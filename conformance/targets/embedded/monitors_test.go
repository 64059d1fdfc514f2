package embedded_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/model/classic"
)

// Whatever happens, the monitors see nothing of the coordinator that must not be; nor of the specification.
func TestMonitorsHold(t *testing.T) {
	for seed := range uint64(2 * len(embedded.WalkKinds)) {
		settings, o := embedded.Walk(seed)
		o.Checks, o.Steps, o.Watch, o.Blind = *checks, 100, monitor.All(), true
		for name, machine := range map[string]func() checker.Machine{
			"impl":  func() checker.Machine { return embedded.NewMachineWith(settings) },
			"model": func() checker.Machine { return observe.NewMachine(observe.NewWorld(o.World), nil) },
		} {
			if name == "model" && o.World.MaxSize > 0 {
				continue // a log that is read again rebalances a group that has outgrown the limit (max-size.load)
			}
			r := lockstep.Rapid(machine, o)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if r.Violation != nil {
				t.Errorf("%s, %d: %s", name, seed, r.Violation.String())
			}
		}
	}
}

// double is a coordinator with a fault in what shows of it.
type double struct {
	checker.Broker
	answer func(kmsg.Response) bool // changes an answer; false loses it
	timers func([]checker.Timer) []checker.Timer
	replay func() checker.Machine
}

func (d *double) Drain() checker.Effects {
	e := d.Broker.Drain()
	if d.answer == nil {
		return e
	}
	kept := e.Answers[:0]
	for _, a := range e.Answers {
		if d.answer(a.Message) {
			kept = append(kept, a)
		}
	}
	e.Answers = kept
	return e
}

func (d *double) Timers() []checker.Timer {
	if d.timers == nil {
		return d.Broker.Timers()
	}
	return d.timers(d.Broker.Timers())
}

func (d *double) Replay() (checker.Machine, error) {
	if d.replay != nil {
		return d.replay(), nil
	}
	return d.Broker.(checker.Replayer).Replay()
}

// changing changes answers of one kind.
func changing[T kmsg.Response](change func(T)) func(*double) {
	return func(d *double) {
		d.answer = func(a kmsg.Response) bool {
			if m, ok := a.(T); ok {
				change(m)
			}
			return true
		}
	}
}

func heartbeatPasses(code int16) func(*double) {
	return changing(func(m *kmsg.HeartbeatResponse) {
		if m.ErrorCode == code {
			m.ErrorCode = 0
		}
	})
}

func offsetsBecome(change func(int64) int64) func(*double) {
	return changing(func(m *kmsg.OffsetFetchResponse) {
		for _, g := range m.Groups {
			for _, t := range g.Topics {
				for i := range t.Partitions {
					if p := &t.Partitions[i]; p.Offset >= 0 {
						p.Offset = change(p.Offset)
					}
				}
			}
		}
	})
}

// Each monitor is broken twice: by a specification that breaks a rule (or, where no rule does it, that has the same fault made by hand), and by
// a coordinator with a fault.
func TestMonitorsNotice(t *testing.T) {
	tests := map[monitor.Monitor]struct {
		broken string // a rule, or nothing
		fault  func(*double)
	}{
		monitor.OneLeader: {"join.reply.follower", changing(func(m *kmsg.JoinGroupResponse) {
			if m.ErrorCode == 0 {
				m.LeaderID = m.MemberID
			}
		})},
		monitor.LeaderBytes: {"sync.stable.repeats", changing(func(m *kmsg.SyncGroupResponse) {
			if m.ErrorCode == 0 {
				m.MemberAssignment = append(m.MemberAssignment, '!')
			}
		})},
		monitor.Grows: {"", changing(func(m *kmsg.JoinGroupResponse) {
			if m.Generation == 3 {
				m.Generation = 1
			}
		})},
		monitor.NoOlder:  {"heartbeat.generation.illegal", heartbeatPasses(22)},
		monitor.OneOwner: {"static.replaced", heartbeatPasses(82)},
		monitor.Legal: {"delete.non-empty", changing(func(m *kmsg.DescribeGroupsResponse) {
			for i := range m.Groups {
				if m.Groups[i].State == "Empty" {
					m.Groups[i].State = "Stable"
				}
			}
		})},
		monitor.TimerOwner: {"", func(d *double) {
			d.timers = func(ts []checker.Timer) []checker.Timer {
				if len(ts) == 0 {
					return ts
				}
				ghost := ts[0]
				ghost.Kind, ghost.Member, ghost.Deadline = classic.SessionTimer, "ghost", ghost.Deadline.Add(time.Hour)
				return append(ts, ghost)
			}
		}},
		monitor.OwnerTimer: {"session.renewed-by-completion", func(d *double) {
			d.timers = func(ts []checker.Timer) (left []checker.Timer) {
				for _, t := range ts {
					if t.Kind != classic.SessionTimer {
						left = append(left, t)
					}
				}
				return left
			}
		}},
		monitor.Waits: {"sync.leader.assigns", func(d *double) {
			d.answer = func(a kmsg.Response) bool {
				m, ok := a.(*kmsg.SyncGroupResponse)
				return !ok || m.ErrorCode != 0
			}
		}},
		monitor.Replays: {"load.state", func(d *double) {
			d.replay = func() checker.Machine { return embedded.NewMachine(1) }
		}},
		monitor.NothingLost: {"offsets.survive-members", offsetsBecome(func(int64) int64 { return -1 })},
		monitor.NotBack:     {"", offsetsBecome(func(at int64) int64 { return at - 1 })},
		monitor.DeadIsFinal: {"", heartbeatPasses(25)},
	}
	for _, m := range monitor.All() {
		c, ok := tests[m]
		if !ok {
			t.Errorf("nothing breaks %q", m.Name)
			continue
		}
		settings, o := embedded.Walk(1)
		o.Checks, o.Steps, o.Watch, o.Blind = 400, 80, []monitor.Monitor{m}, true
		broken := o.World
		if id, ok := classic.FindRule(c.broken); ok {
			broken.Broken = []classic.RuleID{id}
		}
		faulty := func(m checker.Broker) checker.Machine {
			d := &double{Broker: m}
			c.fault(d)
			return d
		}
		for name, machine := range map[string]func() checker.Machine{
			"impl": func() checker.Machine { return faulty(embedded.NewMachineWith(settings)) },
			"model": func() checker.Machine {
				if m := observe.NewMachine(observe.NewWorld(broken), nil); c.broken == "" {
					return faulty(m)
				} else {
					return m
				}
			},
		} {
			r := lockstep.Rapid(machine, o)
			switch {
			case r.Err != nil:
				t.Fatal(r.Err)
			case r.Violation == nil || r.Violation.What != m.Name:
				t.Errorf("%s %s: %q does not notice it in %d steps: %v", name, c.broken, m.Name, r.Steps, r.Violation)
			default:
				t.Logf("%s: %q in %d events: %s", name, m.Name, len(r.Violation.Trace)-1, r.Violation.Got)
			}
		}
	}
}
