package classic

// MaxPacked is how many slots a Packed holds, whatever their symbols are; see MaxNarrow.
const MaxPacked = 4

// Packed is a canonical state of up to MaxPacked slots and small alphabets in 16 bytes: what an explorer stores and compares.
type Packed [2]uint64

// Less orders packed states; the order means nothing but is total.
func (p Packed) Less(q Packed) bool {
	return p[0] < q[0] || p[0] == q[0] && p[1] < q[1]
}

// Widths of the packed fields. A slot takes 23 bits (nine of kind and flags, and three symbols), the group 18 in each half.
const (
	flagBits              = 9
	listBits, givenBits   = 6, 4
	typeBits, protocolBit = 4, 6
	topicBits             = 7
	slotBits              = flagBits + listBits + 2*givenBits
	slotMask              = 1<<slotBits - 1
)

// Canonical returns the state with its slots in the one order that stands for all permutations: nothing points at a slot, so
// permuted states are the same.
func Canonical(s State) State {
	s, _ = Canonicalize(s)
	return s
}

// Canonicalize returns the canonical state and where each of its slots came from.
func Canonicalize(s State) (State, [MaxSlots]int8) {
	var from [MaxSlots]int8
	var key [MaxSlots]uint64
	for i := range s.Slots {
		from[i], key[i] = int8(i), slotKey(&s.Slots[i])
	}
	// Insertion sort, stable, largest first: free slots, all zero, come last. Most states are nearly sorted.
	for i := 1; i < MaxSlots; i++ {
		for j := i; j > 0 && key[j] > key[j-1]; j-- {
			key[j], key[j-1] = key[j-1], key[j]
			from[j], from[j-1] = from[j-1], from[j]
			s.Slots[j], s.Slots[j-1] = s.Slots[j-1], s.Slots[j]
		}
	}
	return s, from
}

// slotKey is a slot as one number, whatever the size of its symbols.
func slotKey(s *Slot) uint64 {
	return slotFlags(s)<<24 | uint64(s.List)<<16 | uint64(s.Given)<<8 | uint64(s.Proposed)
}

func slotFlags(s *Slot) uint64 {
	return uint64(s.Kind)<<7 | bit(s.Static, 6) | bit(s.Leader, 5) | bit(s.Joining, 4) | bit(s.Syncing, 3) | bit(s.New, 2) | bit(s.Timed, 1) | bit(s.OwesSync, 0)
}

func bit(b bool, at int) uint64 {
	if b {
		return 1 << at
	}
	return 0
}

// Pack packs a state as its own Pack does.
func Pack(s State) (Packed, bool) { return s.Pack() }

// Pack packs the canonical form of a state. It fails where the state has more slots in use than fit, or a symbol is too large.
func (s *State) Pack() (Packed, bool) {
	if s.Type >= 1<<typeBits || s.Protocol >= 1<<protocolBit || s.Subscribed&^KnownTopics >= 1<<topicBits {
		return Packed{}, false
	}
	// The packed slots sort as the slots do, so that the canonical order need not be made first.
	var slots [MaxPacked]uint64
	used := 0
	for i := range s.Slots {
		slot := &s.Slots[i]
		if *slot == (Slot{}) {
			continue
		}
		if used == MaxPacked {
			return packNarrow(s)
		}
		if slot.List >= 1<<listBits || slot.Given >= 1<<givenBits || slot.Proposed >= 1<<givenBits {
			return Packed{}, false
		}
		v := slotFlags(slot)<<(slotBits-flagBits) | uint64(slot.List)<<(2*givenBits) | uint64(slot.Given)<<givenBits | uint64(slot.Proposed)
		at := used
		for ; at > 0 && slots[at-1] < v; at-- {
			slots[at] = slots[at-1]
		}
		slots[at] = v
		used++
	}
	group := uint64(s.Phase) | groupFlags(s)<<3 | uint64(s.Serving)<<12 | uint64(s.Type)<<14
	symbols := uint64(s.Protocol) | bit(s.Subscribed.Known(), protocolBit) | uint64(s.Subscribed&^KnownTopics)<<(protocolBit+1)
	return Packed{
		slots[0] | slots[1]<<slotBits | group<<(2*slotBits),
		slots[2] | slots[3]<<slotBits | symbols<<(2*slotBits),
	}, true
}

// groupFlags are what a state has of flags that are no slot's.
func groupFlags(s *State) uint64 {
	return bit(s.FirstGen, 0) | bit(s.Writing, 1) | bit(s.JoinTimer, 2) | bit(s.SyncTimer, 3) | bit(s.Offsets, 4) |
		bit(s.Open, 5) | bit(s.Initial, 6) | bit(s.Extends, 7) | bit(s.StaleSync, 8)
}

func setGroupFlags(s *State, flags uint64) {
	s.FirstGen, s.Writing, s.JoinTimer, s.SyncTimer, s.Offsets = has(flags, 0), has(flags, 1), has(flags, 2), has(flags, 3), has(flags, 4)
	s.Open, s.Initial, s.Extends, s.StaleSync = has(flags, 5), has(flags, 6), has(flags, 7), has(flags, 8)
}

// Unpack returns the canonical state that was packed.
func Unpack(p Packed) State {
	group, symbols := p[0]>>(2*slotBits), p[1]>>(2*slotBits)
	if group&7 == narrowMark {
		return unpackNarrow(p)
	}
	s := State{
		Phase: Phase(group & 7), Serving: Serving(group >> 12 & 3), Type: uint8(group >> 14), Protocol: uint8(symbols & (1<<protocolBit - 1)),
		Subscribed: Topics(symbols >> (protocolBit + 1)),
	}
	setGroupFlags(&s, group>>3)
	if has(symbols, protocolBit) {
		s.Subscribed |= KnownTopics
	}
	for i := range MaxPacked {
		s.Slots[i] = unpackSlot(p[i/2] >> (i % 2 * slotBits) & slotMask)
	}
	return s
}

func unpackSlot(v uint64) Slot {
	s := unpackFlags(v >> (slotBits - flagBits))
	s.List, s.Given, s.Proposed = uint8(v>>(2*givenBits)&(1<<listBits-1)), uint8(v>>givenBits&(1<<givenBits-1)), uint8(v&(1<<givenBits-1))
	return s
}

func unpackFlags(flags uint64) Slot {
	return Slot{
		Kind: Kind(flags >> 7), Static: has(flags, 6), Leader: has(flags, 5), Joining: has(flags, 4), Syncing: has(flags, 3),
		New: has(flags, 2), Timed: has(flags, 1), OwesSync: has(flags, 0),
	}
}

func has(v uint64, at int) bool { return v>>at&1 == 1 }
