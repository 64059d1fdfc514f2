package explore

import "github.com/muster-kafka/muster/model/classic"

// refused says whether an event can change no state, or does the same as another one of the alphabet that is simpler: a request of a stranger, of
// another generation, of a fenced instance, a malformed one, one that only reads, an assignment where nobody takes it. With those that are spared
// (below) four of five transitions are such. Which requests these are is known beforehand; that they change nothing is what the run with all
// requests shows: it has the same states.
func (g *Group) refused(e *classic.Event, s *classic.State) bool {
	known, current := e.Ref.Kind == classic.KnownID, e.Gen == classic.CurrentGen
	if e.BadGroup || e.BadSession {
		return true
	}
	busy := s.Phase != classic.Absent && s.Phase != classic.Empty
	switch e.Kind {
	case classic.DescribeGroups, classic.ListGroups, classic.OffsetFetch:
		return true
	case classic.DeleteGroups:
		return s.Phase != classic.Empty
	case classic.Heartbeat:
		return !known || !current || e.Instance.Kind != classic.NoInstance
	case classic.SyncGroup:
		// A leader that assigns to all assigns to nobody in the one that names the protocol alone, so that one has no simpler twin then.
		nobody := !g.AnySubset && e.Type == 0
		if s.Phase != classic.CompletingRebalance && e.Assign != toAll(s, e) {
			return true // what a leader assigns counts nowhere else
		}
		return !known || !current || e.Instance.Kind != classic.NoInstance || !nobody && (e.Type != groupType || e.Protocol != 0) || e.NoProtocol
	case classic.JoinGroup:
		if e.Skips && (s.Phase != classic.Stable || !s.Slots[e.Instance.Slot].Leader) {
			return true // only a leader that is replaced is told to skip the assignment
		}
		return e.Ref.Kind == classic.UnknownID || e.Type == 0 || busy && e.Type != groupType || e.List == 0 || known && e.Instance.Kind != classic.NoInstance
	case classic.OffsetCommit, classic.TxnOffsetCommit:
		return e.Instance.Kind != classic.NoInstance || e.Gen == classic.OtherGen || current && !known
	case classic.LeaveGroup:
		return idle(e)
	}
	return false
}

// idle says of a LeaveGroup whether nobody leaves who does not leave with a simpler request.
func idle(e *classic.Event) bool {
	if len(e.Instances) > 0 {
		return len(e.Leaves) > 1 || e.Leaves[0].Kind != classic.NoID || e.Instances[0].Kind != classic.KnownInstance
	}
	for i, ref := range e.Leaves {
		if ref.Kind != classic.KnownID || i > 0 && ref == e.Leaves[i-1] {
			return true
		}
	}
	return len(e.Leaves) == 0
}

// toAll is what a leader's SyncGroup assigns when it assigns to all members; others assign nothing.
func toAll(s *classic.State, e *classic.Event) (all [classic.MaxSlots]uint8) {
	if e.Ref.Kind != classic.KnownID || !s.Slots[e.Ref.Slot].Leader || e.Gen != classic.CurrentGen {
		return all
	}
	for i := range s.Slots {
		if s.Slots[i].Kind == classic.Member {
			all[i] = given
		}
	}
	return all
}

// spared says of an event whether it would do what one that has just been made in the state has done: its write fails, where nothing has been
// written; or it asks for a member id with another list, where one has been handed out.
func (m *machine) spared(e *classic.Event) bool {
	if e.Write != classic.WriteOK && e.Kind != classic.WriteDone {
		return !m.wrote
	}
	return m.minted && asksForID(e)
}

// asksForID says whether all that a JoinGroup can get is a member id. That id is the same with every list.
func asksForID(e *classic.Event) bool {
	return e.Kind == classic.JoinGroup && e.NeedsID && e.Ref.Kind == classic.NoID && e.Instance.Kind == classic.NoInstance
}
