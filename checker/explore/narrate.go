package explore

import (
	"fmt"
	"strings"

	c "github.com/muster-kafka/muster/model/classic"
)

// step is one event of a path and which of its outcomes came.
type step struct {
	event   c.Event
	outcome int
}

// Narrate tells a path through the group in words. Member ids are called A, B, C and so on in the order in which they were handed out.
func (m *machine) Narrate(edges []int, finding Finding) []Step {
	n := narrator{machine: m}
	for _, edge := range edges {
		n.take(m.locate(&n.state, edge))
	}
	if finding.Property != neverAnswered && finding.Property != mayHang {
		return n.told
	}
	packed, _ := c.Pack(n.state)
	ask := question{state: packed, kind: c.AddressKind(finding.Detail / c.MaxSlots), slot: int8(finding.Detail % c.MaxSlots)}
	request := fmt.Sprintf("the %s of %s", waitingName[ask.kind], n.name(ask.slot))
	for _, s := range m.silence.hang(ask) {
		n.take(s)
	}
	end := Step{Event: "(nobody sends anything more)", State: fmt.Sprintf("%s may wait for ever: some orders of events never answer it", request)}
	if size, closed := m.silence.component(ask); closed {
		end.State = fmt.Sprintf("%s is never answered: whatever fires from here on, the %d states that can follow all leave it waiting", request, size)
	}
	return append(n.told, end)
}

var waitingName = map[c.AddressKind]string{c.ParkedJoin: "JoinGroup", c.ParkedSync: "SyncGroup"}

// locate finds the event and outcome that a transition of a state's expansion is.
func (m *machine) locate(s *c.State, edge int) (found step) {
	m.state = *s
	m.enumerate(&m.state)
	at := 0
	for i := range m.events {
		outcome := 0
		m.model.Step(m.from(&m.events[i]), &m.events[i], func(t *c.Transition) bool {
			if !t.Overflow && inUse(&t.Next) <= m.group.Members {
				if at == edge {
					found = step{event: m.events[i], outcome: outcome}
				}
				at++
			}
			outcome++
			return at <= edge
		})
		if at > edge {
			break
		}
	}
	return found
}

// narrator walks a path from the initial state and tells it.
type narrator struct {
	machine *machine
	state   c.State // canonical
	names   [c.MaxSlots]string
	minted  int
	told    []Step
}

func (n *narrator) name(slot int8) string {
	if slot < 0 || n.names[slot] == "" {
		return "?"
	}
	return n.names[slot]
}

// take takes one step and tells it.
func (n *narrator) take(s step) {
	at := 0
	from := &n.state
	if s.event.Kind == c.Loaded {
		from = &loading
	}
	n.machine.model.Step(from, &s.event, func(t *c.Transition) bool {
		if at < s.outcome {
			at++
			return true
		}
		told := Step{Event: n.event(&s.event), Did: &Happening{Keep(&s.event), s.outcome}}
		for _, fresh := range [...]int8{t.Minted, t.Rekeyed} {
			if fresh >= 0 {
				n.names[fresh] = string(rune('A' + n.minted%26))
				n.minted++
			}
		}
		for i := range t.Replies {
			told.Answers = append(told.Answers, n.answer(&s.event, t, &t.Replies[i]))
		}
		for _, a := range t.Superseded {
			told.Answers = append(told.Answers, n.addressee(&s.event, a)+": never answered")
		}
		canonical, from := c.Canonicalize(t.Next)
		var names [c.MaxSlots]string
		for i := range canonical.Slots {
			if canonical.Slots[i].Kind != c.Free {
				names[i] = n.names[from[i]]
			}
		}
		n.state, n.names = canonical, names
		told.State = n.describe()
		n.told = append(n.told, told)
		return false
	})
}

var eventNames = [...]string{
	c.JoinGroup: "JoinGroup", c.SyncGroup: "SyncGroup", c.Heartbeat: "Heartbeat", c.LeaveGroup: "LeaveGroup",
	c.OffsetCommit: "OffsetCommit", c.OffsetFetch: "OffsetFetch", c.DescribeGroups: "DescribeGroups", c.ListGroups: "ListGroups",
	c.DeleteGroups: "DeleteGroups", c.TxnOffsetCommit: "TxnOffsetCommit", c.OffsetDelete: "OffsetDelete",
	c.TxnMarker: "a transaction commits", c.TopicsDeleted: "topics are deleted", c.Cleanup: "the coordinator cleans up",
	c.Unload: "the coordinator gives the group up", c.LoadStarts: "a coordinator begins to load",
	c.Loaded: "the coordinator is gone, and another one has loaded the group",
}

func (n *narrator) event(e *c.Event) string {
	switch e.Kind {
	case c.MemberTimer:
		return fmt.Sprintf("the timer of %s fires", n.name(e.Slot))
	case c.JoinTimer:
		return "the join timer fires"
	case c.SyncTimer:
		return "the sync timer fires"
	case c.WriteDone:
		return "the leader's assignment " + [...]string{"has been written", "could not be written"}[e.Write]
	case c.LeaveGroup:
		var who []string
		for i, ref := range e.Leaves {
			in := c.Instance{}
			if i < len(e.Instances) {
				in = e.Instances[i]
			}
			who = append(who, n.ref(ref)+n.instance(in))
		}
		return "LeaveGroup of " + strings.Join(who, ", ") + n.options(e)
	case c.JoinGroup, c.SyncGroup, c.Heartbeat, c.OffsetCommit, c.TxnOffsetCommit:
		return eventNames[e.Kind] + " of " + n.ref(e.Ref) + n.instance(e.Instance) + n.options(e)
	}
	return eventNames[e.Kind] + n.options(e)
}

// instance tells an instance id by the member that it belongs to.
func (n *narrator) instance(in c.Instance) string {
	switch in.Kind {
	case c.NoInstance:
		return ""
	case c.UnknownInstance:
		return " with a new instance id"
	}
	return " with the instance id of " + n.name(in.Slot)
}

func (n *narrator) ref(r c.Ref) string {
	switch r.Kind {
	case c.NoID:
		return "nobody"
	case c.UnknownID:
		return "an unknown id"
	}
	return n.name(r.Slot)
}

// options tells the fields of a request that are not as usual.
func (n *narrator) options(e *c.Event) string {
	var b strings.Builder
	say := func(on bool, format string, args ...any) {
		if on {
			fmt.Fprintf(&b, ", "+format, args...)
		}
	}
	join := e.Kind == c.JoinGroup
	say(join && e.Ref.Kind == c.NoID, "%s", version(e))
	say(join, "protocols %s", n.machine.list(e.List))
	say(join && e.Type == 0, "no protocol type")
	say(e.Type == otherType, "another protocol type")
	say(e.Protocol == otherProtocol, "another protocol")
	say(e.NoProtocol, "no protocol")
	say(e.BadGroup, "empty group id")
	say(e.BadSession, "session timeout out of bounds")
	say(e.Gen == c.OtherGen, "another generation")
	say(e.Gen == c.NoGen, "no generation")
	say(e.OldLeave, "version 2")
	say(e.TooLarge, "metadata too large")
	say(e.CommitVersion == 8, "version 8")
	say(e.Kind == c.JoinTimer && n.state.Initial, "%s", [...]string{"with nothing left to extend it", "with time left to extend it"}[number(e.Rest)])
	say(e.Aborted, "rather, it aborts")
	say(e.Kind == c.OffsetDelete, "topics %b", e.Topics&^c.KnownTopics)
	say(e.Taken != c.Some{}, "taking %s and leaving %s", some(e.Taken), some(e.Left))
	if e.Kind == c.SyncGroup && e.Ref.Kind == c.KnownID && n.state.Slots[e.Ref.Slot].Leader {
		var to []string
		for i, symbol := range e.Assign {
			if symbol != 0 {
				to = append(to, n.name(int8(i)))
			}
		}
		say(true, "assigning to %s", either(strings.Join(to, " and "), "nobody"))
	}
	say(e.Write == c.WriteFailed, "and its write fails")
	return b.String()
}

// version is the version of a JoinGroup, as far as it counts.
func version(e *c.Event) string {
	switch {
	case e.Skips:
		return "version 9"
	case e.Instance.Kind != c.NoInstance:
		return "version 5"
	case e.NeedsID:
		return "version 4"
	}
	return "version 3"
}

func some(s c.Some) string {
	switch s {
	case c.Some{Committed: true}:
		return "committed offsets"
	case c.Some{Pending: true}:
		return "pending offsets"
	case c.Some{Committed: true, Pending: true}:
		return "committed and pending offsets"
	}
	return "no offsets"
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// list is a protocol list in letters.
func (m *machine) list(symbol uint8) string {
	if symbol == 0 {
		return "none"
	}
	var letters []byte
	for _, name := range m.lexicon.Lists[symbol].Names {
		letters = append(letters, 'a'+name-1)
	}
	return string(letters) + strings.Repeat("'", m.metadata(symbol))
}

func (n *narrator) addressee(e *c.Event, a c.Address) string {
	if a.Kind == c.Caller {
		return "this " + eventNames[e.Kind]
	}
	return fmt.Sprintf("the waiting %s of %s", waitingName[a.Kind], n.name(a.Slot))
}

var codeNames = map[int16]string{
	c.CodeNone: "NONE", c.CodeOffsetMetadataTooLarge: "OFFSET_METADATA_TOO_LARGE", c.CodeWriteFailed: "the error of the write",
	c.CodeIllegalGeneration: "ILLEGAL_GENERATION", c.CodeInconsistentGroupProtocol: "INCONSISTENT_GROUP_PROTOCOL",
	c.CodeInvalidGroupID: "INVALID_GROUP_ID", c.CodeUnknownMemberID: "UNKNOWN_MEMBER_ID",
	c.CodeInvalidSessionTimeout: "INVALID_SESSION_TIMEOUT", c.CodeRebalanceInProgress: "REBALANCE_IN_PROGRESS",
	c.CodeUnknownServerError: "UNKNOWN_SERVER_ERROR", c.CodeCoordinatorLoadInProgress: "COORDINATOR_LOAD_IN_PROGRESS",
	c.CodeNotCoordinator: "NOT_COORDINATOR", c.CodeGroupMaxSizeReached: "GROUP_MAX_SIZE_REACHED", c.CodeFencedInstanceID: "FENCED_INSTANCE_ID",
	c.CodeNonEmptyGroup: "NON_EMPTY_GROUP", c.CodeGroupIDNotFound: "GROUP_ID_NOT_FOUND", c.CodeMemberIDRequired: "MEMBER_ID_REQUIRED",
}

// answer tells one answer.
func (n *narrator) answer(e *c.Event, t *c.Transition, r *c.Reply) string {
	text := n.addressee(e, r.To) + ": " + codeNames[r.Error]
	join := r.To.Kind == c.ParkedJoin || r.To.Kind == c.Caller && e.Kind == c.JoinGroup
	sync := r.To.Kind == c.ParkedSync || r.To.Kind == c.Caller && e.Kind == c.SyncGroup
	switch {
	case join && r.Error == c.CodeNone:
		text += fmt.Sprintf(", %s led by %s", n.name(r.Member), n.name(r.Leader))
		if r.Members {
			text += ", with the members"
		}
		if r.FormerLeader {
			text += ", by its former id"
		}
		if r.Skip {
			text += ", skipping the assignment"
		}
	case join && r.Echo == c.EchoSlot:
		text += ", id of " + n.name(r.Member)
	case sync && r.Error == c.CodeNone && r.Member >= 0:
		text += [...]string{", nothing assigned", ", with its assignment"}[min(t.Next.Slots[r.Member].Given, 1)]
	}
	for _, code := range r.Entries {
		text += " " + codeNames[code]
	}
	return text
}

// describe tells the state.
func (n *narrator) describe() string {
	s := &n.state
	if s.Serving != c.Active {
		return s.Serving.String()
	}
	parts := []string{s.Phase.String()}
	for i := range s.Slots {
		slot := &s.Slots[i]
		if slot.Kind == c.Free {
			continue
		}
		var is []string
		add := func(on bool, word string) {
			if on {
				is = append(is, word)
			}
		}
		add(slot.Kind == c.Pending, "pending id")
		add(slot.Static, "static")
		add(slot.Leader, "leads")
		add(slot.Joining, "waits in JoinGroup")
		add(slot.Syncing, "waits in SyncGroup")
		add(slot.New, "new")
		add(slot.OwesSync, "owes SyncGroup")
		add(slot.Given != 0, "has an assignment")
		add(!slot.Timed, "no timer")
		parts = append(parts, n.name(int8(i))+" ("+either(strings.Join(is, ", "), "member")+")")
	}
	for _, on := range []struct {
		is   bool
		text string
	}{
		{s.JoinTimer, "join timer"},
		{s.SyncTimer, "sync timer"},
		{s.Writing, "assignment being written"},
		{s.Offsets, "offsets"},
		{s.Open, "pending offsets"},
		{s.Initial, "initial delay"},
		{s.Extends, "to be extended"},
		{s.StaleSync, "sync timer of an id that is gone"},
	} {
		if on.is {
			parts = append(parts, on.text)
		}
	}
	return strings.Join(parts, "; ")
}
