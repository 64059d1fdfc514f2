package embedded_test

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/model/classic"
)

// faulty makes coordinators with a fault in what shows of them.
type faulty struct {
	joint.Bench
	fault jointFault
}

type jointFault struct {
	answer func(kmsg.Response) bool // changes an answer; false loses it
	timers func([]joint.Timer) []joint.Timer
	loses  bool                // the log, when it is read
	record func(*joint.Record) // changes what a group's record says
}

type faultyOne struct {
	joint.Coordinator
	of *faulty
}

func (b *faulty) New() joint.Coordinator { return &faultyOne{b.Bench.New(), b} }

func (b *faulty) Copy(of, over joint.Coordinator) (joint.Coordinator, error) {
	var waste joint.Coordinator
	if o, ok := over.(*faultyOne); ok {
		waste = o.Coordinator
	}
	c, err := b.Bench.Copy(of.(*faultyOne).Coordinator, waste)
	return &faultyOne{c, b}, err
}

func (b *faulty) View(of joint.Coordinator, v *joint.View) {
	b.Bench.View(of.(*faultyOne).Coordinator, v)
}

func (c *faultyOne) Drain(e *joint.Effects) {
	from := len(e.Answers)
	c.Coordinator.Drain(e)
	for i := range e.Records {
		if r := &e.Records[i]; c.of.fault.record != nil && r.Kind == classic.GroupRecord {
			c.of.fault.record(r)
		}
	}
	if c.of.fault.answer == nil {
		return
	}
	kept := e.Answers[:from]
	for _, a := range e.Answers[from:] {
		if c.of.fault.answer(a.Message) {
			kept = append(kept, a)
		}
	}
	e.Answers = kept
}

func (c *faultyOne) Timers() []joint.Timer {
	if c.of.fault.timers == nil {
		return c.Coordinator.Timers()
	}
	return c.of.fault.timers(c.Coordinator.Timers())
}

func (c *faultyOne) Loaded(log []joint.Record) {
	if c.of.fault.loses {
		log = nil
	}
	c.Coordinator.Loaded(log)
}

// answering are faults in answers of one kind, as for random walks.
func answering(fault func(*double)) jointFault {
	d := &double{}
	fault(d)
	return jointFault{answer: d.answer}
}

// Each monitor notices a coordinator with a fault that it is made for, at the first edge where there is something to see.
func TestJointMonitorsNotice(t *testing.T) {
	tests := map[monitor.Monitor]jointFault{
		monitor.OneLeader: answering(changing(func(m *kmsg.JoinGroupResponse) {
			if m.ErrorCode == 0 {
				m.LeaderID = m.MemberID
			}
		})),
		monitor.LeaderBytes: answering(changing(func(m *kmsg.SyncGroupResponse) {
			if m.ErrorCode == 0 {
				m.MemberAssignment = append(bytes.Clone(m.MemberAssignment), '!')
			}
		})),
		monitor.Grows: answering(changing(func(m *kmsg.JoinGroupResponse) {
			if m.Generation >= 2 {
				m.Generation -= 2
			}
		})),
		monitor.NoOlder:  answering(heartbeatPasses(22)),
		monitor.OneOwner: answering(heartbeatPasses(82)),
		monitor.Legal: answering(changing(func(m *kmsg.DescribeGroupsResponse) {
			if m.Groups[0].State == "Empty" {
				m.Groups[0].State = "Stable"
			}
		})),
		monitor.TimerOwner: {timers: func(ts []joint.Timer) []joint.Timer {
			if len(ts) == 0 {
				return ts
			}
			return append(ts[:len(ts):len(ts)], joint.Timer{Kind: classic.SessionTimer, Member: "ghost"})
		}},
		monitor.OwnerTimer: {timers: func(ts []joint.Timer) (left []joint.Timer) {
			for _, t := range ts {
				if t.Kind != classic.SessionTimer {
					left = append(left, t)
				}
			}
			return left
		}},
		monitor.Waits: {answer: func(a kmsg.Response) bool {
			m, ok := a.(*kmsg.SyncGroupResponse)
			return !ok || m.ErrorCode != 0
		}},
		monitor.Replays:     {loses: true},
		monitor.NothingLost: answering(offsetsBecome(func(int64) int64 { return -1 })),
		monitor.NotBack:     answering(offsetsBecome(func(at int64) int64 { return at - 1 })),
		monitor.DeadIsFinal: answering(heartbeatPasses(25)),
	}
	for _, m := range monitor.All() {
		fault, ok := tests[m]
		if !ok {
			t.Errorf("nothing breaks %q", m.Name)
			continue
		}
		r := small
		r.Commits = true
		broken := func(h *joint.Hooks, s joint.Settings) joint.Bench { return &faulty{embedded.JointBench(h, s), fault} }
		this := func(property string) bool { return property == m.Name }
		report := explore.Run(t.Context(), r.Name, explore.Asking(r.Machines(broken), this), explore.Options{StopAtViolation: true, MaxStates: 2000})
		if len(report.Violations) != 1 {
			t.Errorf("%q does not notice its fault: %s", m.Name, report)
			continue
		}
		v := report.Violations[0]
		last := v.Trace[len(v.Trace)-1]
		t.Logf("%q in %d steps: %s -> %v", m.Name, len(v.Trace), last.Event, last.Answers)
	}
}

// A record of the group that says something else than the group is noticed, whatever it is that differs.
func TestJointNoticesRecords(t *testing.T) {
	for what, fault := range map[string]func(*joint.Record){
		"a member too many": func(r *joint.Record) {
			if len(r.Members) > 0 {
				r.Members = append(r.Members, joint.Member{ID: "ghost"})
			}
		},
		"a member too few": func(r *joint.Record) { r.Members = r.Members[:max(len(r.Members)-1, 0)] },
		"another leader":   func(r *joint.Record) { r.Leader += "!" },
		"another generation": func(r *joint.Record) {
			r.Generation++
		},
	} {
		broken := func(h *joint.Hooks, s joint.Settings) joint.Bench {
			return &faulty{embedded.JointBench(h, s), jointFault{record: fault}}
		}
		report := explore.Run(t.Context(), what, small.Machines(broken), explore.Options{StopAtViolation: true, MaxStates: 2000})
		if len(report.Violations) == 0 || report.Violations[0].Property != "a record's content" {
			t.Errorf("%s is not noticed: %s", what, report)
		}
	}
}
