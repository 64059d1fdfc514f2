package clients

import (
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// narrator walks a path from the initial state and tells it.
type narrator struct {
	*names
	m     *machine
	state world
	told  []explore.Step
}

// Narrate tells a path. What follows when clients heal comes after it, where that is what the finding is about.
func (m *machine) Narrate(edges []int, finding explore.Finding) []explore.Step {
	n := &narrator{names: newNames(m), m: m, state: m.initial()}
	for _, edge := range edges {
		at := 0
		m.successors(&n.state, func(a *act) bool {
			if at == edge {
				n.take(a)
				return false
			}
			at++
			return true
		})
	}
	switch finding.Property {
	case getTogether, comeToRest:
		n.heal("from here on all clients heal", healed)
	case getEmpty:
		n.heal("from here on all clients stay away", deserted)
	}
	return n.told
}

// take takes one step and tells it.
func (n *narrator) take(a *act) {
	step := explore.Step{Event: n.event(a)}
	from := n.state
	if t := a.transition; t != nil {
		n.follow(a, t)
		for i := range a.answers {
			step.Answers = append(step.Answers, n.answer(&a.answers[i], a))
		}
		for _, to := range t.Superseded {
			step.Answers = append(step.Answers, fmt.Sprintf("the waiting %s of %s: never answered", waitingName[to.Kind], n.slots[to.Slot]))
		}
		step.Answers = append(step.Answers, n.logging(a)...)
	}
	next, p := canonical(a.next)
	n.renumber(&from, a)
	n.permute(p)
	n.state = next
	step.State = n.names.state(&n.state)
	n.told = append(n.told, step)
}

// follow names what is new.
func (n *narrator) follow(a *act, t *classic.Transition) {
	if a.log.before != nil {
		n.logs = [maxRoom]string(n.slots[:maxRoom])
	}
	if a.kind == crashes && n.tracked {
		n.slots = [classic.MaxSlots]string{}
		copy(n.slots[:], n.logs[:])
		return
	}
	for _, slot := range [...]int8{t.Minted, t.Rekeyed} {
		if slot >= 0 {
			n.slots[slot] = n.fresh(a.who)
		}
	}
	if a.log.after != nil {
		n.logs = [maxRoom]string(n.slots[:maxRoom])
	}
	if a.log.other >= 0 {
		n.logs[a.log.other] = n.fresh(a.who)
	}
}

// logging tells what becomes of records.
func (n *narrator) logging(a *act) (told []string) {
	if !n.tracked || a.kind != happens {
		return nil
	}
	unsaid := [...]string{"", ", of which nobody hears"}[btoi(a.log.unsure)]
	handed := recorded(a.transition) && !a.transition.Next.Writing
	ended := n.state.group.Writing && !a.transition.Next.Writing
	switch {
	case handed && a.log.after != nil:
		told = append(told, "the log: the "+a.transition.Next.Phase.String()+" group is written"+unsaid)
	case handed && a.log.before != nil && !ended:
		told = append(told, "the log: the new group is written"+unsaid)
	case handed:
		told = append(told, "the log: the "+a.transition.Next.Phase.String()+" group is not written"+unsaid)
	}
	if ended {
		told = append([]string{"the log: the assignment is " + [...]string{"not ", ""}[btoi(a.log.before != nil)] + "written" + unsaid}, told...)
	}
	return told
}

// renumber follows the generation that numbers begin with.
func (n *narrator) renumber(from *world, a *act) {
	switch t := a.transition; {
	case a.kind == crashes:
		n.base += int(from.ahead) * int(btoi(a.log.before != nil))
	case t == nil:
	case n.tracked:
		// The log has got on by as much as the step does not explain.
		memory := n.base + int(from.ahead) + int(btoi(t.Generation == classic.NextGeneration))
		if t.Generation == classic.ResetGeneration {
			memory = 0
		}
		n.base = memory - int(a.next.ahead)
	case t.Generation == classic.NextGeneration:
		n.base++
	case t.Generation == classic.ResetGeneration:
		n.base = 0
	}
}

var waitingName = map[classic.AddressKind]string{classic.ParkedJoin: "JoinGroup", classic.ParkedSync: "SyncGroup"}

// event tells what happens.
func (n *narrator) event(a *act) string {
	switch a.kind {
	case givesUp:
		return n.clients[a.who] + " gives up waiting"
	case arrives:
		return "the late answer to the JoinGroup of " + n.clients[a.who] + " arrives"
	case restarts:
		return n.clients[a.who] + " starts anew"
	case crashes:
		text := "the coordinator crashes, and another one loads the group"
		if a.log.before != nil {
			return text + "; the assignment that was being written is in the log"
		}
		if n.state.group.Writing && n.tracked {
			return text + "; the assignment that was being written is not in the log"
		}
		return text
	}
	e := &a.event
	switch e.Kind {
	case classic.MemberTimer:
		return "the timer of " + n.slots[e.Slot] + " fires"
	case classic.JoinTimer:
		return "the join timer fires"
	case classic.SyncTimer:
		return "the sync timer fires"
	case classic.WriteDone:
		return "the leader's assignment " + [...]string{"has been written", "could not be written"}[e.Write]
	}
	return n.request(a)
}

func (n *narrator) request(a *act) string {
	e := &a.event
	var b strings.Builder
	b.WriteString(map[classic.EventKind]string{
		classic.JoinGroup: "JoinGroup", classic.SyncGroup: "SyncGroup", classic.Heartbeat: "Heartbeat", classic.LeaveGroup: "LeaveGroup",
	}[e.Kind])
	ref := e.Ref
	if e.Kind == classic.LeaveGroup {
		ref = e.Leaves[0]
	}
	if a.who >= 0 {
		fmt.Fprintf(&b, " of %s", n.clients[a.who])
	}
	switch {
	case ref.Kind == classic.KnownID:
		fmt.Fprintf(&b, " as %s", n.slots[ref.Slot])
	case ref.Kind == classic.UnknownID:
		b.WriteString(" with an id that is not in memory")
	case e.Kind == classic.JoinGroup:
		b.WriteString(" without id")
	}
	if a.who < 0 && e.Instance.Kind == classic.KnownInstance {
		fmt.Fprintf(&b, " of the instance of %s", n.slots[e.Instance.Slot])
	}
	if e.Kind == classic.JoinGroup {
		if ref.Kind == classic.NoID && e.Instance.Kind == classic.NoInstance && !e.NeedsID {
			b.WriteString(", version 3")
		}
		if len(n.m.run.Lists) > 1 {
			fmt.Fprintf(&b, ", protocols %s", n.m.run.Lists[e.List-1])
		}
	}
	if e.Kind == classic.SyncGroup || e.Kind == classic.Heartbeat {
		g := n.state.current()
		if a.who >= 0 {
			g = n.state.clients[a.who].gen
		}
		fmt.Fprintf(&b, ", %s", n.gen(g))
	}
	if e.Write == classic.WriteFailed {
		b.WriteString(", and its write fails")
	}
	return b.String()
}

var codeNames = map[int16]string{
	classic.CodeNone: "NONE", classic.CodeWriteFailed: "the error of the write", classic.CodeIllegalGeneration: "ILLEGAL_GENERATION",
	classic.CodeInconsistentGroupProtocol: "INCONSISTENT_GROUP_PROTOCOL", classic.CodeUnknownMemberID: "UNKNOWN_MEMBER_ID",
	classic.CodeRebalanceInProgress: "REBALANCE_IN_PROGRESS", classic.CodeMemberIDRequired: "MEMBER_ID_REQUIRED",
	classic.CodeFencedInstanceID: "FENCED_INSTANCE_ID", classic.CodeUnknownServerError: "UNKNOWN_SERVER_ERROR",
}

// answer tells one answer, and what became of it.
func (n *narrator) answer(a *answer, of *act) string {
	to := "whoever asked"
	if a.to >= 0 {
		to = n.clients[a.to]
	} else if a.reply.To.Kind != classic.Caller {
		to = "whoever was " + n.slots[a.reply.To.Slot]
	}
	code := codeNames[a.reply.Error]
	for _, c := range a.reply.Entries {
		code = codeNames[c]
	}
	text := to + ": " + code
	if a.reply.Error == classic.CodeNone && a.reply.Leader >= 0 && a.reply.Member >= 0 {
		text += fmt.Sprintf(", %s led by %s", n.slots[a.reply.Member], n.slots[a.reply.Leader])
	}
	sync := a.reply.To.Kind == classic.ParkedSync || a.reply.To.Kind == classic.Caller && of.event.Kind == classic.SyncGroup
	if sync && a.reply.Error == classic.CodeNone && a.reply.Member >= 0 {
		text += [...]string{", nothing assigned", ", with its assignment"}[min(of.transition.Next.Slots[a.reply.Member].Given, 1)]
	}
	return text + [...]string{"", " (lost on the way)", " (delayed on the way)"}[a.way]
}
