package classic

import (
	"fmt"
	"testing"
)

// Symbols of the tests: protocols x and y; lists by index.
const (
	protoX, protoY     = 1, 2
	listX, listXY      = 1, 2
	listYX, listY      = 3, 4
	consumer, connects = 1, 2
	topicT, topicU     = 0, 1
)

func lexicon() *Lexicon {
	t, u := TopicSet(topicT), TopicSet(topicU)
	return &Lexicon{Consumer: consumer, Lists: []List{
		{},
		{Names: []uint8{protoX}, Topics: []Topics{t}},
		{Names: []uint8{protoX, protoY}, Topics: []Topics{u, t}},
		{Names: []uint8{protoY, protoX}, Topics: []Topics{t, u}},
		{Names: []uint8{protoY}},
	}}
}

// world drives a model along one path: where the coordinator may choose, it takes the pick-th outcome.
type world struct {
	t *testing.T
	m *Model
	s State
	// copies of what the last step put out
	replies    []Reply
	rules      []RuleID
	timers     []TimerEffect
	records    []Record
	superseded []Address
	last       Transition
	outcomes   int
}

func newWorld(t *testing.T, c Config) *world {
	t.Helper()
	if c.Lexicon == nil {
		c.Lexicon = lexicon()
	}
	if c.Profile.Name == "" {
		c.Profile = Java
	}
	return &world{t: t, m: New(c)}
}

func (w *world) do(e Event) *world { return w.pick(0, e) }

func (w *world) pick(n int, e Event) *world {
	w.t.Helper()
	w.outcomes = 0
	var next State
	w.m.Step(&w.s, &e, func(t *Transition) bool {
		if w.outcomes == n {
			next = t.Next
			w.last = *t
			w.replies = append([]Reply(nil), t.Replies...)
			for i := range w.replies {
				w.replies[i].Entries = append([]int16(nil), t.Replies[i].Entries...)
			}
			w.rules = append([]RuleID(nil), t.Rules...)
			w.timers = append([]TimerEffect(nil), t.Timers...)
			w.records = append([]Record(nil), t.Records...)
			w.superseded = append([]Address(nil), t.Superseded...)
		}
		w.outcomes++
		return true
	})
	if n >= w.outcomes {
		w.t.Fatalf("event %+v has %d outcomes, wanted number %d", e, w.outcomes, n)
	}
	w.s = next
	if broken := Check(&w.s, w.m.lexicon); broken != nil {
		w.t.Fatalf("after %+v: %+v breaks %v", e, w.s, broken)
	}
	return w
}

// want compares the last step's answers, written as "caller 0" or "join 1 27", in order.
func (w *world) want(answers ...string) *world {
	w.t.Helper()
	var got []string
	for _, r := range w.replies {
		text := fmt.Sprintf("%s %d", [...]string{"caller", "join", "sync"}[r.To.Kind], r.Error)
		if r.To.Kind != Caller {
			text = fmt.Sprintf("%s %d %d", [...]string{"caller", "join", "sync"}[r.To.Kind], r.To.Slot, r.Error)
		}
		if r.Members {
			text += " members"
		}
		if len(r.Entries) > 0 {
			text += fmt.Sprint(" ", r.Entries)
		}
		got = append(got, text)
	}
	if fmt.Sprint(got) != fmt.Sprint(answers) {
		w.t.Fatalf("answers %q, want %q (state %+v)", got, answers, w.s)
	}
	return w
}

func (w *world) phase(p Phase) *world {
	w.t.Helper()
	if w.s.Phase != p {
		w.t.Fatalf("phase %v, want %v", w.s.Phase, p)
	}
	return w
}

func (w *world) generation(g GenerationEffect) *world {
	w.t.Helper()
	if w.last.Generation != g {
		w.t.Fatalf("generation effect %v, want %v", w.last.Generation, g)
	}
	return w
}

func (w *world) cites(rule RuleID) *world {
	w.t.Helper()
	for _, r := range w.rules {
		if r == rule {
			return w
		}
	}
	w.t.Fatalf("rules %v, want %v among them", w.rules, rule)
	return w
}

func (w *world) timer(kind TimerKind, slot int8, d Duration) *world {
	w.t.Helper()
	for _, e := range w.timers {
		if e == (TimerEffect{Timer: kind, Slot: slot, For: d}) {
			return w
		}
	}
	w.t.Fatalf("timer effects %v, want timer %v of slot %d for %v", w.timers, kind, slot, d)
	return w
}

func known(slot int8) Ref { return Ref{Kind: KnownID, Slot: slot} }

func join(ref Ref, list uint8) Event {
	return Event{Kind: JoinGroup, Ref: ref, Type: consumer, List: list, NeedsID: true}
}

func joinOld(list uint8) Event { return Event{Kind: JoinGroup, Type: consumer, List: list} }

func sync(slot int8, assign ...uint8) Event {
	e := Event{Kind: SyncGroup, Ref: known(slot), Type: consumer}
	copy(e.Assign[:], assign)
	return e
}

func beat(slot int8) Event { return Event{Kind: Heartbeat, Ref: known(slot)} }

func leave(refs ...Ref) Event { return Event{Kind: LeaveGroup, Leaves: refs} }

// stable brings the world to a Stable group of n members in slots 0..n-1; slot 0 leads, slot i has assignment i+1.
func (w *world) stable(n int) *world {
	w.t.Helper()
	w.completing(n)
	for i := 1; i < n; i++ {
		w.do(sync(int8(i)))
	}
	return w.do(sync(0, 1, 2, 3, 4)).phase(Stable)
}

// completing brings the world to a group of n members, all of which have joined and none has synced.
func (w *world) completing(n int) *world {
	w.t.Helper()
	for i := range n {
		w.do(joinOld(listX))
		for j := range i {
			w.do(join(known(int8(j)), listX))
		}
	}
	return w.phase(CompletingRebalance)
}
