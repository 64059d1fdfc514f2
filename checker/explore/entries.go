package explore

import c "github.com/muster-kafka/muster/model/classic"

// entry is one entry of a LeaveGroup and what it was answered.
type entry struct {
	at         int8    // the slot that it speaks of, by its member id or else by its instance; -1 where there is none
	slot       *c.Slot // what was there before; nil if nothing, or if an earlier entry speaks of it too
	byInstance bool    // it names no member id but an instance
	wrong      int16   // what it is refused with for its instance id
	repeated   bool    // an earlier entry has named the id
	code       int16   // what it was answered
}

// readEntries fills in the entries of a LeaveGroup, and says what they name.
func (v *view) readEntries() (f fact) {
	v.entries = v.entries[:0]
	for i := range v.e.Leaves {
		n := entry{at: v.entrySlot(i)}
		if i < len(v.e.Instances) {
			n.wrong = v.entryError(i)
		}
		n.byInstance = n.at >= 0 && v.e.Leaves[i].Kind == c.NoID
		for j := range v.entries {
			n.repeated = n.repeated || n.at >= 0 && v.entries[j].at == n.at && v.entries[j].wrong == c.CodeNone
		}
		if n.at >= 0 && v.s.Slots[n.at].Kind != c.Free && !n.repeated {
			n.slot = &v.s.Slots[n.at]
		}
		v.entries = append(v.entries, n)
		f |= n.names()
	}
	return f
}

// names is what an entry names.
func (n *entry) names() (f fact) {
	f = when(n.byInstance, leavesByInstance) | when(n.repeated, leavesAgain) | when(n.wrong == c.CodeFencedInstanceID, leavesFenced)
	switch {
	case n.slot == nil:
		f |= when(!n.repeated && n.wrong == c.CodeNone, leavesNobody)
	case n.slot.Kind == c.Pending:
		f |= leavesPending
	default:
		f |= when(n.wrong == c.CodeNone, leavesMember)
	}
	return f
}

// eachEntry says whether ok holds for each entry of a LeaveGroup that was answered entry by entry. Versions up to 2 have one entry, and
// its error is the answer's.
func (v *view) eachEntry(ok func(*entry) bool) bool {
	if v.reply == nil || v.is(badGroup) {
		return true
	}
	for i := range v.entries {
		n := &v.entries[i]
		n.code = v.reply.Error
		switch {
		case len(v.reply.Entries) > i:
			n.code = v.reply.Entries[i]
		case n.code == c.CodeWriteFailed: // which tells nothing of the entries
			continue
		}
		if !ok(n) {
			return false
		}
	}
	return true
}

// entryInstance is the instance of an entry of LeaveGroup.
func (v *view) entryInstance(at int) c.Instance {
	if at < len(v.e.Instances) {
		return v.e.Instances[at]
	}
	return c.Instance{}
}

// entrySlot is the slot that an entry of LeaveGroup speaks of, or -1: that of its member id or, without one, of its instance.
func (v *view) entrySlot(i int) int8 {
	switch ref, instance := v.e.Leaves[i], v.entryInstance(i); {
	case ref.Kind == c.KnownID:
		return ref.Slot
	case ref.Kind == c.NoID && instance.Kind == c.KnownInstance:
		return instance.Slot
	}
	return -1
}

// entryError is what an entry is refused with for its instance id. That of a pending id is not looked at.
func (v *view) entryError(i int) int16 {
	ref, instance := v.e.Leaves[i], v.entryInstance(i)
	if ref.Kind == c.NoID || ref.Kind == c.KnownID && v.s.Slots[ref.Slot].Kind == c.Pending {
		return c.CodeNone
	}
	return v.wrongInstance(ref, instance)
}
