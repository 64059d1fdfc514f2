package classic

// What the branches put into the transition.

// answer answers the request that the event is.
func (m *Model) answer(code int16) {
	m.t.Replies = append(m.t.Replies, Reply{To: Address{Kind: Caller}, Error: code, Member: -1, Leader: -1})
}

// refuseJoin answers the JoinGroup that the event is with an error.
func (m *Model) refuseJoin(code int16, echo EchoKind, slot int8) {
	m.t.Replies = append(m.t.Replies, Reply{To: Address{Kind: Caller}, Error: code, Echo: echo, Member: slot, Leader: -1})
}

// address is where the answer to the parked request of a slot goes: to the caller if it is the very request of this event.
func (m *Model) address(kind AddressKind, slot int8) Address {
	to := Address{Kind: kind, Slot: slot}
	if to == m.caller {
		return Address{Kind: Caller}
	}
	return to
}

// succeedJoin answers a member's JoinGroup with the generation of Next.
func (m *Model) succeedJoin(to Address, slot int8) {
	var members bool
	if m.t.Next.Slots[slot].Leader {
		members = m.holds(JoinReplyLeader) // join.reply.leader
	} else {
		members = !m.holds(JoinReplyFollower) // join.reply.follower
	}
	m.t.Replies = append(m.t.Replies, Reply{To: to, Echo: EchoSlot, Member: slot, Leader: m.leader(), Members: members, Midway: m.entry})
}

// answerSync answers a SyncGroup; on success it carries what the slot has been given.
func (m *Model) answerSync(to Address, code int16, slot int8) {
	if code != CodeNone {
		slot = -1
	}
	m.t.Replies = append(m.t.Replies, Reply{To: to, Error: code, Member: slot, Leader: -1})
}

func (m *Model) record(kind RecordKind) {
	m.t.Records = append(m.t.Records, Record{Kind: kind})
}

// arm starts a slot's timer anew.
func (m *Model) arm(slot int8, d Duration) {
	m.t.Next.Slots[slot].Timed = true
	m.setTimer(SessionTimer, slot, d)
}

// disarm ends a slot's timer.
func (m *Model) disarm(slot int8) {
	m.t.Next.Slots[slot].Timed = false
	m.setTimer(SessionTimer, slot, Cancel)
}

func (m *Model) setJoinTimer(d Duration) {
	m.t.Next.JoinTimer = d != Cancel
	m.setTimer(GroupJoinTimer, 0, d)
}

func (m *Model) setSyncTimer(d Duration) {
	m.t.Next.SyncTimer = d != Cancel
	m.setTimer(GroupSyncTimer, 0, d)
}

// setTimer keeps the net effect: one entry a timer, none for a timer that was neither running before nor is afterwards.
func (m *Model) setTimer(kind TimerKind, slot int8, d Duration) {
	needless := d == Cancel && !m.wasRunning(kind, slot)
	ts := m.t.Timers
	for i := range ts {
		if ts[i].Timer != kind || ts[i].Slot != slot {
			continue
		}
		if needless {
			m.t.Timers = append(ts[:i], ts[i+1:]...)
		} else {
			ts[i].For, ts[i].Also = d, m.also(d)
		}
		return
	}
	if !needless {
		m.t.Timers = append(ts, TimerEffect{Timer: kind, Slot: slot, For: d, Also: m.also(d)})
	}
}

// also is the set of members, where entries of a LeaveGroup that are still to come may take some of them away.
func (m *Model) also(d Duration) (set uint16) {
	if !m.entry || d != MaxRebalance {
		return 0
	}
	for i := range m.slots() {
		if m.t.Next.Slots[i].Kind == Member {
			set |= 1 << i
		}
	}
	return set
}

func (m *Model) wasRunning(kind TimerKind, slot int8) bool {
	switch kind {
	case GroupJoinTimer:
		return m.was.JoinTimer
	case GroupSyncTimer:
		return m.was.SyncTimer
	default:
		return m.was.Slots[slot].Timed
	}
}

// renew restarts a member's session timer because it has been heard of.
func (m *Model) renew(slot int8) {
	if member := &m.t.Next.Slots[slot]; member.New && member.Joining {
		// heartbeat.new-member: its five minutes become a session timeout, or stay.
		if m.holds(HeartbeatNewMember) != m.profile.HeartbeatShortensNew {
			return
		}
	}
	m.arm(slot, SessionOfSlot)
}
