package explore

import c "github.com/muster-kafka/muster/model/classic"

// always is presupposed by what is asked every time.
const always fact = 0

// fact is something that properties presuppose. Facts are worked out once for an event, and once more for each of its outcomes; a
// property is asked only where all that it presupposes is so. Most are about one phase and one kind of caller, so that asking each of
// them would take most of the time of a search.
type fact uint64

const (
	// What the group is before.
	isAbsent fact = 1 << iota
	isEmpty
	isPreparing
	isCompleting
	isStable
	exists    // it is not Absent
	vacant    // Absent or Empty
	busy      // it has, or is about to have, members
	isOpen    // there is a generation that has not ended
	isInitial // it waits for the initial delay

	// What a request says.
	wellFormed // it passes the checks that do not look at the group
	badGroup
	badSession // and the group id is not bad as well
	noProtocol
	noID
	hasID
	unknownID
	noInstance
	knownInstance
	unknownInstance
	currentGen
	otherGen
	noGen
	wrongGen // other or none
	tooLarge
	writeFails

	// Whom it comes from.
	byMember
	byPending
	byNobody // no member, and its instance id is not what is wrong
	acts     // a member, and nothing is wrong with its instance id
	fenced   // its instance id is another member's

	// How far it comes.
	admitted // a JoinGroup whose protocols are looked at
	joins    // and go with the group's
	agrees   // a SyncGroup that names no other protocol than the group's
	guarded  // a commit that is held against members and generation
	checked  // it comes as far as the check of its ids (in groups with static members)

	// What entries of a LeaveGroup name, if nothing is wrong with their instance ids: a member, a pending id, nobody, somebody once more.
	leavesMember
	leavesPending
	leavesNobody
	leavesAgain
	leavesFenced // another member's instance id
	leavesByInstance

	// What has come of it.
	changed   // the state that follows is another one
	moved     // the phase is another one, or a join has completed
	completes // a join has completed
	adds      // a JoinGroup has added a member
	resets    // the generation is 0 again
	answers   // somebody has been answered
	admits    // a JoinGroup has been answered without an error
)

// A member's Heartbeat or commit that nothing is wrong with, and such a SyncGroup.
const (
	inOrder = wellFormed | acts | currentGen
	syncs   = inOrder | agrees
)

// replaces is a JoinGroup that takes the place of a static member.
const replaces = joins | noID | knownInstance

const ofAnyPhase = isAbsent | isEmpty | isPreparing | isCompleting | isStable | exists | vacant | busy | isOpen

var (
	ofPhase = [...]fact{
		c.Absent: isAbsent | vacant, c.Empty: isEmpty | exists | vacant, c.PreparingRebalance: isPreparing | exists | busy,
		c.CompletingRebalance: isCompleting | exists | busy | isOpen, c.Stable: isStable | exists | busy | isOpen,
	}
	ofID       = [...]fact{c.NoID: noID, c.KnownID: hasID, c.UnknownID: hasID | unknownID}
	ofInstance = [...]fact{c.NoInstance: noInstance, c.KnownInstance: knownInstance, c.UnknownInstance: unknownInstance}
	ofGen      = [...]fact{c.CurrentGen: currentGen, c.OtherGen: otherGen | wrongGen, c.NoGen: noGen | wrongGen}
)

func when(is bool, f fact) fact {
	if is {
		return f
	}
	return 0
}

// meet works out what is known before the outcome.
func (v *view) meet() {
	v.before = ofPhase[v.s.Phase] | when(v.s.Initial, isInitial)
	v.compared = false
	if v.e.Kind.Request() {
		v.before |= v.ofRequest()
	}
}

func (v *view) ofRequest() (f fact) {
	e := v.e
	f = when(!e.BadGroup && !e.BadSession && !e.NoProtocol, wellFormed) | when(e.BadGroup, badGroup) | when(e.Write != c.WriteOK, writeFails)
	if e.Kind == c.LeaveGroup {
		return f | v.readEntries()
	}
	f |= ofID[e.Ref.Kind] | ofInstance[e.Instance.Kind] | ofGen[e.Gen] | when(e.TooLarge, tooLarge)
	wrong := v.instanceError()
	switch slot := v.slot(); {
	case slot != nil && slot.Kind == c.Member:
		f |= byMember | when(wrong == c.CodeNone, acts)
	case slot != nil:
		f |= byPending | when(wrong == c.CodeNone, byNobody)
	default:
		f |= when(wrong == c.CodeNone, byNobody)
	}
	f |= when(wrong == c.CodeFencedInstanceID, fenced)
	switch e.Kind {
	case c.JoinGroup:
		f |= when(e.BadSession && !e.BadGroup, badSession) | v.joining(f)
	case c.SyncGroup:
		f |= when(e.NoProtocol, noProtocol) | when(v.consistent(), agrees)
	case c.OffsetCommit, c.TxnOffsetCommit:
		f |= when(v.heldAgainstMembers(), guarded)
	}
	if v.group.Static {
		f |= when(v.comesToIDs(f), checked)
	}
	return f
}

// joining is how far a JoinGroup comes.
func (v *view) joining(f fact) fact {
	switch {
	case f&wellFormed == 0 || v.full() || v.s.Phase == c.Absent && f&noID == 0:
		return 0
	case !v.compatible():
		return admitted
	}
	return admitted | joins
}

// comesToIDs says whether a request comes as far as the check of its ids.
func (v *view) comesToIDs(f fact) bool {
	switch v.e.Kind {
	case c.JoinGroup:
		return f&joins != 0 && v.s.Phase != c.Absent && f&noID == 0 && f&byPending == 0
	case c.SyncGroup:
		return f&wellFormed != 0 && v.s.Phase != c.Absent && v.s.Phase != c.Empty
	case c.Heartbeat:
		return f&wellFormed != 0 && v.s.Phase != c.Absent
	case c.OffsetCommit, c.TxnOffsetCommit:
		return f&wellFormed != 0 && f&guarded != 0
	}
	return false
}
