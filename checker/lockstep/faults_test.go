package lockstep

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// faulty is the specification with a fault.
type faulty struct {
	checker.Machine
	effects func(f *faulty, e checker.Effects) checker.Effects
	timers  func(f *faulty, ts []checker.Timer) []checker.Timer
	seen    map[string]int
	crash   bool
}

func (f *faulty) Request(r checker.Request) {
	if _, ok := r.Message.(*kmsg.LeaveGroupRequest); ok && f.crash {
		panic("a nil map")
	}
	f.Machine.Request(r)
}

func (f *faulty) Drain() checker.Effects {
	e := f.Machine.Drain()
	if f.effects != nil {
		e = f.effects(f, e)
	}
	return e
}

func (f *faulty) Timers() []checker.Timer {
	ts := f.Machine.Timers()
	if f.timers != nil {
		ts = f.timers(f, ts)
	}
	return ts
}

// edit changes answers of one kind.
func edit[T kmsg.Response](change func(T)) func(*faulty, checker.Effects) checker.Effects {
	return func(_ *faulty, e checker.Effects) checker.Effects {
		for _, a := range e.Answers {
			if m, ok := a.Message.(T); ok {
				change(m)
			}
		}
		return e
	}
}

func TestFaultsAreCaughtAndShrunk(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(f *faulty)
		what  string
		rule  string // one of those named
		most  int    // events of the shortest trace
		steps int
	}{
		{
			name: "wrong error", what: "answer", rule: "heartbeat.generation.illegal", most: 6,
			make: func(f *faulty) {
				f.effects = edit(func(m *kmsg.HeartbeatResponse) {
					if m.ErrorCode == 22 {
						m.ErrorCode = 25
					}
				})
			},
		},
		{
			name: "generation +2", what: "answer", rule: "join.complete.generation", most: 6,
			make: func(f *faulty) {
				f.effects = edit(func(m *kmsg.JoinGroupResponse) {
					if m.Generation >= 2 {
						m.Generation++
					}
				})
			},
		},
		{
			name: "answer lost", what: "no answer", rule: "sync.leader.assigns", most: 12,
			make: func(f *faulty) {
				f.effects = func(_ *faulty, e checker.Effects) checker.Effects {
					for i, a := range e.Answers {
						// The answer of the follower that waited.
						if m, ok := a.Message.(*kmsg.SyncGroupResponse); ok && m.ErrorCode == 0 && len(e.Answers) > 1 {
							e.Answers = append(e.Answers[:i:i], e.Answers[i+1:]...)
							break
						}
					}
					return e
				}
			},
		},
		{
			name: "timer late", what: "timers", rule: "heartbeat.stable", most: 10,
			make: func(f *faulty) {
				f.timers = func(f *faulty, ts []checker.Timer) []checker.Timer {
					for i := range ts {
						key := ts[i].Group + ts[i].Member
						if ts[i].Kind != classic.SessionTimer {
							continue
						}
						if f.seen[key]++; f.seen[key] > 20 {
							ts[i].Deadline = ts[i].Deadline.Add(time.Millisecond)
						}
					}
					return ts
				}
			},
			steps: -1, // which rule is seen first depends on the count
		},
		{
			name: "offset off by one", what: "answer", rule: "fetch.committed", most: 6,
			make: func(f *faulty) {
				f.effects = edit(func(m *kmsg.OffsetFetchResponse) {
					for _, g := range m.Groups {
						for _, t := range g.Topics {
							for i := range t.Partitions {
								if t.Partitions[i].Offset >= 0 {
									t.Partitions[i].Offset--
								}
							}
						}
					}
				})
			},
		},
		{
			name: "member left out", what: "answer", rule: "join.reply.leader", most: 8,
			make: func(f *faulty) {
				f.effects = edit(func(m *kmsg.JoinGroupResponse) {
					if n := len(m.Members); n > 1 {
						m.Members = m.Members[:n-1]
					}
				})
			},
		},
		{
			name: "record not written", what: "records", rule: "sync.leader.assigns", most: 3,
			make: func(f *faulty) {
				f.effects = func(_ *faulty, e checker.Effects) checker.Effects {
					for i, r := range e.Records {
						if r.Kind == classic.GroupRecord && len(e.Answers) == 1 {
							if _, ok := e.Answers[0].Message.(*kmsg.SyncGroupResponse); ok {
								e.Records = append(e.Records[:i:i], e.Records[i+1:]...)
								break
							}
						}
					}
					return e
				}
			},
		},
		{
			name: "answer twice", what: "effects", most: 1,
			make: func(f *faulty) {
				f.effects = func(_ *faulty, e checker.Effects) checker.Effects {
					if len(e.Answers) == 1 {
						e.Answers = append(e.Answers, e.Answers[0])
					}
					return e
				}
			},
		},
		{name: "panic", what: "panic", most: 2, // a client joins before it leaves
			make: func(f *faulty) { f.crash = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			r := Rapid(func() checker.Machine {
				f := &faulty{Machine: observe.NewMachine(observe.NewWorld(config(classic.Java)), nil), seen: map[string]int{}}
				c.make(f)
				return f
			}, Options{Checks: 300, Steps: 60, World: config(classic.Java), Setup: gen.Setup{Clients: 3}})
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			v := r.Violation
			if v == nil {
				t.Fatalf("not caught in %d sequences, %d steps", r.Sequences, r.Steps)
			}
			events := len(v.Trace) - 1
			t.Logf("caught in sequence %d after %d steps, shrunk to %d events in %v\n%v", r.Sequences, r.Steps, events, time.Since(begin).Round(time.Millisecond), v.String())
			if v.What != c.what || c.steps == 0 && !strings.Contains(ruleNames(v.Rules), c.rule) {
				t.Errorf("blames %s, rules %s", v.What, ruleNames(v.Rules))
			}
			if c.steps == 0 && events > c.most {
				t.Errorf("%d events are more than the %d that are needed", events, c.most)
			}
		})
	}
}

// A walk that is told in words is the walk that is not: so a failure can be made again to be told.
func TestWordsChangeNothing(t *testing.T) {
	setup := everything
	setup.Groups, setup.FailWrites, setup.Network, setup.Jumps, setup.Torn = 2, true, true, true, true
	run := func(digest bool) Report {
		r := Rapid(func() checker.Machine { return machine(whole(classic.Java), 1) }, Options{
			Seed: 5, Checks: 40, Steps: 60, World: whole(classic.Java), Setup: setup, Heal: true, Digest: digest,
		})
		if r.Err != nil || r.Violation != nil {
			t.Fatal(r.Err, r.Violation)
		}
		return r
	}
	silent, told := run(false), run(true)
	if told.Digest == silent.Digest {
		t.Error("nothing is told")
	}
	told.Digest = silent.Digest
	if diff := cmp.Diff(silent, told); diff != "" {
		t.Error(diff)
	}
}

// Two runs with the same seed are the same run.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	run := func(seed uint64) string {
		r := Rapid(func() checker.Machine {
			f := &faulty{Machine: observe.NewMachine(observe.NewWorld(config(classic.Java)), nil)}
			f.effects = edit(func(m *kmsg.SyncGroupResponse) {
				if m.ErrorCode == 27 {
					m.ErrorCode = 22
				}
			})
			return f
		}, Options{Seed: seed, Checks: 200, World: config(classic.Java)})
		if r.Violation == nil {
			t.Fatal("not caught", r.Err)
		}
		return r.Violation.String()
	}
	if a, b := run(11), run(11); a != b {
		t.Errorf("seed 11 twice:\n%s\n%s", a, b)
	}
	a, _ := Run(specification(classic.Java, 3), config(classic.Scala), gen.Setup{}, gen.Seeded(3), 2000)
	b, _ := Run(specification(classic.Java, 3), config(classic.Scala), gen.Setup{}, gen.Seeded(3), 2000)
	if a == nil || b == nil || a.String() != b.String() {
		t.Errorf("the Java coordinator judged as the Scala one, twice:\n%v\n%v", a, b)
	}
}
