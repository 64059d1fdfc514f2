package classic

import (
	"math/rand/v2"
	"testing"
)

// randomState fills every field at random within what Pack can hold, whether or not the coordinator could get there.
func randomState(r *rand.Rand, slots int) State {
	flip := func() bool { return r.IntN(2) == 0 }
	s := State{
		Phase: Phase(r.IntN(5)), Type: uint8(r.IntN(1 << typeBits)), Protocol: uint8(r.IntN(1 << protocolBit)),
		FirstGen: flip(), Writing: flip(), JoinTimer: flip(), SyncTimer: flip(), Offsets: flip(),
		Serving: Serving(r.IntN(int(servingsNumber))), Open: flip(), Initial: flip(), Extends: flip(), StaleSync: flip(),
		Subscribed: Topics(r.IntN(1 << topicBits)),
	}
	if flip() {
		s.Subscribed |= KnownTopics
	}
	for range slots {
		s.Slots[r.IntN(MaxSlots)] = Slot{
			Kind: Kind(r.IntN(3)), Static: flip(), Leader: flip(), Joining: flip(), Syncing: flip(), New: flip(), Timed: flip(), OwesSync: flip(),
			List: uint8(r.IntN(1 << listBits)), Given: uint8(r.IntN(1 << givenBits)), Proposed: uint8(r.IntN(1 << givenBits)),
		}
	}
	return s
}

func TestPackIsABijection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[Packed]State{}
	wide, narrow := 0, 0
	for i := range 200_000 {
		s := randomState(r, 1+r.IntN(MaxPacked))
		if i%2 == 1 {
			s = small(randomState(r, 1+r.IntN(MaxNarrow)))
		}
		p, ok := Pack(s)
		if !ok {
			t.Fatalf("does not fit: %+v", s)
		}
		c := Canonical(s)
		if got := Unpack(p); got != c {
			t.Fatalf("unpacked\n%+v, packed\n%+v", got, c)
		}
		if other, ok := seen[p]; ok && other != c {
			t.Fatalf("one key for\n%+v and\n%+v", other, c)
		}
		seen[p] = c
		if c.Slots[MaxPacked] == (Slot{}) {
			wide++
		} else {
			narrow++
		}
	}
	if wide < 1000 || narrow < 1000 {
		t.Errorf("%d states of up to %d slots, %d of more", wide, MaxPacked, narrow)
	}
}

// small has symbols as an alphabet of a few has them.
func small(s State) State {
	s.Type %= 1 << narrowTypes
	s.Protocol %= 1 << narrowProtocols
	s.Subscribed = s.Subscribed&KnownTopics | s.Subscribed&^KnownTopics%(1<<narrowTopics)
	for i := range s.Slots {
		slot := &s.Slots[i]
		slot.List, slot.Given, slot.Proposed = slot.List%(1<<narrowLists), slot.Given%2, slot.Proposed%2
	}
	return s
}

func TestCanonicalForgetsTheOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		s := randomState(r, r.IntN(MaxSlots+1))
		shuffled := s
		r.Shuffle(MaxSlots, func(i, j int) {
			shuffled.Slots[i], shuffled.Slots[j] = shuffled.Slots[j], shuffled.Slots[i]
		})
		c, from := Canonicalize(s)
		if Canonical(shuffled) != c || Canonical(c) != c {
			t.Fatalf("two canonical forms of %+v", s)
		}
		for i := range c.Slots {
			if c.Slots[i] != s.Slots[from[i]] {
				t.Fatalf("slot %d does not come from %d", i, from[i])
			}
		}
	}
}

func TestPackRefusesWhatDoesNotFit(t *testing.T) {
	var five State
	for i := range 5 {
		five.Slots[i].Kind = Member
	}
	if _, ok := Pack(five); !ok {
		t.Error("five small members do not fit")
	}
	eight := five
	for i := range MaxNarrow + 1 {
		eight.Slots[i].Kind = Member
	}
	with := func(change func(*State)) State {
		s := five
		change(&s)
		return s
	}
	for _, s := range []State{
		eight, with(func(s *State) { s.Slots[2].List = 1 << narrowLists }), with(func(s *State) { s.Slots[4].Given = 2 }),
		with(func(s *State) { s.Slots[0].Proposed = 2 }), with(func(s *State) { s.Type = 1 << narrowTypes }),
		with(func(s *State) { s.Protocol = 1 << narrowProtocols }), with(func(s *State) { s.Subscribed = 1 << narrowTopics }),
		{Type: 1 << typeBits},
		{Protocol: 1 << protocolBit},
		{Slots: [MaxSlots]Slot{{Kind: Member, List: 1 << listBits}}},
	} {
		if _, ok := Pack(s); ok {
			t.Errorf("packed %+v", s)
		}
	}
}
