package classic

// Violation is a structural invariant that a state breaks.
type Violation struct {
	Invariant string // as §7.1 of the fact sheet numbers them, or a name of ours
	Sentence  string
}

// Invariants of §7.1, and some more that say what the fields mean. I1 (generations) is about transitions; I4 (instance ids) and I10
// (assignments) about values; I11 (group.max.size) has exceptions, and is a property of transitions.
var (
	invAbsent   = Violation{"absent", "an absent group, or one that is not served, is nothing at all"}
	invEmpty    = Violation{"I2", "an Empty group has no members; Stable and CompletingRebalance have at least one"}
	invKinds    = Violation{"I3", "a pending id is no member and has nothing of one; a free slot has nothing"}
	invLeader   = Violation{"I5", "exactly one member leads, if there are members"}
	invProtocol = Violation{"I6", "in CompletingRebalance and Stable all members support the protocol; an Empty group has none"}
	invJoining  = Violation{"I7", "a JoinGroup waits only in PreparingRebalance, and a member that is new waits"}
	invSyncing  = Violation{"I8", "a SyncGroup waits only in CompletingRebalance"}
	invOwes     = Violation{"I9", "only members owe a SyncGroup, and only in CompletingRebalance and Stable; a stale id only in Stable"}
	invDelay    = Violation{"delay", "the initial delay is a PreparingRebalance in which every member waits"}
	invWriting  = Violation{"writing", "an assignment is being written only in CompletingRebalance, and none is proposed otherwise"}
	invTimers   = Violation{"timers", "a timer runs exactly while it has an owner"}
)

// Invariants are all that Check looks for.
func Invariants() []Violation {
	return []Violation{invAbsent, invEmpty, invKinds, invLeader, invProtocol, invJoining, invSyncing, invOwes, invDelay, invWriting, invTimers}
}

// Check returns the invariants that s breaks, none for every state that a model without broken rules can reach.
func Check(s *State, lexicon *Lexicon) []Violation {
	var out []Violation
	must := func(ok bool, v Violation) {
		if !ok {
			out = append(out, v)
		}
	}
	if s.Phase == Absent || s.Serving != Active {
		must(*s == State{Serving: s.Serving}, invAbsent)
		return out
	}
	members, leaders, owes, waits := 0, 0, 0, 0
	kinds, joining, syncing, owing, proposed, sessions := true, true, true, true, true, true
	for i := range s.Slots {
		slot := &s.Slots[i]
		if slot.Kind != Member {
			kinds = kinds && *slot == (Slot{Kind: slot.Kind, Timed: slot.Kind == Pending})
			continue
		}
		members++
		leaders += int(bit(slot.Leader, 0))
		owes += int(bit(slot.OwesSync, 0))
		waits += int(bit(slot.Joining, 0))
		joining = joining && (!slot.Joining || s.Phase == PreparingRebalance) && (slot.Joining || !slot.New)
		syncing = syncing && (!slot.Syncing || s.Phase == CompletingRebalance)
		owing = owing && (!slot.OwesSync || s.Phase == CompletingRebalance || s.Phase == Stable) && !(slot.OwesSync && slot.Syncing)
		proposed = proposed && (slot.Proposed == 0 || s.Writing)
		sessions = sessions && (slot.Timed || !slot.New && (slot.Joining || slot.Syncing))
	}
	open := s.Phase == CompletingRebalance || s.Phase == Stable
	must((s.Phase != Empty || members == 0) && (!open || members > 0), invEmpty)
	must(kinds, invKinds)
	must(leaders == min(members, 1), invLeader)
	must(!open || supported(s, lexicon), invProtocol)
	must(s.Phase != Empty || s.Protocol == 0, invProtocol)
	must(joining, invJoining)
	must(syncing, invSyncing)
	must(owing, invOwes)
	must(proposed && (!s.Writing || s.Phase == CompletingRebalance), invWriting)
	must(!s.StaleSync || s.Phase == Stable, invOwes)
	must(!s.Initial || s.Phase == PreparingRebalance && waits == members, invDelay)
	must(s.JoinTimer == (s.Phase == PreparingRebalance) && s.SyncTimer == (owes > 0 || s.StaleSync) && sessions, invTimers)
	return out
}

// supported says whether every member's list has the group's protocol.
func supported(s *State, lexicon *Lexicon) bool {
	for i := range s.Slots {
		slot := &s.Slots[i]
		if slot.Kind != Member {
			continue
		}
		if int(slot.List) >= len(lexicon.Lists) || !contains(lexicon.Lists[slot.List].Names, s.Protocol) {
			return false
		}
	}
	return true
}

// moves is the table of legal transitions (§1.1): moves[from][to].
var moves = [5][5]bool{
	Absent:              {Empty: true},
	Empty:               {PreparingRebalance: true, Absent: true},
	PreparingRebalance:  {Empty: true, CompletingRebalance: true},
	CompletingRebalance: {PreparingRebalance: true, Stable: true},
	Stable:              {PreparingRebalance: true},
}

// LegalMove says whether the table allows a step that begins in one phase, ends in another and completes that many joins, each of which
// passes through PreparingRebalance. One step completes at most one, and ends where that has led; only where a group reacts to each
// entry of a LeaveGroup may more come of it.
func LegalMove(from, to Phase, joins int, oneByOne bool) bool {
	if from == Absent && to != Absent { // a JoinGroup may create the group and begin its first rebalance
		from = Empty
	}
	if joins == 0 {
		return from == to || moves[from][to] && from != PreparingRebalance
	}
	if from != PreparingRebalance && !moves[from][PreparingRebalance] || joins > 1 && !oneByOne {
		return false
	}
	switch {
	case joins == 1 && moves[PreparingRebalance][to]:
		return true
	case !oneByOne:
		return false
	case joins == 1:
		return to == PreparingRebalance
	}
	return joins == 2 && moves[PreparingRebalance][to]
}
