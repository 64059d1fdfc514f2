package classic

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// randomEvent draws any event whose member ids are right for s: known ids are those of slots in use.
func randomEvent(r *rand.Rand, s *State, leaves []Ref) Event {
	var used []int8
	for i := range s.Slots {
		if s.Slots[i].Kind != Free {
			used = append(used, int8(i))
		}
	}
	ref := func() Ref {
		if kind := RefKind(r.IntN(3)); kind != KnownID || len(used) == 0 {
			return Ref{Kind: kind &^ KnownID}
		}
		return known(used[r.IntN(len(used))])
	}
	instance := func() Instance {
		i := Instance{Kind: InstanceKind(r.IntN(3))}
		if i.Kind == KnownInstance {
			i.Kind = UnknownInstance
			for _, slot := range used {
				if s.Slots[slot].Static && r.IntN(2) == 0 {
					return Instance{Kind: KnownInstance, Slot: slot}
				}
			}
		}
		return i
	}
	e := Event{Kind: EventKind(r.IntN(int(eventKinds))), Ref: ref(), Type: consumer, List: uint8(1 + r.IntN(4))}
	if e.Kind == Unload && r.IntN(20) > 0 || e.Kind == DeleteGroups && r.IntN(5) > 0 {
		e.Kind = JoinGroup
	}
	e.NeedsID, e.OldLeave, e.Skips, e.Rest, e.Aborted = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	if r.IntN(3) == 0 {
		e.Instance = instance()
	}
	e.Topics = KnownTopics | Topics(r.IntN(4))
	e.Taken = Some{s.Offsets && r.IntN(2) == 0, s.Open && r.IntN(2) == 0}
	e.Left = Some{s.Offsets && (!e.Taken.Committed || r.IntN(2) == 0), s.Open && (!e.Taken.Pending || r.IntN(2) == 0)}
	if e.Kind == Loaded {
		e.Record = &State{Phase: Empty, FirstGen: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			e.Record.Type, e.Record.Protocol, e.Record.FirstGen = consumer, protoX, false
			e.Record.Slots[1] = Slot{Kind: Member, Leader: true, Static: true, List: listX, Given: 1}
			e.Record.Slots[2] = Slot{Kind: Member, List: listX}
		}
	}
	if r.IntN(4) == 0 {
		e.Gen, e.Write = Gen(r.IntN(3)), Write(r.IntN(2))
	}
	for i := range e.Assign {
		e.Assign[i] = uint8(r.IntN(2))
	}
	if len(used) > 0 {
		e.Slot = used[r.IntN(len(used))]
	}
	if len(used) >= MaxPacked && e.Kind == JoinGroup && e.Ref.Kind == NoID {
		e.Kind = Heartbeat
	}
	if e.Kind == LeaveGroup {
		e.Leaves = append(leaves, ref(), ref())
		if !e.OldLeave {
			e.Instances = []Instance{instance(), {}}
		}
	}
	return e
}

// A long random walk in each mode: invariants, legal moves, honest timers, and Packed states that come back.
func TestRandomWalk(t *testing.T) {
	old, err := ProfileFor("2.5") // with 2.4 a replacement in CompletingRebalance breaks I6
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []Profile{Java, Scala, Reference, old} {
		for _, inFlight := range []bool{false, true} {
			r := rand.New(rand.NewPCG(5, 6))
			m := New(Config{Profile: profile, Lexicon: lexicon(), SyncInFlight: inFlight, InitialDelay: inFlight, MaxSize: map[bool]int{true: 2}[inFlight]})
			var s State
			phases := map[Phase]int{}
			for range 30_000 {
				e := randomEvent(r, &s, nil)
				var outcomes []State
				m.Step(&s, &e, func(tr *Transition) bool {
					checkTransition(t, &s, &e, tr)
					outcomes = append(outcomes, tr.Next)
					return true
				})
				s = outcomes[r.IntN(len(outcomes))]
				phases[s.Phase]++
				if broken := Check(&s, m.lexicon); broken != nil {
					t.Fatalf("%s: after %+v: %+v breaks %v", profile.Name, e, s, broken)
				}
				if p, ok := Pack(s); !ok || Unpack(p) != Canonical(s) {
					t.Fatalf("cannot pack %+v", s)
				}
			}
			if len(phases) != 5 {
				t.Errorf("%s: the walk saw only %v", profile.Name, phases)
			}
		}
	}
}

// checkTransition holds a transition to what its fields promise.
func checkTransition(t *testing.T, s *State, e *Event, tr *Transition) {
	t.Helper()
	joins := map[GenerationEffect]int{NextGeneration: 1, SecondGeneration: 2}[tr.Generation]
	moved := e.Kind == Unload || e.Kind == Loaded // the group is elsewhere
	if !moved && !LegalMove(s.Phase, tr.Next.Phase, joins, e.Kind == LeaveGroup) {
		t.Fatalf("%+v: illegal move %v -> %v", *e, s.Phase, tr.Next.Phase)
	}
	before, after := timersOf(s), timersOf(&tr.Next)
	named := map[TimerEffect]bool{}
	for _, effect := range tr.Timers {
		key := TimerEffect{Timer: effect.Timer, Slot: effect.Slot}
		if named[key] {
			t.Fatalf("%+v: timer %+v is named twice: %v", *e, key, tr.Timers)
		}
		named[key] = true
		if after[key] != (effect.For != Cancel) {
			t.Fatalf("%+v: effect %+v, but the timer runs: %v", *e, effect, after[key])
		}
		if effect.For == Cancel && !before[key] {
			t.Fatalf("%+v: effect %+v cancels nothing", *e, effect)
		}
	}
	for key := range before {
		if !after[key] && !named[key] {
			t.Fatalf("%+v: timer %+v stopped without an effect", *e, key)
		}
	}
	for key := range after {
		if !before[key] && !named[key] {
			t.Fatalf("%+v: timer %+v started without an effect", *e, key)
		}
	}
}

func timersOf(s *State) map[TimerEffect]bool {
	on := map[TimerEffect]bool{}
	for i := range s.Slots {
		if s.Slots[i].Timed {
			on[TimerEffect{Timer: SessionTimer, Slot: int8(i)}] = true
		}
	}
	if s.JoinTimer {
		on[TimerEffect{Timer: GroupJoinTimer}] = true
	}
	if s.SyncTimer {
		on[TimerEffect{Timer: GroupSyncTimer}] = true
	}
	return on
}

// walk collects pairs of states and events as a random walk meets them.
func walk(n int) (states []State, events []Event) {
	r := rand.New(rand.NewPCG(7, 8))
	m := New(Config{Profile: Java, Lexicon: lexicon()})
	var s State
	for range n {
		e := randomEvent(r, &s, nil)
		states, events = append(states, s), append(events, e)
		m.Step(&s, &e, func(tr *Transition) bool { s = tr.Next; return false })
	}
	return states, events
}

func TestStepDoesNotAllocate(t *testing.T) {
	states, events := walk(2000)
	m := New(Config{Profile: Java, Lexicon: lexicon()})
	outcomes := 0
	run := func() {
		for i := range events {
			m.Step(&states[i], &events[i], func(tr *Transition) bool { outcomes++; return true })
		}
	}
	run() // the scratch space grows to its size
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations in %d steps, want none", n, len(events))
	}
}

func BenchmarkStep(b *testing.B) {
	states, events := walk(2000)
	m := New(Config{Profile: Java, Lexicon: lexicon()})
	transitions := 0
	for i := range b.N {
		m.Step(&states[i%len(states)], &events[i%len(states)], func(tr *Transition) bool { transitions++; return true })
	}
	b.ReportMetric(float64(transitions)/b.Elapsed().Seconds(), "transitions/s")
}

func BenchmarkPack(b *testing.B) {
	states, _ := walk(2000)
	for i := range b.N {
		if _, ok := Pack(states[i%len(states)]); !ok {
			b.Fatal("does not fit")
		}
	}
}

func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.ID == "" || r.Sentence == "" || r.Releases == "" || r.Source == "" || r.Suffers == "" || seen[r.ID] {
			t.Errorf("rule %+v is incomplete or its id taken", r)
		}
		seen[r.ID] = true
		if !strings.HasSuffix(strings.TrimSuffix(r.Sentence, ")"), ".") {
			t.Errorf("%s: not a sentence: %q", r.ID, r.Sentence)
		}
		if id, ok := FindRule(r.ID); !ok || id.Rule() != r {
			t.Errorf("%s is not found", r.ID)
		}
	}
	for rule, why := range unbreakable {
		if why == "" {
			t.Errorf("%v: unbreakable without a reason", rule)
		}
	}
}
