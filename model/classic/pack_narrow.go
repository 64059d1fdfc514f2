package classic

// A state of more than MaxPacked slots fits a Packed too if its symbols are small: up to MaxNarrow slots of 14 bits. The value of the
// phase's field that no phase has tells such a Packed from the others.

// MaxNarrow is how many slots a Packed holds where symbols are small: lists and types as in an alphabet of a few, one assignment.
const MaxNarrow = 7

const (
	narrowMark = 7 // instead of the phase

	narrowLists                         = 3 // bits, as below
	narrowTypes, narrowProtocols        = 2, 4
	narrowTopics                        = 2
	narrowSlot                          = flagBits + narrowLists + 2
	narrowMask                          = 1<<narrowSlot - 1
	narrowFirst                         = 3 // slots in the first half; the others are in the second
	narrowGroup                         = 2*slotBits + 3
	narrowSymbols                       = (MaxNarrow - narrowFirst) * narrowSlot
	narrowProtocolAt, narrowTopicsAt    = narrowSymbols + narrowTypes, narrowSymbols + narrowTypes + narrowProtocols
	narrowPhases, narrowFlags, narrowIs = 3, 9, 2 // bits of the phase, of the group's flags, and of what the broker is to it
)

// packNarrow packs what Pack has no room for.
func packNarrow(s *State) (Packed, bool) {
	if s.Type >= 1<<narrowTypes || s.Protocol >= 1<<narrowProtocols || s.Subscribed&^KnownTopics >= 1<<narrowTopics {
		return Packed{}, false
	}
	var slots [MaxNarrow]uint64
	used := 0
	for i := range s.Slots {
		slot := &s.Slots[i]
		if *slot == (Slot{}) {
			continue
		}
		if used == MaxNarrow || slot.List >= 1<<narrowLists || slot.Given > 1 || slot.Proposed > 1 {
			return Packed{}, false
		}
		v := slotFlags(slot)<<(narrowSlot-flagBits) | uint64(slot.List)<<2 | uint64(slot.Given)<<1 | uint64(slot.Proposed)
		at := used
		for ; at > 0 && slots[at-1] < v; at-- {
			slots[at] = slots[at-1]
		}
		slots[at] = v
		used++
	}
	group := uint64(s.Phase) | groupFlags(s)<<narrowPhases | uint64(s.Serving)<<(narrowPhases+narrowFlags) | bit(s.Subscribed.Known(), narrowPhases+narrowFlags+narrowIs)
	p := Packed{
		narrowMark<<(2*slotBits) | group<<narrowGroup,
		uint64(s.Type)<<narrowSymbols | uint64(s.Protocol)<<narrowProtocolAt | uint64(s.Subscribed&^KnownTopics)<<narrowTopicsAt,
	}
	for i, v := range slots {
		p[min(i/narrowFirst, 1)] |= v << narrowAt(i)
	}
	return p, true
}

// narrowAt is where a slot is in its half.
func narrowAt(i int) int {
	if i >= narrowFirst {
		i -= narrowFirst
	}
	return i * narrowSlot
}

func unpackNarrow(p Packed) State {
	group := p[0] >> narrowGroup
	s := State{
		Phase: Phase(group & (1<<narrowPhases - 1)), Serving: Serving(group >> (narrowPhases + narrowFlags) & (1<<narrowIs - 1)),
		Type:     uint8(p[1] >> narrowSymbols & (1<<narrowTypes - 1)),
		Protocol: uint8(p[1] >> narrowProtocolAt & (1<<narrowProtocols - 1)), Subscribed: Topics(p[1] >> narrowTopicsAt),
	}
	setGroupFlags(&s, group>>narrowPhases)
	if has(group, narrowPhases+narrowFlags+narrowIs) {
		s.Subscribed |= KnownTopics
	}
	for i := range MaxNarrow {
		v := p[min(i/narrowFirst, 1)] >> narrowAt(i) & narrowMask
		s.Slots[i] = unpackFlags(v >> (narrowSlot - flagBits))
		s.Slots[i].List, s.Slots[i].Given, s.Slots[i].Proposed = uint8(v>>2&(1<<narrowLists-1)), uint8(v>>1&1), uint8(v&1)
	}
	return s
}
