package classic

// notServing serves a broker that does not have the group: it loads it, or is not its coordinator.
func (m *Model) notServing(e *Event) {
	g := &m.t.Next
	switch {
	case e.Kind == Unload:
		g.Serving = NoCoordinator
	case e.Kind == LoadStarts:
		g.Serving = Loading
	case e.Kind == Loaded:
		m.load(e)
	case e.Kind == JoinGroup:
		m.turnAwayJoin(e)
	case e.Kind.Request():
		m.turnAway(e)
	}
}

// gate is the error that a request meets, and the rule that says so.
func (m *Model) gate() int16 {
	rule, code := NotCoordinator, CodeNotCoordinator // not-coordinator.refuses
	if m.t.Next.Serving == Loading {
		rule, code = LoadingRefuses, CodeCoordinatorLoadInProgress // loading.refuses
	}
	if !m.holds(rule) {
		return CodeUnknownMemberID // as if it knew that there is no such group
	}
	return code
}

func (m *Model) turnAwayJoin(e *Event) {
	// join.group-id.empty
	if e.BadGroup && m.holds(JoinGroupID) {
		m.refuseJoin(CodeInvalidGroupID, EchoRequest, -1)
		return
	}
	// gate.session-first
	if e.BadSession && m.holds(GateSession) == m.profile.SessionBeforeGate {
		m.refuseJoin(CodeInvalidSessionTimeout, EchoRequest, -1)
		return
	}
	echo := EchoNone
	// gate.echo
	if m.holds(GateEcho) == m.profile.GateEchoes {
		echo = EchoRequest
	}
	m.refuseJoin(m.gate(), echo, -1)
}

// turnAway answers any other request.
func (m *Model) turnAway(e *Event) {
	loading := m.t.Next.Serving == Loading
	switch e.Kind {
	case SyncGroup:
		// sync.protocol.missing
		if e.NoProtocol && m.holds(SyncMissingProtocol) {
			m.answer(CodeInconsistentGroupProtocol)
			return
		}
	case ListGroups:
		if !loading {
			m.cite(NotCoordinator) // not-coordinator.refuses: the group is left out
			m.answer(CodeNone)
			return
		}
		m.cite(LoadingList) // loading.list
	}
	if rule, checked := groupIDRules[e.Kind]; checked && e.BadGroup && m.holds(rule) {
		m.answer(CodeInvalidGroupID)
		return
	}
	code := m.gate()
	switch {
	case !loading:
	case e.Kind == Heartbeat:
		// loading.heartbeat
		if m.holds(LoadingHeartbeat) {
			code = CodeNone
		}
	case e.Kind == SyncGroup:
		// loading.sync
		if m.holds(LoadingSync) == m.profile.LoadingSync27 {
			code = CodeRebalanceInProgress
		}
	case e.Kind == TxnOffsetCommit && e.CommitVersion < 2 && code == CodeCoordinatorLoadInProgress:
		code = CodeCoordinatorNotAvailable
	}
	m.answer(code)
}

// groupIDRules are the rules by which requests refuse the empty group id.
var groupIDRules = map[EventKind]RuleID{
	SyncGroup: SyncGroupID, Heartbeat: HeartbeatGroupID, LeaveGroup: LeaveGroupID, TxnOffsetCommit: TxnGroupID, OffsetDelete: OffsetDeleteGroupID,
}

// unload gives the group up. What its log says stays.
func (m *Model) unload() {
	g := &m.t.Next
	for i := range m.slots() {
		slot := &g.Slots[i]
		if slot.Joining && m.holds(UnloadJoin) { // unload.join
			m.t.Replies = append(m.t.Replies, Reply{
				To: Address{Kind: ParkedJoin, Slot: int8(i)}, Error: CodeNotCoordinator, Echo: EchoFormer, Member: int8(i), Leader: -1,
			})
		}
		if slot.Syncing && m.holds(UnloadSync) { // unload.sync
			m.answerSync(Address{Kind: ParkedSync, Slot: int8(i)}, CodeNotCoordinator, int8(i))
		}
		slot.Joining, slot.Syncing = false, false
	}
	// unload.forgets
	if m.holds(UnloadForgets) {
		m.destroy()
		m.t.Generation = SameGeneration
	}
	g.Serving = NoCoordinator
}

// load makes the group out of what the log says of it.
func (m *Model) load(e *Event) {
	g := &m.t.Next
	// unload.forgets
	if g.Phase != Absent && !m.holds(UnloadForgets) {
		g.Serving = Active
		return
	}
	*g = State{}
	m.t.Generation, m.t.Offsets = LoadedGeneration, LoadOffsets
	if e.Record == nil || e.Record.Phase == Absent {
		m.t.Generation = ResetGeneration
		return
	}
	r := e.Record
	m.top = MaxSlots
	*g = State{Phase: Empty, Type: r.Type, FirstGen: r.FirstGen, Offsets: r.Offsets, Open: r.Open}
	for i := range r.Slots {
		from := &r.Slots[i]
		// load.state
		if from.Kind != Member || !m.holds(LoadState) {
			continue
		}
		g.Phase, g.Protocol = Stable, r.Protocol
		g.Slots[i] = Slot{Kind: Member, Leader: from.Leader, Static: from.Static, List: from.List, Given: from.Given}
		// load.sessions
		if m.holds(LoadSessions) {
			m.arm(int8(i), SessionOfSlot)
		}
		// load.no-sync
		if !m.holds(LoadNoSync) {
			g.Slots[i].OwesSync = true
			m.setSyncTimer(MaxRebalance)
		}
	}
	g.Subscribed = m.subscribed()
	if m.maxSize > 0 && m.members() > m.maxSize {
		// max-size.load
		if m.holds(MaxSizeLoad) {
			m.prepareRebalance()
		}
	}
}

// Durable returns what the log says of a group when its record is written in state s: by the leader's SyncGroup (while Writing, or at its
// end), by a replaced static member, or when the group becomes Empty or is created. Its slots are those of s. Of a member's list only the
// protocol of the generation is written: one returns the list symbol that has nothing else. A group of which only offsets were written
// is Empty, without type, at generation 0.
func Durable(s *State, one func(list, protocol uint8) uint8) State {
	r := State{Phase: s.Phase, FirstGen: s.FirstGen, Offsets: s.Offsets, Open: s.Open}
	if s.Phase == Absent {
		return State{}
	}
	r.Type = s.Type
	if s.Phase == Empty {
		return r
	}
	r.Phase, r.Protocol = Stable, s.Protocol
	for i := range s.Slots {
		from := &s.Slots[i]
		if from.Kind != Member {
			continue
		}
		given := from.Given
		if s.Writing {
			given = from.Proposed
		}
		r.Slots[i] = Slot{Kind: Member, Leader: from.Leader, Static: from.Static, List: one(from.List, s.Protocol), Given: given}
	}
	return r
}
