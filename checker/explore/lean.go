package explore

import "github.com/muster-kafka/muster/model/classic"

// refused says whether an event can change no state, or does the same as another one of the alphabet that is simpler: a request of a stranger, of
// another generation, of a fenced instance, a malformed one, one that only reads. Two of three transitions are such. Which requests these are
// is known beforehand; that they change nothing is what the run with all requests shows: it has the same states.
func (g *Group) refused(e *classic.Event) bool {
	known, current := e.Ref.Kind == classic.KnownID, e.Gen == classic.CurrentGen
	if e.BadGroup || e.BadSession {
		return true
	}
	switch e.Kind {
	case classic.DescribeGroups, classic.ListGroups, classic.OffsetFetch:
		return true
	case classic.Heartbeat:
		return !known || !current || e.Instance.Kind != classic.NoInstance
	case classic.SyncGroup:
		// A leader that assigns to all assigns to nobody in the one that names the protocol alone, so that one has no simpler twin then.
		nobody := !g.AnySubset && e.Type == 0
		return !known || !current || e.Instance.Kind != classic.NoInstance || !nobody && (e.Type != groupType || e.Protocol != 0) || e.NoProtocol
	case classic.JoinGroup:
		return e.Ref.Kind == classic.UnknownID || e.Type == 0 || e.List == 0 || known && e.Instance.Kind != classic.NoInstance
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
